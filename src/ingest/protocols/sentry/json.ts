import type { Json } from '#modules/exceptions/decide/event.ts';
import { isSecretMember, isSecretName } from '#modules/exceptions/decide/secret_names.ts';
import { FILTERED, withoutSecretArguments, withoutSecrets } from '#modules/exceptions/decide/secrets.ts';
import { bindsSecrets } from '#modules/exceptions/decide/statement_secrets.ts';
import { readBounded } from '#ingest/protocols/sentry/bounded_json.ts';
import { endOfString, surveyJson } from '#kernel/json_survey.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The values that any event may have, plus one per this many bytes: real events have one in 20 to 40 bytes. */
const VALUES_MAX = 4_000;
const BYTES_A_VALUE = 64;
/** Bytes of a larger event per value that is read. */
const BYTES_A_VALUE_READ = 48;

/**
 * Parses JSON; undefined if it is none. Reads the bare NaN and Infinity that Python writes as null. Takes at most about
 * 20 ns a byte for any bytes: of an event with more values than any real one, only the parts that are stored are read.
 */
export function parseJson(bytes: Buffer): unknown {
  const body = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
  const valuesMax = VALUES_MAX + body.length / BYTES_A_VALUE;
  const { values, levels, mayHaveNaN } = surveyJson(body, valuesMax, LEVELS_MAX);
  if (values > valuesMax || levels > LEVELS_MAX)
    return readBounded(body, VALUES_MAX + body.length / BYTES_A_VALUE_READ);
  return parseOrUndefined((mayHaveNaN ? withoutNaN(body) : body).toString('utf8'));
}

const LEVELS_MAX = 500;

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const QUOTE = 0x22;
const NULL = Buffer.from('null');
const NOT_NUMBERS = ['-Infinity', 'Infinity', 'NaN'].map((word) => Buffer.from(word));

/** Replaces NaN and Infinity outside of strings, in one pass over the bytes. */
function withoutNaN(bytes: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(Math.ceil((bytes.length * 4) / 3) + NULL.length);
  let length = 0;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = Math.min(endOfString(bytes, at) + 1, bytes.length);
      for (; at < end; at += 1) plain[length++] = bytes[at] ?? 0;
      continue;
    }
    const word = notNumberAt(bytes, at);
    if (word === 0) {
      plain[length++] = byte ?? 0;
      at += 1;
    } else {
      for (const letter of NULL) plain[length++] = letter;
      at += word;
    }
  }
  return plain.subarray(0, length);
}

/** The length of the word at this position; 0 if there is none. */
function notNumberAt(bytes: Buffer, at: number): number {
  for (const word of NOT_NUMBERS) {
    let same = 0;
    while (same < word.length && word[same] === bytes[at + same]) same += 1;
    if (same === word.length) return same;
  }
  return 0;
}

const COUNT_MAX = 1_000_000;

/** A whole number above zero, of at most a million; zero for everything else. */
export function asCount(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, COUNT_MAX) : 0;
}

/** Returns the value if it is an object; null for everything else, arrays too. */
export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The lists of the protocol come as `{ "values": […] }`, as a bare array or as one object. */
export function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const object = asObject(value);
  if (object === null) return [];
  const values = object['values'];
  if (values === undefined) return [object];
  return Array.isArray(values) ? values : [asObject(values)].filter((entry) => entry !== null);
}

/** A string, number or boolean as text that every store can hold, cut at `lengthMax`. Null for anything else. */
export function asText(value: unknown, lengthMax: number): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value === '') return null;
  const cut = value.length > lengthMax ? `${value.slice(0, lengthMax - 1).replace(/\p{Cs}$/u, '')}…` : value;
  return cut.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Returns the text without secrets: for free text, as opposed to names. */
export function asPlainText(value: unknown, lengthMax: number): string | null {
  const text = asText(value, lengthMax);
  return text === null ? null : withoutSecrets(text);
}

/** Returns the text without secrets, or JSON for objects and lists. */
export function asTextOrJson(value: unknown, lengthMax: number): string | null {
  return typeof value === 'object' && value !== null
    ? asText(JSON.stringify(boundedJson(value)), lengthMax)
    : asPlainText(value, lengthMax);
}

const DEPTH_MAX = 8;
const ENTRIES_MAX = 100;
const TEXT_LENGTH_MAX = 4_000;
const NODES_MAX = 2_000;
const CHARACTERS_MAX = 200_000;

const NAME_LENGTH_MAX = 200;

/** Budget for what may still be kept. */
export interface JsonBudget {
  /** Values. */
  left: number;
  /** Characters of texts. */
  characters: number;
  /** Longest single text. */
  readonly textLengthMax: number;
  /** Whether nothing is cut in depth or number, as the value is cut to size already. */
  readonly isWhole?: boolean;
  /** Whether a value under a secret name is only the name of an object, and is kept. */
  readonly isReference?: (name: string, value: unknown) => boolean;
}

/**
 * Whatever a sender put in `contexts`, `extra`, `request` or a breadcrumb, cut in depth, length and number (2,000
 * values altogether) and without secrets. Copies by `Object.fromEntries`, so that a `__proto__` is a name like another.
 */
export function boundedJson(
  value: unknown,
  budget: JsonBudget = { left: NODES_MAX, characters: CHARACTERS_MAX, textLengthMax: TEXT_LENGTH_MAX },
): Json {
  return copy(value, 0, budget);
}

