/** Replies by SMS of somebody who was paged. `pin` is what they typed after the command, if they have set one. */
export type SmsReply =
  | { readonly kind: 'acknowledge' | 'resolve'; readonly number: number; readonly pin: string | null }
  /** Acknowledges everything that waits for this person's answer. */
  | { readonly kind: 'acknowledge_all'; readonly pin: string | null }
  /** Acknowledges the incident that waits, if there is exactly one: ACK alone. */
  | { readonly kind: 'acknowledge_only'; readonly pin: null }
  /** Answers a proposal or a question of an agent, by its own number. */
  | { readonly kind: 'yes' | 'no'; readonly number: number; readonly pin: string | null }
  /** Any other text, also a command that names no number or several. */
  | { readonly kind: 'unknown' };

type Verb = 'acknowledge' | 'resolve' | 'yes' | 'no';

/** Length of the longest message that providers join of parts. */
const LENGTH_MAX = 1600;

const VERB = String.raw`(ack(?:nowledge)?d?|acked|res(?:olved?)?|yes|no)`;
/** Characters and words that may stand between the command and the number. */
const BETWEEN = String.raw`[^\p{L}\p{N}\n]*(?:(?:incident|inc|number|nr|no)\b[^\p{L}\p{N}\n]*){0,2}`;
const PIN = String.raw`(?:[^\p{L}\p{N}\n]+(\d{4,8})(?![\p{L}\p{N}]))?`;
const END_OF_NUMBER = String.raw`(?![\p{L}\p{N}])`;

const VERB_FIRST = new RegExp(`^${VERB}${BETWEEN}(\\d{1,15})${END_OF_NUMBER}${PIN}`, 'iu');
const NUMBER_FIRST = new RegExp(`^(\\d{1,15})[^\\p{L}\\p{N}\\n]*${VERB}${END_OF_NUMBER}${PIN}`, 'iu');
const ANOTHER_COMMAND = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${VERB}${BETWEEN}\\d|\\d+[^\\p{L}\\p{N}\\n]*${VERB}(?![\\p{L}\\p{N}]))`,
  'iu',
);
/** A further number at once, which is another incident, or a mistyped PIN. */
const ANOTHER_NUMBER = /^(?:[^\p{L}\p{N}]|and\b|or\b)*\d/iu;

const THANKS = String.raw`(?:[^\p{L}\p{N}]|thanks?|thx|you|please|pls|ok|of them|incidents?)*$`;
const ALL = new RegExp(
  `^(?:ack(?:nowledge)?[^\\p{L}\\p{N}]*all|all[^\\p{L}\\p{N}]+ack(?:nowledge)?)${PIN}${THANKS}`,
  'iu',
);
const ALONE = new RegExp(`^(?:ack(?:nowledge)?d?|acked)${THANKS}`, 'iu');

/** Texts by which a person stops and resumes SMS; the network obeys them before anybody else gets them. */
const STOP = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'REVOKE']);
const START = new Set(['START', 'UNSTOP']);

/** Reads STOP and START; `yes` means START only to somebody who has stopped. */
export function parseOptOut(text: string): 'stop' | 'start' | 'yes' | null {
  const word = text.trim().toUpperCase();
  if (STOP.has(word)) return 'stop';
  if (START.has(word)) return 'start';
  return word === 'YES' ? 'yes' : null;
}

/**
 * Reads "ACK 1234", "ack1234.", "1234 ack", "res #1234 0815 thanks", "ack all" or "YES 7". Letter case, punctuation,
 * the digits' script and what stands behind or below the command do not matter; a second command makes it unknown.
 */
export function parseSmsReply(text: string): SmsReply {
  const [line = '', ...below] = linesOf(text.slice(0, LENGTH_MAX));
  const isAmbiguous = below.some((other) => readCommand(other) !== null);
  if (isAmbiguous) return { kind: 'unknown' };
  const all = ALL.exec(line);
  if (all !== null) return { kind: 'acknowledge_all', pin: all[1] ?? null };
  if (ALONE.test(line)) return { kind: 'acknowledge_only', pin: null };
  const command = readCommand(line);
  if (command === null) return { kind: 'unknown' };
  const rest = line.slice(command.length);
  if (ANOTHER_NUMBER.test(rest) || ANOTHER_COMMAND.test(rest)) return { kind: 'unknown' };
  return { kind: command.verb, number: command.number, pin: command.pin };
}

/** Returns the non-empty lines in ASCII digits, without what is before the first word; no quotes or signature. */
function linesOf(text: string): string[] {
  const lines = text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\p{Nd}/gu, asciiDigit)
    .split(/\r\n|[\r\n\u2028\u2029]/);
  const signature = lines.findIndex((line) => /^\s*--\s*$/.test(line));
  return lines
    .slice(0, signature === -1 ? lines.length : signature)
    .filter((line) => !line.trimStart().startsWith('>'))
    .map((line) => line.replace(/^[^\p{L}\p{N}]+/u, '').trim())
    .filter((line) => line !== '');
}

/** Returns the ASCII digit. The digits of every script are ten in a row (Unicode, general category Nd). */
function asciiDigit(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (codePoint - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(codePoint - zero);
}

interface Command {
  readonly verb: Verb;
  readonly number: number;
  readonly pin: string | null;
  readonly length: number;
}

function readCommand(line: string): Command | null {
  const first = VERB_FIRST.exec(line);
  if (first !== null) {
    const [whole, verb = '', number, pin = null] = first;
    return { verb: verbOf(verb), number: Number(number), pin, length: whole.length };
  }
  const last = NUMBER_FIRST.exec(line);
  if (last === null) return null;
  const [whole, number, verb = '', pin = null] = last;
  return { verb: verbOf(verb), number: Number(number), pin, length: whole.length };
}

function verbOf(word: string): Verb {
  const lower = word.toLowerCase();
  if (lower === 'yes' || lower === 'no') return lower;
  return lower.startsWith('ack') ? 'acknowledge' : 'resolve';
}
