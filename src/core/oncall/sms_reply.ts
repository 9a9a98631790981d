/** What somebody who was paged may answer by SMS. `pin` is what they typed after the command, for those who have set one. */
export type SmsReply =
  | { readonly kind: 'acknowledge' | 'resolve'; readonly number: number; readonly pin: string | null }
  /** Everything that waits for this person's answer. */
  | { readonly kind: 'acknowledge_all'; readonly pin: string | null }
  /** A command without an incident number. */
  | { readonly kind: 'which' }
  | { readonly kind: 'unknown' };

const COMMAND = /^\s*(ack|acknowledge|res|resolve)\b[\s#:.-]*(\d{1,15})?(?:\s+(\d{4,8}))?\s*[.!]*\s*$/i;

const ALL = /^\s*ack(?:nowledge)?\s+all(?:\s+(\d{4,8}))?\s*[.!]*\s*$/i;

/** "ACK 1234", "res #1234 0815", "Ack", "ack all": letter case, punctuation and the longer words do not matter. */
export function parseSmsReply(text: string): SmsReply {
  const all = ALL.exec(text);
  if (all !== null) return { kind: 'acknowledge_all', pin: all[1] ?? null };
  const command = COMMAND.exec(text);
  if (command === null) return { kind: 'unknown' };
  const [, verb = '', number, pin] = command;
  if (number === undefined) return { kind: 'which' };
  const kind = verb.toLowerCase().startsWith('ack') ? 'acknowledge' : 'resolve';
  return { kind, number: Number(number), pin: pin ?? null };
}
