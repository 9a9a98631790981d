/** Replies by SMS of somebody who was paged. `pin` is what they typed after the command, if they have set one. */
export type SmsReply =
  | { readonly kind: 'acknowledge' | 'resolve'; readonly numbers: readonly number[]; readonly pin: string | null }
  /** Acknowledges everything that waits for this person's answer. */
  | { readonly kind: 'acknowledge_all'; readonly pin: string | null }
  /** Acknowledges the incident that waits, if there is exactly one: ACK alone. */
  | { readonly kind: 'acknowledge_only'; readonly pin: null }
  /** Answers a proposal or a question of an agent, by its own number. */
  | { readonly kind: 'yes' | 'no'; readonly number: number; readonly pin: string | null }
  /** Any other text, also a command without a number, or two different commands. */
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
const PIN = String.raw`(?:[^\p{L}\p{N}\n]+(?:[Pp][Ii][Nn][^\p{L}\p{N}\n]*)?(\d{4,8})(?![\p{L}\p{N}]))?`;
const END_OF_NUMBER = String.raw`(?![\p{L}\p{N}])`;

/** End of a number that a command may follow at once. */
const BEFORE_VERB = String.raw`(?!\p{N})(?=\P{L}|$|(?:a|res|yes|no))`;

const VERB_FIRST = new RegExp(`^${VERB}${BETWEEN}(\\d{1,15})${END_OF_NUMBER}`, 'iu');
const NUMBER_FIRST = new RegExp(`^(?:${INCIDENT}[^\\p{L}\\p{N}\\n]*){0,2}(\\d{1,15})${BEFORE_VERB}`, 'iu');
const VERB_LAST = new RegExp(`^[^\\p{L}\\p{N}\\n]*${VERB}${END_OF_NUMBER}`, 'iu');
/** Separators between the numbers of several incidents: no dash or point, which are of a range or of one number. */
const JOINT = String.raw`(?:[\s,;&/|()]|\+(?=\s*\d)(?<!\s\+(?=\d)))*`;
const AND = String.raw`(?<!\p{L})(?:and|also|plus|und|et|y|e|en|og|och)(?!\p{L})`;
/** A further number: after a word or a sign that is not before a PIN, or as a PIN would follow. */
const FURTHER = new RegExp(
  `^(${JOINT}(?:${AND}${JOINT})?)(#?)(?:${VERB}${BETWEEN}|(${INCIDENT})[#.:\\s]*)?(\\d{1,15})${BEFORE_VERB}`,
  'iu',
);
/** Text after the number of an incident, not after that of something else: `3 hosts`, `5 minutes`. */
const AFTER_NUMBER = new RegExp(
  `^(?:[^\\p{L}\\p{N}]*(?:$|\\d|${AND}|${INCIDENT}|${VERB}|(?:thanks?|thx|ty|please|pls|plz|ok|on it|now|both|i|we|will|looking)(?![\\p{L}\\p{N}]))|\\s*[.,;:!)&/])`,
  'iu',
);
const NUMBERS_MAX = 20;
const PIN_AT_END = new RegExp(`^${PIN}`, 'u');
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
 * the digits' script and what stands behind or below the command do not matter. It may name several incidents, as in
 * "ack 12, 13 and 14"; a second, different command makes it unknown.
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
  const { verb, numbers, pin } = command;
  const rest = line.slice(command.length);
  const isDoubtful = numbers.length > 1 && [rest, ...below].some((said) => DOUBT.test(said));
  if (isDoubtful || ANOTHER_NUMBER.test(rest) || ANOTHER_COMMAND.test(rest)) return { kind: 'unknown' };
  if (verb === 'acknowledge' || verb === 'resolve') return { kind: verb, numbers, pin };
  const [number] = numbers;
  return number === undefined || numbers.length > 1 ? { kind: 'unknown' } : { kind: verb, number, pin };
}

