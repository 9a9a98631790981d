/** What somebody who was paged may answer by SMS. `pin` is what they typed behind the order, for those who have set one. */
export type SmsReply =
  | { readonly kind: 'acknowledge' | 'resolve'; readonly number: number; readonly pin: string | null }
  /** Everything that waits for an answer of this person. */
  | { readonly kind: 'acknowledge_all'; readonly pin: string | null }
  /** An order that names no incident. */
  | { readonly kind: 'which' }
  | { readonly kind: 'unknown' };

const ORDER = /^\s*(ack|acknowledge|res|resolve)\b[\s#:.-]*(\d{1,15})?(?:\s+(\d{4,8}))?\s*[.!]*\s*$/i;

const ALL = /^\s*ack(?:nowledge)?\s+all(?:\s+(\d{4,8}))?\s*[.!]*\s*$/i;

/** "ACK 1234", "res #1234 0815", "Ack", "ack all": letter case, punctuation and the longer words do not matter. */
export function parseSmsReply(text: string): SmsReply {
  const all = ALL.exec(text);
  if (all !== null) return { kind: 'acknowledge_all', pin: all[1] ?? null };
  const order = ORDER.exec(text);
  if (order === null) return { kind: 'unknown' };
  const [, verb = '', number, pin] = order;
  if (number === undefined) return { kind: 'which' };
  const kind = verb.toLowerCase().startsWith('ack') ? 'acknowledge' : 'resolve';
  return { kind, number: Number(number), pin: pin ?? null };
}
