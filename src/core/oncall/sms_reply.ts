/** What somebody who was paged may answer by SMS. */
export type SmsReply =
  | { readonly kind: 'acknowledge' | 'resolve'; readonly number: number }
  /** Everything that waits for an answer of this person. */
  | { readonly kind: 'acknowledge_all' }
  /** An order that names no incident. */
  | { readonly kind: 'which' }
  | { readonly kind: 'unknown' };

const ORDER = /^\s*(ack|acknowledge|res|resolve)\b[\s#:.-]*(\d{1,15})?\s*[.!]*\s*$/i;

const ALL = /^\s*ack(nowledge)?\s+all\s*[.!]*\s*$/i;

/** "ACK 1234", "res #1234", "Ack", "ack all": letter case, punctuation and the longer words do not matter. */
export function parseSmsReply(text: string): SmsReply {
  if (ALL.test(text)) return { kind: 'acknowledge_all' };
  const order = ORDER.exec(text);
  if (order === null) return { kind: 'unknown' };
  const [, verb = '', number] = order;
  if (number === undefined) return { kind: 'which' };
  return { kind: verb.toLowerCase().startsWith('ack') ? 'acknowledge' : 'resolve', number: Number(number) };
}
