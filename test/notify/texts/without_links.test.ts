import { describe, expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { createAnswerLinks } from '#notify/answer_link.ts';
import type { OutgoingMessage } from '#notify/message.ts';
import { invitationMail } from '#notify/mail/account_mail_text.ts';
import { mailText } from '#notify/channels/email/sender.ts';
import { pushText } from '#notify/channels/push/sender.ts';
import { smsText } from '#notify/channels/sms/sender.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';

describe('a text of a sender', () => {
  test.each([
    ['see https://evil.example/login?a=b.c', 'see https:// evil(.)example/login?a=b.c'],
    ['log in at evil.com now', 'log in at evil(.)com now'],
    ['WWW.evil', 'WWW(.)evil'],
    ['mail a@evil.co.uk', 'mail a@evil(.)co(.)uk'],
    ['at 10.0.0.1:8080', 'at 10(.)0(.)0(.)1:8080'],
    ['ev\u3002il\uFF0Ecom', 'ev(.)il(.)com'],
    ['\uFF45vil.c\uFF4Fm', '\uFF45vil(.)c\uFF4Fm'],
    ['call tel:+31612345678 or slack://x', 'call tel: +31612345678 or slack:// x'],
    ['open main.py', 'open main(.)py'],
  ])('%j is sent as %j, of which nobody makes a link', (text, expected) => {
    expect(withoutLinks(text)).toBe(expected);
    expect(withoutLinks(expected)).toBe(expected);
  });

  test.each([
    'checkout.latency is 250 (> 100)',
    'java.lang.NullPointerException: x',
    'TypeError: Cannot read properties of undefined (reading "a")',
    'version 1.2.3, 99.9 %, at 12:30',
  ])('%j has no link and stays as it is', (text) => expect(withoutLinks(text)).toBe(text));
});

const links = createAnswerLinks('a secret that is long enough for tests', 'https://tocsin.example');
const subject = {
  id: 'incident_1',
  number: 7,
  title: 'log in at https://evil.com/now or evil.com, quickly',
  severity: 'error',
  serviceName: 'checkout',
  details: {},
};
const messages: OutgoingMessage['message'][] = [
  { kind: 'page', subject },
  { kind: 'news', subject, event: 'resolved', by: null },
  {
    kind: 'digest',
    items: [
      { notificationId: 'n', subject, news: null },
      { notificationId: 'm', subject, news: null },
    ],
  },
];

test.each(messages)('no channel sends a link that a sender wrote: $kind', (message) => {
  const createdAt = Temporal.Instant.from('2027-01-01T00:00:00Z');
  const orgId = 'org_1' as Id<'org'>;
  const outgoing = { notificationId: 'n', orgId, createdAt, to: null, userId: 'user_1' as Id<'user'>, message };
  const mail = mailText(outgoing, links, 'https://tocsin.example');
  const push = pushText(outgoing, links, 'https://tocsin.example');
  const sms = smsText(message, 'https://tocsin.example', 'https://tocsin.example/a/1');
  for (const text of [mail.subject, mail.text, mail.html, push.title, push.body, sms]) {
    expect(text).not.toMatch(/evil\.com/);
    for (const [, host] of text.matchAll(/\w:\/\/([^\s/"<]+)/g)) expect(host).toBe('tocsin.example');
  }
  // The alphabet of an SMS, without its extensions.
  expect(sms).toMatch(/^[\x20-\x5A_a-z\n]*$/);
});

test('a name that is cut short in an SMS does not become a link by that', () => {
  for (let length = 1; length < 200; length += 1) {
    const title = `${'x'.repeat(length)} evil.comcomcomcomcomcomcomcomcomcomcomcomcomcomcomcomcomcomcomcomcomcomcom ${'y'.repeat(200)}`;
    expect(
      smsText({ kind: 'page', subject: { ...subject, title } }, 'https://tocsin.example', 'https://tocsin.example/a/1'),
    ).not.toMatch(/evil\.com\b/);
  }
});

test('the name of an organization puts no link into an invitation', () => {
  const mail = invitationMail({
    organization: 'evil.com',
    invitedBy: 'https://evil.com',
    role: 'viewer',
    link: 'https://t.example/x',
  });
  for (const text of [mail.subject, mail.text, mail.html]) expect(text).not.toContain('evil.com');
});

test('links are taken out in time linear in the text, whatever it is made of', async () => {
  expect(await beyondLinear(import.meta.resolve('./without_links_workloads.ts'), 800)).toEqual([]);
});

test('nothing in a message turns the direction of a text, which would be shown otherwise than it is', () => {
  const reversed = 'checkout \u202Emoc.elpmaxe//:sptth\u202C and \u2066more\u2069';
  expect(withoutLinks(reversed)).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  expect(withoutLinks('שלום \u200Fa')).toBe('שלום \u200Fa');
});
