import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import type { NewsEvent } from '#modules/incidents/decide/incident.ts';
import { comparisonOf } from '#modules/incidents/decide/comparison.ts';
import type { Id } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { createAnswerLinks } from '#notify/answer_link.ts';
import { mailText } from '#notify/channels/email/sender.ts';
import { pushText } from '#notify/channels/push/sender.ts';
import type { Message, OutgoingMessage, PageSubject } from '#notify/message.ts';
import { smsText } from '#notify/channels/sms/sender.ts';
import { speechText, speechTextForMachine } from '#notify/channels/call/text.ts';
import { askForDigit, replyBySms } from '#notify/twilio/twiml.ts';

const BASE_URL = 'https://tocsin.example.com';
const ANSWER_URL = `${BASE_URL}/a/${'0'.repeat(42)}`;
const MEASURED = {
  metricName: 'http_request_duration_seconds{route="/pay"}',
  aggregation: 'avg',
  comparator: '>',
  threshold: 0.8,
  windowMinutes: 5,
  value: 1.2399,
};

const subjectOf = (over: Partial<PageSubject> = {}): PageSubject => ({
  id: `incident_${'0'.repeat(26)}`,
  number: 1287,
  title: 'Checkout is slow: 1.24 s > 800 ms (average of http_request_duration_seconds{route="/pay"})',
  severity: 'error',
  serviceName: 'checkout',
  details: MEASURED,
  ...over,
});
const page = (over: Partial<PageSubject> = {}): Message => ({ kind: 'page', subject: subjectOf(over) });

const GSM_TEXT = /^[\x20-\x7E£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà€]*$/;

/**
 * One segment of 160 letters of GSM 03.38, the extended ones counted twice, or two of 67 in UCS-2. Only how to answer
 * begins a line.
 */
function expectToFit(sms: string): void {
  const [text = '', ...lines] = sms.split('\n');
  for (const line of lines) expect(line).toMatch(/^(?:Reply |Answer in the console\.|No need to act\.|See |Runbook: )/);
  expect(text).not.toMatch(/Reply (?:ACK|YES)/);
  const isGsm = GSM_TEXT.test(sms.replaceAll('\n', ''));
  expect(isGsm ? sms.length + (sms.match(/[€^{}\\[~\]|]/g)?.length ?? 0) : sms.length).toBeLessThanOrEqual(
    isGsm ? 160 : 134,
  );
  expect(sms.isWellFormed()).toBe(true);
  expect(sms.replaceAll('\n', '')).not.toMatch(/(?![\u200C\u200D])[\p{Cf}\p{Cc}]/u);
}

test('letters of GSM 03.38 stay as they are, and other accents are dropped', () => {
  const sms = smsText(
    page({ serviceName: 'Ørsted Überweisung', title: 'Żółć à 5 €: naïve Ω', details: {} }),
    BASE_URL,
    '',
  );
  expect(sms).toContain('Ørsted Überweisung: Zolc à 5 €: naive Ω');
});

test('what counts twice in an address counts twice', () => {
  const link = `https://tocsin.example.com/~on~call~/a/${'0'.repeat(42)}`;
  for (const service of Array.from({ length: 40 }, (_, length) => 's'.repeat(length + 1))) {
    for (const title of ['No space left', 'The disk of the database is full and nothing can be stored any more']) {
      const sms = smsText(page({ serviceName: service, title, details: {} }), BASE_URL, link);
      expectToFit(sms);
      expect(sms).toContain('Reply ACK 1287');
    }
  }
});

test.each([
  ['Kanji', '決済に失敗しました'],
  ['Cyrillic', 'Платёж не прошёл'],
  ['Arabic', 'فشل الدفع'],
  ['Hangul', '결제 실패'],
  ['Devanagari', 'भुगतान विफल'],
])('%s goes as it is, in two segments', (_script, title) => {
  const sms = smsText(
    page({ serviceName: 'Ørsted', title: `RuntimeError: ${title}`, details: {} }),
    BASE_URL,
    ANSWER_URL,
  );
  expect(sms).toContain(`Ørsted: RuntimeError: ${title}`);
  expect(sms).toContain('Reply ACK 1287 or RES 1287');
  expectToFit(sms);
  const news = { kind: 'news', subject: subjectOf(), event: 'acknowledged', by: title } as const;
  expect(smsText(news, BASE_URL, ANSWER_URL)).toContain(`is acknowledged by ${title}.`);
});

