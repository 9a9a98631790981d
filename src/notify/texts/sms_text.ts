import type { OutgoingPage, PageSubject } from '#notify/channel_sender.ts';

/** One segment of the GSM 03.38 alphabet. */
const SEGMENT = 160;

/**
 * Service, title, how to reply, and a link, cut to one segment where possible: the title gives way first, since
 * what a person needs at 3 a.m. is which service, and what to answer.
 */
export function smsText(page: OutgoingPage, baseUrl: string): string {
  const { subject, message } = page;
  if (message.kind === 'news') return fit(subject, `is ${message.event}. No need to act.`, '');
  const link = `${baseUrl}/incidents/${subject.id}`;
  return fit(subject, `Reply ACK ${subject.number} or RES ${subject.number}`, link);
}

function fit(subject: PageSubject, tail: string, link: string): string {
  const service = toGsm(subject.serviceName).slice(0, 30);
  const end = [tail, link].filter((part) => part !== '').join(' ');
  const room = SEGMENT - service.length - end.length - 3;
  const title = toGsm(subject.title);
  return `${service}: ${shorten(title, Math.max(room, 20))} ${end}`;
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 2).trimEnd()}..`;
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
