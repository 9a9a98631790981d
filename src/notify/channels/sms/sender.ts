import { proposalText } from '#modules/agents/decide/proposal.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import type { AnswerLinks } from '#notify/answer_link.ts';
import type { ChannelSender } from '#notify/channel.ts';
import { SMS_STATUS } from '#notify/channels/sms/reports.ts';
import {
  type DigestItem,
  digestSummary,
  type Message,
  newsText,
  type Offer,
  type OutgoingMessage,
  type PageSubject,
  splitTitle,
} from '#notify/message.ts';
import { NUMBER_CHANGED } from '#notify/texts/number_changed_text.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';
import {
  callbackUrl,
  LOOKED_AT_MAX,
  type TwilioAccount,
  type TwilioClient,
  twilioSender,
} from '#notify/twilio/client.ts';

/** A page that could not be delivered by then is worthless: another step has fired long since. */
const VALIDITY_SECONDS = 600;

export function smsSender(
  client: TwilioClient,
  { from }: TwilioAccount,
  links: AnswerLinks,
  baseUrl: string,
): ChannelSender {
  const linkOf = (outgoing: OutgoingMessage) =>
    outgoing.message.kind === 'proposal' ? links.proposalUrlOf(outgoing) : links.shortUrlOf(outgoing);
  const textOf = (outgoing: OutgoingMessage) =>
    smsText(outgoing.message, linkTo(baseUrl, PAGES.incidents, outgoing.orgId), linkOf(outgoing));
  return twilioSender(client, {
    findsByWords: true,
    create: (twilio, outgoing) =>
      twilio.messages.create({
        to: outgoing.to ?? '',
        from,
        body: textOf(outgoing),
        statusCallback: callbackUrl(baseUrl, SMS_STATUS, outgoing.notificationId),
        validityPeriod: VALIDITY_SECONDS,
      }),
    async list(twilio, outgoing, dateSentAfter) {
      const text = textOf(outgoing);
      const filter = { to: outgoing.to ?? '', from, dateSentAfter, limit: LOOKED_AT_MAX };
      return (await twilio.messages.list(filter)).filter(({ body }) => body === text);
    },
  });
}

const SERVICE_MAX = 30;
const SERVICE_MIN = 10;
/** Minimum length worth showing of a title that follows a measured value. */
const TITLE_WORTH = 8;
const DIGEST_TITLE_MIN = 20;

/**
 * Returns one segment, or two in a script that GSM 03.38 has not: which service, what was measured or happened, how to
 * answer on a line of its own, and where there is room the link that acknowledges after asking once.
 */
export function smsText(message: Message, listUrl: string, answerUrl: string): string {
  const alphabet = alphabetFor(variableTexts(message));
  switch (message.kind) {
    case 'page': {
      const { subject, offer, guidance } = message;
      const text = fit(alphabet, subject, orderOf(subject, offer), offer === 'nothing' ? null : answerUrl);
      const { runbookUrl = null } = guidance ?? {};
      // An address that the alphabet would change leads nowhere.
      if (runbookUrl === null || alphabet.clean(runbookUrl) !== runbookUrl) return text;
      const whole = joined(text, `\nRunbook: ${runbookUrl}`);
      return alphabet.lengthOf(whole) <= alphabet.lengthMax ? whole : text;
    }
    case 'news':
      return fit(
        alphabet,
        message.subject,
        alphabet.clean(newsText(message.event, message.by && withoutLinks(message.by))),
        null,
      );
    case 'proposal': {
      const { subject, proposal, offer = 'everything' } = message;
      const mayDecide = offer === 'everything';
      const order = mayDecide ? `\nReply YES ${proposal.number} or NO ${proposal.number}` : IN_CONSOLE;
      const head = `#${subject.number}`;
      const sentence = alphabet.clean(proposalText(proposal));
      const whole = joined(head, sentence, order, answerUrl);
      const link = mayDecide && alphabet.lengthOf(whole) <= alphabet.lengthMax ? answerUrl : '';
      const room = alphabet.lengthMax - joined(head, order, link).length - ' '.length;
      return joined(head, shorten(alphabet, withoutLinks(sentence), room), order, link);
    }
    case 'digest':
      return digestText(alphabet, message, answerUrl, listUrl);
    case 'test':
      return 'Tocsin: this is a test. SMS reaches you; no need to act.';
    case 'duty':
      return `Tocsin: ${message.title}`;
    case 'code':
      return `Tocsin: ${message.code} is your code to confirm this number. It works for 10 minutes.`;
    case 'number_changed':
    case 'member_number_changed':
      return `Tocsin: ${NUMBER_CHANGED[message.kind]}`;
  }
}