/** Returns JSON that is cut to size already without its secrets. */
export function withoutSecretValues(value: unknown, isReference: NonNullable<JsonBudget['isReference']>): Json {
  const unbounded = { left: Infinity, characters: Infinity, textLengthMax: Infinity };
  return boundedJson(value, { ...unbounded, isWhole: true, isReference });
}

/** `owner` is the name by which the value is a member of an object, directly or in lists. */
function copy(value: unknown, depth: number, budget: JsonBudget, owner = ''): Json {
  budget.left -= 1;
  if (budget.left < 0) return null;
  if (typeof value === 'string') {
    if (budget.characters <= 0) return '…';
    const text = asPlainText(value, budget.textLengthMax) ?? '';
    budget.characters -= text.length;
    return text;
  }
  if (typeof value === 'number') return plainNumber(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'boolean' ? value : null;
  if (depth >= DEPTH_MAX && budget.isWhole !== true) return '…';
  if (Array.isArray(value)) return copyList(value, depth, budget, owner);
  const entries = Object.entries(namedValue(withoutBound(value)) ?? withoutBound(value)).slice(0, entriesMax(budget));
  return Object.fromEntries(
    entries.map(([name, entry]) => [
      asText(name, NAME_LENGTH_MAX) ?? '',
      isSecretEntry(owner, name, entry, budget) && entry !== null && entry !== ''
        ? FILTERED
        : copy(entry, depth + 1, budget, name),
    ]),
  );
}

function isSecretEntry(owner: string, name: string, entry: unknown, { isReference }: JsonBudget): boolean {
  return (isSecretName(name) || isSecretMember(() => owner, name)) && isReference?.(name, entry) !== true;
}

function entriesMax({ isWhole }: JsonBudget): number {
  return isWhole === true ? Infinity : ENTRIES_MAX;
}

/** Cards are sent as numbers, too. */
function plainNumber(value: number): Json {
  if (!Number.isFinite(value)) return null;
  const text = value >= 1e12 && Number.isSafeInteger(value) ? String(value) : '';
  const clean = withoutSecrets(text);
  return clean === text ? value : clean;
}

/** Members with the values for the places of a statement. */
const BOUND = /^(?:(?:db|sql)[._])?(?:bind(?:ing)?s?|param(?:eter)?s?|args|arguments|values)$/i;

/**
 * Returns the object without the values bound to its statement of SQL, or to `statement`, where one of them is secret:
 * `{ sql: 'UPDATE users SET password = ?', params: ['…'] }`.
 */
export function withoutBound(object: object, statement?: unknown): object {
  const entries = Object.entries(object);
  const isBound = (name: string, value: unknown): boolean =>
    BOUND.test(name) && typeof value === 'object' && value !== null;
  if (!entries.some(([name, value]) => isBound(name, value))) return object;
  if (![statement, ...entries.map(([, value]) => value as unknown)].some(bindsSecrets)) return object;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isBound(name, value) ? FILTERED : (value as unknown)]),
  );
}

const NAME_MEMBER = /^(?:name|key|field|id|label|param|parameter|header|variable|k)$/i;
const VALUE_MEMBER = /^(?:value|values|val|text|content|v)$/i;

/**
 * Fields also come as `{ "name": "password1", "value": "…" }`, and commands of Redis as `{ "name": "auth", "args": […] }`:
 * such an object without its value, null for any other.
 */
function namedValue(object: object): object | null {
  const entries = Object.entries(object).slice(0, ENTRIES_MAX);
  const names = entries.flatMap(([member, text]) => (NAME_MEMBER.test(member) && typeof text === 'string' ? text : []));
  const isSecret = names.some(isSecretName);
  if (!isSecret) return null;
  const isAuth = names.some((name) => /^auth$/i.test(name));
  const isValue = (member: string, value: unknown): boolean =>
    (VALUE_MEMBER.test(member) || (isAuth && member === 'args')) && value !== null && value !== '';
  if (!entries.some(([member, value]) => isValue(member, value))) return null;
  return Object.fromEntries(entries.map(([member, value]) => [member, isValue(member, value) ? FILTERED : value]));
}

/** Headers and fields also come as pairs (`["Cookie", "…"]`, `["pin", ["…"]]`), settings as `["--password1", "…"]`. */
function copyList(list: readonly unknown[], depth: number, budget: JsonBudget, owner: string): Json {
  const [name, value] = list;
  const isValue = typeof value === 'string' || typeof value === 'number' || Array.isArray(value);
  const isSecretPair = list.length === 2 && typeof name === 'string' && isValue && isSecretName(name);
  const entries = isSecretPair
    ? [name, FILTERED]
    : withoutCommandSecrets(list.slice(0, entriesMax(budget))).map((entry, index) =>
        isSecretSetting(list[index - 1], entry) ? FILTERED : entry,
      );
  return entries.map((entry) => copy(entry, depth + 1, budget, owner));
}

/** Arguments of a command, such as `["mysqldump", "-phunter2"]`, are read as its line. */
function withoutCommandSecrets(list: readonly unknown[]): readonly unknown[] {
  const isText = (entry: unknown): entry is string => typeof entry === 'string';
  return list.every(isText) && list.some((entry) => entry.startsWith('-')) ? withoutSecretArguments(list) : list;
}

/** Whether an argument of a command line is the value of the secret setting before it. */
function isSecretSetting(before: unknown, value: unknown): boolean {
  if (typeof before !== 'string' || typeof value !== 'string') return false;
  return /^--?[a-z][\w-]*$/i.test(before) && !value.startsWith('-') && isSecretName(before);
}
