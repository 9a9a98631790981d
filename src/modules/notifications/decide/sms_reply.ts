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

const VERB = String.raw`(a(?:c?k|kc)nowled?ge?d?|ack(?:['’]?e?d)?|ackk|ac?knowledging|acking|res(?:olved?)?|resolving|yes|no)`;
/** Words before a command that change nothing about it, and marks that mail programs and phones set before an answer. */
const BEFORE =
  /^(?:(?:please|pls|plz|ok|okay|hi|hello|hey|thanks|thx|sure|yep|yeah|reply|tocsin|i['’]ll|i|we|will|re|aw|fwd?|sv|yes(?=[^\p{L}\p{N}\n]+(?:ack|res)))(?![\p{L}\p{N}])[^\p{L}\p{N}\n]*){1,3}/iu;
/** Words for an incident, and those by which its number is introduced. */
const INCIDENT = String.raw`(?<!\p{L})(?:the|for|incidents?|inc|page|alert|alarm|issue|ticket|case|number|nr|no|n|id)(?!\p{L})`;
/** Characters and words that may stand between the command and the number. */
const BETWEEN = String.raw`[^\p{L}\p{N}\n]*(?:${INCIDENT}[^\p{L}\p{N}\n]*){0,3}`;
const PIN = String.raw`(?:[^\p{L}\p{N}\n]+(\d{4,8})(?![\p{L}\p{N}]))?`;
const END_OF_NUMBER = String.raw`(?![\p{L}\p{N}])`;

const VERB_FIRST = new RegExp(`^${VERB}${BETWEEN}(\\d{1,15})${END_OF_NUMBER}${PIN}`, 'iu');
const NUMBER_FIRST = new RegExp(
  `^(?:${INCIDENT}[^\\p{L}\\p{N}\\n]*){0,2}(\\d{1,15})[^\\p{L}\\p{N}\\n]*${VERB}${END_OF_NUMBER}${PIN}`,
  'iu',
);
const ANOTHER_COMMAND = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${VERB}${BETWEEN}\\d|\\d+[^\\p{L}\\p{N}\\n]*${VERB}(?![\\p{L}\\p{N}]))`,
  'iu',
);
/** A further number at once, which is another incident, or a mistyped PIN. */
const ANOTHER_NUMBER = /^(?:[^\p{L}\p{N}]|and\b|or\b)*\d/iu;

const THANKS = String.raw`(?:[^\p{L}\p{N}]|thanks?|thx|you|please|pls|ok|of them|incidents?)*$`;
const ALL = new RegExp(
  `^(?:ack(?:nowledge)?[^\\p{L}\\p{N}]*(?:all|everything)|all[^\\p{L}\\p{N}]+ack(?:nowledge)?)${PIN}${THANKS}`,
  'iu',
);
const ALONE = /^(?:ackn?(?:owledge)?d?|ackk|acked|acking|acknowledging)(?![\p{L}\p{N}])/iu;
/** Words of somebody who does not take it over, or asks: then ACK alone is no answer. */
const DOUBT =
  /\?|(?<![\p{L}])(?:no|not|none|never|cannot|cant|wont|dont|didnt|isnt|\p{L}+n['’]t|wrong|someone|somebody|anyone|else|who|what|why|which|nicht|kein\p{L}*|nein|non|pas|nie|niet|nej|inte|não)(?![\p{L}])/iu;

/** Texts by which a person stops and resumes SMS; the network obeys them before anybody else gets them. */
const STOP = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'REVOKE']);
const START = new Set(['START', 'UNSTOP']);

/** Reads STOP and START; `yes` means START only to somebody who has stopped. */
export function parseOptOut(text: string): 'stop' | 'start' | 'yes' | null {
  const word = text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
    .toUpperCase();
  if (STOP.has(word)) return 'stop';
  if (START.has(word)) return 'start';
  return word === 'YES' ? 'yes' : null;
}

/** Other words by which people ask for an end, and STOP with more than the network expects: it obeys the word alone. */
const LIKE_STOP =
  /^(?:please[^\p{L}\p{N}]+)?(?:stop|unsubscribe|cancel|quit|end|opt[ -]?out|remove|arr[eêé]t(?:er)?|parar?|baja|stopp)(?:[^\p{L}\p{N}]+(?:all|it|this|please|me|now))?[^\p{L}\p{N}]*$/iu;

/** Whether the text asks to stop SMS in words that no network obeys. */
export function asksToStop(text: string): boolean {
  return LIKE_STOP.test(linesOf(text.slice(0, LENGTH_MAX))[0] ?? '');
}

/**
 * Reads "ACK 1234", "ack1234.", "1234 ack", "res #1234 0815 thanks", "ack all" or "YES 7". Letter case, punctuation,
 * the digits' script and what stands behind or below the command do not matter; a second command makes it unknown.
 */
export function parseSmsReply(text: string): SmsReply {
  const [line = '', ...below] = joinSplit(linesOf(text.slice(0, LENGTH_MAX)));
  const isAmbiguous = below.some((other) => readCommand(other) !== null && other !== line);
  if (isAmbiguous) return { kind: 'unknown' };
  const all = ALL.exec(line);
  if (all !== null) return { kind: 'acknowledge_all', pin: all[1] ?? null };
  const command = readCommand(line);
  if (command === null) {
    const isAlone = ALONE.test(line) && !/\d/.test(line) && ![line, ...below].some((said) => DOUBT.test(said));
    return isAlone ? { kind: 'acknowledge_only', pin: null } : { kind: 'unknown' };
  }
  const rest = line.slice(command.length);
  const again = readCommand(rest.replace(/^[^\p{L}\p{N}]+/u, ''));
  if (again !== null && again.verb === command.verb && again.number === command.number) {
    return { kind: command.verb, number: command.number, pin: command.pin ?? again.pin };
  }
  if (ANOTHER_NUMBER.test(rest) || ANOTHER_COMMAND.test(rest)) return { kind: 'unknown' };
  return { kind: command.verb, number: command.number, pin: command.pin };
}

/** Returns the non-empty lines in ASCII digits, without what is before the first word; no quotes or signature. */
function linesOf(text: string): string[] {
  const lines = text
    .normalize('NFKC')
    // Joiners and the like, and what makes a digit a key on a key cap.
    .replaceAll(/\p{Cf}|[\uFE00-\uFE0F\u20E3]/gu, '')
    .replaceAll(/\p{Nd}/gu, asciiDigit)
    .replaceAll(/(?<!\p{L})[АаAa][СсCc][КкKk](?!\p{L})/gu, 'ACK')
    .split(/\r\n|[\r\n\u2028\u2029]/);
  const signature = lines.findIndex((line) => /^\s*--\s*$/.test(line));
  return lines
    .slice(0, signature === -1 ? lines.length : signature)
    .filter((line) => !line.trimStart().startsWith('>'))
    .map((line) => line.replace(/^[^\p{L}\p{N}]+/u, '').trim())
    .filter((line) => line !== '')
    .map((line, index) => (index === 0 ? line.replace(BEFORE, '') : line));
}

const NUMBER_ALONE = /^\d{1,15}(?:[^\p{L}\p{N}]+\d{4,8})?[^\p{L}\p{N}]*$/u;
const VERB_ALONE = new RegExp(`^${VERB}[^\\p{L}\\p{N}]*$`, 'iu');

/** Joins a command and its number on two lines. */
function joinSplit([first = '', second = '', ...below]: readonly string[]): readonly string[] {
  const isSplit =
    (VERB_ALONE.test(first) && NUMBER_ALONE.test(second)) || (NUMBER_ALONE.test(first) && VERB_ALONE.test(second));
  return isSplit ? [`${first} ${second}`, ...below] : [first, second, ...below];
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
  return lower.startsWith('res') ? 'resolve' : 'acknowledge';
}