/** Returns the parts of a message that others wrote, which decide the alphabet. */
function variableTexts(message: Message): readonly string[] {
  switch (message.kind) {
    case 'page':
      return [message.subject.serviceName, message.subject.title];
    case 'news':
      return [message.subject.serviceName, message.subject.title, message.by ?? ''];
    case 'proposal':
      return [proposalText(message.proposal)];
    case 'digest': {
      const { subject } = firstOf(message.items);
      return [subject.serviceName, subject.title];
    }
    case 'duty':
      return [message.title];
    case 'test':
    case 'code':
    case 'number_changed':
    case 'member_number_changed':
      return [];
  }
}

/** The item that a digest names: the first that waits for an answer, else the first. */
function firstOf(items: readonly DigestItem[]): DigestItem {
  const first = items.find(({ news }) => news === null) ?? items[0];
  if (first === undefined) throw new Error('a digest stands for something');
  return first;
}

const IN_CONSOLE = '\nAnswer in the console.';

/** Returns how to answer, on a line of its own. */
function orderOf({ number }: PageSubject, offer: Offer = 'everything'): string {
  switch (offer) {
    case 'everything':
      return `\nReply ACK ${number} or RES ${number}`;
    case 'acknowledge':
      return `\nReply ACK ${number}`;
    case 'nothing':
      return IN_CONSOLE;
  }
}

/**
 * Returns the text of a digest: the count, as much of the first incident as fits, one command for all of them, and the
 * first link for which there is room.
 */
function digestText(
  alphabet: SmsAlphabet,
  { items, offer }: Message & { readonly kind: 'digest' },
  answerUrl: string,
  listUrl: string,
): string {
  const mayAcknowledge = offer !== 'nothing' && pagesIn(items);
  const links = mayAcknowledge ? [answerUrl, listUrl] : [listUrl];
  const isOver = items.every(({ news }) => news === 'acknowledged' || news === 'resolved');
  const order = mayAcknowledge ? '\nReply ACK ALL' : isOver ? '\nNo need to act.' : '\nSee';
  const head = `Tocsin: ${digestSummary(items)}:`;
  const roomWith = (link: string) => alphabet.lengthMax - joined(head, order, link).length - ' '.length;
  const link = links.find((candidate) => roomWith(candidate) >= DIGEST_TITLE_MIN) ?? '';
  return joined(head, shorten(alphabet, titleOf(alphabet, firstOf(items).subject), roomWith(link)), order, link);
}

function pagesIn(items: readonly DigestItem[]): boolean {
  return items.some(({ news }) => news === null);
}

/**
 * Service, what was measured, as much of the title as there is room for, and the end. What gives way when a segment is
 * too short for all of it: the title, then the link, then the name of the service.
 */
function fit(alphabet: SmsAlphabet, subject: PageSubject, end: string, link: string | null): string {
  const { lengthMax, lengthOf } = alphabet;
  const { first, rest } = splitTitle(subject);
  const [measured, title] = [alphabet.clean(first), withoutLinks(alphabet.clean(rest))];
  const service = wholeCharacters(alphabet.clean(subject.serviceName), SERVICE_MAX);
  const least = measured === '' ? shorten(alphabet, title, alphabet.titleMin) : measured;
  const withLink = link === null ? end : `${end} ${link}`;
  const tail = lengthOf(joined(`${service}:`, least, withLink)) <= lengthMax ? withLink : end;
  const nameRoom = lengthMax - lengthOf(joined(':', least, tail));
  const head = joined(`${shorten(alphabet, service, Math.max(nameRoom, SERVICE_MIN))}:`, measured);
  const room = lengthMax - lengthOf(joined(head, tail)) - ' '.length;
  const isWorthIt = measured === '' || room >= Math.min(TITLE_WORTH, title.length);
  return joined(head, isWorthIt ? shorten(alphabet, title, room) : '', tail);
}

/** Joins what is not empty: a part that begins a line takes no space before it. */
function joined(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .join(' ')
    .replaceAll(' \n', '\n');
}

/** Shortens a text. Cutting may turn it into a link, and unlinking makes it longer, so more is cut. */
function shorten({ lengthOf }: SmsAlphabet, text: string, length: number): string {
  if (lengthOf(text) <= length) return text;
  for (let cut = length - '..'.length; cut > 0; cut -= 1) {
    const short = withoutLinks(wholeCharacters(text, cut)).trimEnd();
    if (lengthOf(short) + '..'.length <= length) return `${short}..`;
  }
  return '';
}

/** Cuts the text to this length, and never within a surrogate pair. */
function wholeCharacters(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}

