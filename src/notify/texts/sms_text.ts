import { type DigestItem, digestSummary, type Message, newsText, type PageSubject } from '#notify/message.ts';
import { NUMBER_CHANGED } from '#notify/texts/number_changed_text.ts';
import { unlinked } from '#notify/texts/unlinked.ts';

/** One segment of the GSM 03.38 alphabet. */
const SEGMENT = 160;

/**
 * Service, title, how to reply, and a link, cut to one segment where possible: the title gives way first, since
 * what a person needs at 3 a.m. is which service, and what to answer.
 */
export function smsText(message: Message, baseUrl: string): string {
  switch (message.kind) {
    case 'page': {
      const { subject } = message;
      const order = `Reply ACK ${subject.number} or RES ${subject.number}`;
      return fit(subject, `${order} ${baseUrl}/incidents/${subject.id}`);
    }
    case 'news':
      return fit(message.subject, newsText(message.event));
    case 'digest':
      return digestText(message.items, baseUrl);
    case 'test':
      return 'Tocsin: this is a test. SMS reaches you; no need to act.';
    case 'code':
      return `Tocsin: ${message.code} is your code to confirm this number. It works for 10 minutes.`;
    case 'number_changed':
    case 'member_number_changed':
      return `Tocsin: ${NUMBER_CHANGED[message.kind]}`;
  }
}

/** How many, the first that fits, and one order for all of them. */
function digestText(items: readonly DigestItem[], baseUrl: string): string {
  const pages = items.filter(({ news }) => news === null);
  const [first] = pages.length > 0 ? pages : items;
  if (first === undefined) throw new Error('a digest stands for something');
  const isOver = items.every(({ news }) => news !== null && news !== 'reopened');
  const order = pages.length > 0 ? 'Reply ACK ALL' : isOver ? 'No need to act.' : 'See';
  const tail = `${order} ${baseUrl}/incidents`;
  const head = `Tocsin: ${digestSummary(items)}: `;
  const room = Math.max(SEGMENT - head.length - tail.length - 1, 20);
  return `${head}${shorten(`${toGsm(first.subject.serviceName)}: ${unlinked(toGsm(first.subject.title))}`, room)} ${tail}`;
}

function fit(subject: PageSubject, end: string): string {
  const service = toGsm(subject.serviceName).slice(0, 30);
  const room = SEGMENT - service.length - end.length - 3;
  const title = unlinked(toGsm(subject.title));
  return `${service}: ${shorten(title, Math.max(room, 20))} ${end}`;
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${unlinked(text.slice(0, length - 2)).trimEnd()}..`;
}

/** Letters outside the GSM alphabet halve what fits in a segment, so accents are dropped and the rest becomes "?". */
function toGsm(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[“”„]/g, '"')
    .replaceAll(/[‘’`]/g, "'")
    .replaceAll(/[–—]/g, '-')
    .replaceAll('…', '..')
    .replaceAll(/[^\x20-\x7E]/g, '?')
    .replaceAll(/[[\]{}|~^\\]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