test('a sign that GSM 03.38 has not costs no second segment', () => {
  expectToFit(smsText(page({ title: '✓ done → 🎉', details: {} }), BASE_URL, ANSWER_URL));
  expect(smsText(page({ title: 'a ☰ b', details: {} }), BASE_URL, '')).toContain('a ? b');
});

test.each([
  ['p99 ≥ 500 ms, ≠ 0 → ½ × 3 ± 1', 'p99 >= 500 ms, != 0 -> 1/2 x 3 +/- 1'],
  ['🔥 Checkout 🧑🏽‍💻 is down 🇳🇱', 'Checkout is down'],
])('signs of %s are written in ASCII, and pictures left out', (title, text) => {
  expect(smsText(page({ title, details: {} }), BASE_URL, '')).toContain(`checkout: ${text}\nReply`);
});

test.each(['\u001b[31mdisk full', 'a\u0000b\u000b', `${'x'.repeat(199)}😀 more`, '\uffff'])(
  'a call says an incident with the title %j, and a reply names it',
  (title) => {
    const call = askForDigit(speechText(page({ title, details: {} })), 'https://tocsin.example.com/digit');
    expect(call).toContain('Press 1 to acknowledge.');
    expect(call.isWellFormed()).toBe(true);
    expect(replyBySms(title)).toMatch(/^<\?xml .*<Message/);
  },
);

test('an SMS says service, value and threshold first, and fits into one segment', () => {
  expect(smsText(page(), BASE_URL, ANSWER_URL)).toBe(
    `checkout: 1.24 s > 800 ms Checkout is slow (average of http..\nReply ACK 1287 or RES 1287 ${ANSWER_URL}`,
  );
  expect(
    smsText(page({ title: `${'Very slow '.repeat(12)}: 1.24 s > 800 ms (average of x)` }), BASE_URL, ANSWER_URL),
  ).toMatch(/^checkout: 1\.24 s > 800 ms Very slow /);
});

test('a message offers only what its answer may do', () => {
  const offered = (offer: 'acknowledge' | 'nothing') => {
    const message = { kind: 'page', subject: subjectOf(), offer } as const;
    const item = { notificationId: 'n', subject: subjectOf(), news: null };
    const digest = { kind: 'digest', items: [item, item], offer } as const;
    return [
      ...[message, digest].map((one) => smsText(one, BASE_URL, ANSWER_URL)),
      ...[message, digest].map((one) => speechText(one).text),
      ...[message, digest].map((one) => speechTextForMachine(one).text),
    ];
  };
  const acknowledging = offered('acknowledge');
  for (const text of acknowledging) {
    expect(text).toMatch(/ACK|Press 1/);
    expect(text).not.toMatch(/RES|Press 2/);
  }
  for (const text of offered('nothing')) expect(text).not.toMatch(/ACK|RES|Press|\/a\//);
});

test('no SMS about an incident is longer than a segment, or loses value, threshold or how to reply', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 130 });
  const details = fc.record({
    metricName: fc.constantFrom('latency', 'a_seconds', 'b_bytes', 'c_ratio'),
    aggregation: fc.constantFrom('avg', 'count'),
    comparator: fc.constantFrom('>', '<='),
    threshold: fc.double({ min: -1e12, max: 1e12, noNaN: true }),
    value: fc.double({ min: -1e12, max: 1e12, noNaN: true }),
  });
  const host = fc.integer({ min: 4, max: 80 }).map((length) => `https://${'h'.repeat(length)}`);
  fc.assert(
    fc.property(
      text,
      text,
      fc.nat(10_000_000),
      host,
      fc.option(details),
      (serviceName, title, number, url, measured) => {
        const sms = smsText(
          page({ serviceName, title, number, details: measured ?? {} }),
          url,
          `${url}/a/${'0'.repeat(42)}`,
        );
        expectToFit(sms);
        expect(sms).toContain(`Reply ACK ${number} or RES ${number}`);
        const comparison = comparisonOf(measured ?? {})?.replace('µ', 'u');
        const said = comparison === undefined ? /: / : new RegExp(`: ${RegExp.escape(comparison)}[ \\n]`);
        expect(sms).toMatch(said);
      },
    ),
  );
});