function titleOf({ clean }: SmsAlphabet, subject: PageSubject): string {
  const { first, rest } = splitTitle(subject);
  return joined(
    `${wholeCharacters(clean(subject.serviceName), SERVICE_MAX)}:`,
    clean(first),
    withoutLinks(clean(rest)),
  );
}

/** Encoding of an SMS, which decides what fits into it. */
interface SmsAlphabet {
  /** Length of the longest message, counted as `lengthOf` does. */
  readonly lengthMax: number;
  /** Length of a title that takes precedence over a link. */
  readonly titleMin: number;
  lengthOf(text: string): number;
  /** Returns the text in letters that the alphabet has, on one line. */
  clean(text: string): string;
}

/** Letters of the basic table of GSM 03.38 (3GPP TS 23.038 6.2.1) that are not ASCII. */
const GSM_LETTERS = '£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà';
/** Character of the extension table that texts keep. */
const GSM_EXTENDED = '€';
/** The extension table, whose characters count as two; addresses may have those of ASCII. */
const COUNTED_TWICE = /[€^{}\\[~\]|]/g;
const NOT_GSM = new RegExp(`[^\\x20-\\x7E${GSM_LETTERS}${GSM_EXTENDED}]`, 'gu');

/** Latin letters that Unicode does not decompose. */
const PLAIN: Readonly<Record<string, string>> = {
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  œ: 'oe',
  Œ: 'OE',
  ħ: 'h',
  Ħ: 'H',
  ı: 'i',
  ŋ: 'n',
  Ŋ: 'N',
  ŧ: 't',
  Ŧ: 'T',
  ẞ: 'SS',
};

/** Signs with a meaning that ASCII can write. */
const SIGNS: Readonly<Record<string, string>> = {
  '≥': '>=',
  '≤': '<=',
  '≠': '!=',
  '→': '->',
  '←': '<-',
  '⇒': '=>',
  '×': 'x',
  '÷': '/',
  '⁄': '/',
  '∕': '/',
  '±': '+/-',
  '−': '-',
  '‐': '-',
  '‑': '-',
  '•': '-',
  '·': '-',
  '«': '"',
  '»': '"',
};

/** Alphabet of one segment in 7 bits. */
const GSM: SmsAlphabet = {
  lengthMax: 160,
  titleMin: 20,
  lengthOf: (text) => text.length + (text.match(COUNTED_TWICE)?.length ?? 0),
  clean: (text) =>
    onOneLine(
      toGsm(text)
        .replaceAll(NOT_GSM, '?')
        .replaceAll(/[[\]{}|~^\\]/g, ' '),
    ),
};

/** Alphabet of two segments of 67 UTF-16 units each; one has no room for how to reply. */
const UCS2: SmsAlphabet = {
  lengthMax: 134,
  titleMin: 40,
  lengthOf: (text) => text.length,
  clean: (text) =>
    onOneLine(
      typographic(text)
        .normalize('NFC')
        .toWellFormed()
        // Removes characters that are invisible or change direction; joiners are part of how some scripts are written.
        .replaceAll(/(?![\u200C\u200D])\p{Cf}/gu, '')
        .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
        .replaceAll(/[\p{Co}\p{Cn}\uFFFD]/gu, '?'),
    ),
};

/** Returns the alphabet for a message with these texts: GSM 03.38 while it has every letter and digit of them. */
function alphabetFor(texts: readonly string[]): SmsAlphabet {
  const missing = texts.flatMap((text) => toGsm(text).match(NOT_GSM) ?? []);
  return missing.some((character) => /[\p{L}\p{N}]/u.test(character)) ? UCS2 : GSM;
}

/** Keeps the letters that GSM 03.38 has, and takes the accents off those that it has not. */
function toGsm(text: string): string {
  return typographic(text)
    .normalize('NFC')
    .replaceAll(
      /[°\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]|\u200D|\uFE0E|\uFE0F|\u20E3/gu,
      '',
    )
    .replaceAll(/[^\x20-\x7E]/gu, (character) => {
      if (GSM_LETTERS.includes(character) || GSM_EXTENDED.includes(character)) return character;
      const sign = SIGNS[character];
      if (sign !== undefined) return sign;
      const plain = character.normalize('NFKD').replaceAll(/\p{M}/gu, '');
      return plain.replaceAll(/[^\x20-\x7E]/gu, (letter) => PLAIN[letter] ?? SIGNS[letter] ?? letter);
    });
}

function typographic(text: string): string {
  return text
    .replaceAll(/[µμ]/g, 'u')
    .replaceAll(/[“”„]/g, '"')
    .replaceAll(/[‘’`]/g, "'")
    .replaceAll(/[–—]/g, '-')
    .replaceAll('…', '..');
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
