/** What somebody who was paged may answer by SMS. `pin` is what they typed after the command, for those who have set one. */
export type SmsReply =
  | { readonly kind: 'acknowledge' | 'resolve'; readonly number: number; readonly pin: string | null }
  /** Everything that waits for this person's answer. */
  | { readonly kind: 'acknowledge_all'; readonly pin: string | null }
  /** To a proposal or a question of an agent, by its own number. */
  | { readonly kind: 'yes' | 'no'; readonly number: number; readonly pin: string | null }
  /** A command without an incident number. */
  | { readonly kind: 'which' }
  | { readonly kind: 'unknown' };

const COMMAND = /^\s*(ack|acknowledge|res|resolve|yes|no)\b[\s#:.-]*(\d{1,15})?(?:\s+(\d{4,8}))?\s*[.!]*\s*$/i;

const KINDS: Readonly<Record<string, 'acknowledge' | 'yes' | 'no'>> = {
  ack: 'acknowledge',
  acknowledge: 'acknowledge',
  yes: 'yes',
  no: 'no',
};

const ALL = /^\s*ack(?:nowledge)?\s+all(?:\s+(\d{4,8}))?\s*[.!]*\s*$/i;

/** "ACK 1234", "res #1234 0815", "Ack", "ack all", "YES 7": letter case, punctuation and the longer words do not matter. */
export function parseSmsReply(text: string): SmsReply {
  const all = ALL.exec(text);
  if (all !== null) return { kind: 'acknowledge_all', pin: all[1] ?? null };
  const command = COMMAND.exec(text);
  if (command === null) return { kind: 'unknown' };
  const [, verb = '', number, pin] = command;
  if (number === undefined) return { kind: 'which' };
  return { kind: KINDS[verb.toLowerCase()] ?? 'resolve', number: Number(number), pin: pin ?? null };
}