/** Returns the non-empty lines in ASCII digits, without what is before the first word; no quotes or signature. */
function linesOf(text: string): string[] {
  const lines = text
    .replaceAll('№', '#')
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

/** Number alone in a line below: no PIN or number of a phone. */
const NUMBER_BELOW = /^[1-9]\d{0,5}[^\p{L}\p{N}]*$/u;

/** Joins a command and its number on two lines, and further lines that hold nothing but numbers of the same command. */
function joinSplit([first = '', second = '', ...below]: readonly string[]): readonly string[] {
  const isSplit =
    (VERB_ALONE.test(first) && NUMBER_ALONE.test(second)) || (NUMBER_ALONE.test(first) && VERB_ALONE.test(second));
  const lines = isSplit ? [`${first} ${second}`, ...below] : [first, second, ...below];
  const [line = '', ...others] = lines;
  const command = readCommand(line);
  if (command === null || /[\p{L}\p{N}]/u.test(line.slice(command.length))) return lines;
  const other = others.findIndex((text) => {
    const further = readCommand(text);
    if (further === null) return !NUMBER_BELOW.test(text);
    return further.verb !== command.verb || /[\p{L}\p{N}]/u.test(text.slice(further.length));
  });
  const joined = other === -1 ? others : others.slice(0, other);
  return [[line, ...joined].join(' '), ...others.slice(joined.length)];
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
  readonly numbers: readonly number[];
  readonly pin: string | null;
  readonly length: number;
}

function readCommand(line: string): Command | null {
  const first = VERB_FIRST.exec(line);
  // In `No. 12 ack` the first word is that for a number.
  const isNumber = first !== null && /^no$/i.test(first[1] ?? '') && VERB_LAST.test(line.slice(first[0].length));
  if (first !== null && !isNumber) {
    const [whole, verb = '', number = ''] = first;
    return { ...readNumbers(line, whole.length, { verb: verbOf(verb), number, hasPin: true }), verb: verbOf(verb) };
  }
  const before = NUMBER_FIRST.exec(line);
  if (before === null) return null;
  const { numbers, length } = readNumbers(line, before[0].length, {
    verb: null,
    number: before[1] ?? '',
    hasPin: false,
  });
  const last = VERB_LAST.exec(line.slice(length));
  if (last === null) return null;
  const verb = verbOf(last[1] ?? '');
  const end = length + last[0].length;
  const pin = PIN_AT_END.exec(line.slice(end));
  return { verb, numbers, pin: pin?.[1] ?? null, length: end + (pin?.[0].length ?? 0) };
}

interface FirstNumber {
  /** Verb that may be repeated before further numbers; null where it follows them. */
  readonly verb: Verb | null;
  readonly number: string;
  /** Whether the last number may be a PIN. */
  readonly hasPin: boolean;
}

/** Reads the numbers that follow the first, but not `1,234`, which is one; the last is a PIN if it has the length of one and nothing shows otherwise. */
function readNumbers(line: string, from: number, { verb, number, hasPin }: FirstNumber): Omit<Command, 'verb'> {
  const numbers = [Number(number)];
  let [length, pin]: [number, string | null] = [from, null];
  while (numbers.length < NUMBERS_MAX) {
    const further = FURTHER.exec(line.slice(length));
    if (further === null) break;
    const [whole, joint = '', sign = '', again, noun, digits = ''] = further;
    const isGrouped = numbers.length === 1 && number.length < 3 && /^[ ,]\d{3}$/.test(whole);
    if (isGrouped || whole.length === digits.length || (again !== undefined && verbOf(again) !== verb)) break;
    const isBare = sign === '' && again === undefined && noun === undefined;
    const seemsPin = isBare && /^[\s,;]+$/.test(joint) && /^\d{4,8}$/.test(digits);
    if (pin?.startsWith('0') || (!seemsPin && !AFTER_NUMBER.test(line.slice(length + whole.length)))) break;
    if (pin !== null) numbers.push(Number(pin));
    pin = hasPin && seemsPin ? digits : null;
    if (pin === null && digits.startsWith('0')) break;
    if (pin === null) numbers.push(Number(digits));
    length += whole.length;
  }
  if (hasPin && pin === null) {
    const behind = PIN_AT_END.exec(line.slice(length));
    pin = behind?.[1] ?? null;
    length += behind?.[0].length ?? 0;
  }
  return { numbers: [...new Set(numbers)], pin, length };
}

function verbOf(word: string): Verb {
  const lower = word.toLowerCase();
  if (lower === 'yes' || lower === 'no') return lower;
  return lower.startsWith('res') ? 'resolve' : 'acknowledge';
}