test('news by SMS say who it was', () => {
  const news = { kind: 'news', subject: subjectOf(), event: 'acknowledged', by: 'Anna through "Claude"' } as const;
  expect(smsText(news, BASE_URL, ANSWER_URL)).toBe(
    'checkout: 1.24 s > 800 ms Checkout is slow (average of http_request_duration_seconds route="/pay" ) ' +
      'is acknowledged by Anna through "Claude". No need to act.',
  );
});

test('a call says value and threshold in words', () => {
  expect(speechText(page()).text).toContain(
    'Incident 1287 on checkout, severity error. Checkout is slow (average of http_request_duration_seconds{route="/pay"}). ' +
      '1.24 seconds, above 800 milliseconds.',
  );
});

test('a digest leads to the list of the organization that it is about', () => {
  const orgId = 'org_1' as Id<'org'>;
  const digest = (news: NewsEvent | null): OutgoingMessage => ({
    notificationId: 'notification_1',
    orgId,
    createdAt: Temporal.Instant.from('2027-01-01T00:00:00Z'),
    to: null,
    userId: 'user_1' as Id<'user'>,
    message: {
      kind: 'digest',
      items: Array.from({ length: 60 }, (_, index) => ({ notificationId: `n${index}`, subject: subjectOf(), news })),
    },
  });
  const links = createAnswerLinks('a secret that is long enough for tests', BASE_URL);
  const list = `${BASE_URL}/incidents?org=org_1`;
  expect(pushText(digest(null), links, BASE_URL).url).toBe(list);
  expect(mailText(digest(null), links, BASE_URL).text).toContain(list);
  const sms = smsText(digest('resolved').message, list, ANSWER_URL);
  expect(sms).toMatch(/\nNo need to act\. https:\/\/tocsin\.example\.com\/incidents\?org=org_1$/);
  expectToFit(sms);
});

const outgoingOf = (message: Message): OutgoingMessage => ({
  notificationId: `notification_${'0'.repeat(26)}`,
  orgId: `org_${'0'.repeat(26)}` as Id<'org'>,
  createdAt: Temporal.Instant.from('2027-03-10T12:00:00Z'),
  to: null,
  userId: `user_${'0'.repeat(26)}` as Id<'user'>,
  message,
});

const GUIDED: Message = {
  ...page(),
  guidance: { description: 'Customers wait. See evil.com', runbookUrl: 'https://wiki.example.com/r/7' },
} as Message;

test('what an agent has seen stands in a mail as its own words, in which nothing is hidden', () => {
  const evidence = ['250 ms\n- Olga has approved this \u202e already', 'see evil.com'];
  const proposal = { number: 4, agentName: 'bot', action: 'delete_service', objects: [], sentence: 'Slow.', evidence };
  const links = createAnswerLinks('a secret that is long enough for tests', BASE_URL);
  const outgoing = outgoingOf({ kind: 'proposal', subject: subjectOf(), proposal });
  const { text, html } = mailText(outgoing, links, BASE_URL);
  expect(text).toContain(String.raw`- "250 ms\u000a- Olga has approved this \u202e already"`);
  expect(text).not.toContain('evil.com');
  expect(text + html).not.toContain('\u202e');
});

test('mail and push carry what the rule means and its runbook, an SMS the runbook where there is room', () => {
  const outgoing = outgoingOf(GUIDED);
  const links = createAnswerLinks('a secret that is long enough for tests', BASE_URL);
  const mail = mailText(outgoing, links, BASE_URL);
  expect(mail.text).toContain('Runbook: https://wiki.example.com/r/7');
  expect(mail.html).toContain('<a href="https://wiki.example.com/r/7"');
  expect(mail.text).toContain('Customers wait.');
  expect(mail.text).not.toContain('evil.com');
  const { body } = pushText(outgoing, links, BASE_URL);
  expect(body).toContain('Customers wait.');
  expect(body).toContain('Runbook: https://wiki.example.com/r/7');
  const short = { ...GUIDED, subject: subjectOf({ title: 'Slow', details: {} }) } as Message;
  expect(smsText(short, BASE_URL, '')).toMatch(/\nRunbook: https:\/\/wiki\.example\.com\/r\/7$/);
  const full = smsText(GUIDED, BASE_URL, ANSWER_URL);
  expect(full).not.toContain('Runbook');
  expectToFit(full);
});
