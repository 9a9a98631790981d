import {
  type DigestItem,
  digestSummary,
  splitTitle,
  type Message,
  newsText,
  type PageSubject,
  proposalText,
} from '#notify/message.ts';
import { NUMBER_CHANGED } from '#notify/texts/number_changed_text.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

/** One segment of the GSM 03.38 alphabet. */
const SEGMENT = 160;
const SERVICE_MAX = 30;
const SERVICE_MIN = 10;
/** Of a title that is all there is to say; of one that follows a measured value, no less is worth showing. */
const TITLE_MIN = 20;
const TITLE_WORTH = 8;
const DIGEST_TITLE_MIN = 20;

/**
 * One segment: which service, what was measured or happened, how to answer, and where there is room the link that
 * acknowledges after asking once.
 */
export function smsText(message: Message, baseUrl: string, answerUrl: string): string {
  switch (message.kind) {
    case 'page': {
      const { subject } = message;
      const order = `Reply ACK ${subject.number} or RES ${subject.number}`;
      return fit(subject, order, answerUrl);
    }
    case 'news':
      return fit(message.subject, toGsm(newsText(message.event, message.by && withoutLinks(message.by))), null);
    case 'proposal': {
      const { subject, proposal } = message;
      const order = `Reply YES ${proposal.number} or NO ${proposal.number}`;
      const head = `#${subject.number}`;
      const link = joined(head, toGsm(proposalText(proposal)), order, answerUrl).length <= SEGMENT ? answerUrl : '';
      const room = SEGMENT - joined(head, order, link).length - ' '.length;
      return joined(head, shorten(withoutLinks(toGsm(proposalText(proposal))), room), order, link);
    }
    case 'digest':
      return digestText(message.items, baseUrl, answerUrl);
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
function digestText(items: readonly DigestItem[], baseUrl: string, answerUrl: string): string {
  const pages = items.filter(({ news }) => news === null);
  const [first] = pages.length > 0 ? pages : items;
  if (first === undefined) throw new Error('a digest stands for something');
  const isOver = items.every(({ news }) => news === 'acknowledged' || news === 'resolved');
  const order = pages.length > 0 ? 'Reply ACK ALL' : isOver ? 'No need to act.' : 'See';
  const head = `Tocsin: ${digestSummary(items)}: `;
  const roomWith = (link: string) => SEGMENT - joined(head.trim(), order, link).length - ' '.length;
  const link = pages.length > 0 && roomWith(answerUrl) >= DIGEST_TITLE_MIN ? answerUrl : `${baseUrl}/incidents`;
  const room = Math.max(roomWith(link), DIGEST_TITLE_MIN);
  return joined(head.trim(), shorten(titleOf(first.subject), room), order, link);
}

/**
 * Service, what was measured, as much of the title as there is room for, and the end. What gives way when a segment is
 * too short for all of it: the title, then the link, then the name of the service.
 */
function fit(subject: PageSubject, end: string, link: string | null): string {
  const { first, rest } = splitTitle(subject);
  const [measured, title] = [toGsm(first), withoutLinks(toGsm(rest))];
  const service = toGsm(subject.serviceName).slice(0, SERVICE_MAX);
  const least = measured === '' ? shorten(title, TITLE_MIN) : measured;
  const withLink = link === null ? end : `${end} ${link}`;
  const tail = joined(`${service}:`, least, withLink).length <= SEGMENT ? withLink : end;
  const nameRoom = SEGMENT - joined(':', least, tail).length;
  const head = joined(`${shorten(service, Math.max(nameRoom, SERVICE_MIN))}:`, measured);
  const room = SEGMENT - joined(head, tail).length - ' '.length;
  const isWorthIt = measured === '' || room >= Math.min(TITLE_WORTH, title.length);
  return joined(head, isWorthIt ? shorten(title, room) : '', tail);
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

/** What is cut may have become a link by that; unlinking it makes it longer, so more is cut. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  for (let cut = length - '..'.length; cut > 0; cut -= 1) {
    const short = withoutLinks(text.slice(0, cut)).trimEnd();
    if (short.length + '..'.length <= length) return `${short}..`;
  }
  return '';
}

/** Letters outside the GSM alphabet halve what fits in a segment, so accents are dropped and the rest becomes "?". */
function toGsm(text: string): string {
  return text
    .replaceAll(/[µμ]/g, 'u')
    .replaceAll('°', '')
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

function titleOf(subject: PageSubject): string {
  const { first, rest } = splitTitle(subject);
  return joined(`${toGsm(subject.serviceName).slice(0, SERVICE_MAX)}:`, toGsm(first), withoutLinks(toGsm(rest)));
}
