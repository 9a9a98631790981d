import { endOfString } from '#kernel/json_survey.ts';

/** The names of an event's fields that are used; all others are skipped. */
const EVENT_NAMES = [
  'type',
  'event_id',
  'message',
  'logentry',
  'sentry.interfaces.Message',
  'sdk',
  'timestamp',
  'level',
  'platform',
  'environment',
  'release',
  'server_name',
  'transaction',
  'culprit',
  'logger',
  'user',
  'sentry.interfaces.User',
  'tags',
  'exception',
  'sentry.interfaces.Exception',
  'threads',
  'stacktrace',
  'sentry.interfaces.Stacktrace',
  'breadcrumbs',
  'contexts',
  'extra',
  'request',
  'sentry.interfaces.Http',
  'fingerprint',
  'dist',
  'modules',
  'debug_meta',
];
const HEAD_NAMES = ['type', 'event_id'];
const EVENT_NAMES_BY_LENGTH = byLength(EVENT_NAMES);
const HEAD_NAMES_BY_LENGTH = byLength(HEAD_NAMES);

function byLength(names: readonly string[]): ReadonlyMap<number, readonly Buffer[]> {
  return Map.groupBy(
    names.map((name) => Buffer.from(name)),
    ({ length }) => length,
  );
}

/**
 * Limit on the entries read of an object or list, more than is kept of any; of lists, the first and last matter most.
 */
const ENTRIES_MAX = 200;
const LIST_ENDS = 150;
const BYTE_ORDER_MARK_BYTES = 3;
const LEVELS_MAX = 12;
/** Size from which the end of a container is remembered: a list is skimmed before its contents are read. */
const LARGE_BYTES = 4_096;

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [BRACE, BRACKET, BRACE_END, BRACKET_END] = [0x7b, 0x5b, 0x7d, 0x5d];

/**
 * Reads the parts of an event that are stored, in bounded time for any bytes: at most `valuesMax` values, and the rest is
 * skipped at a few nanoseconds a byte. Undefined if it is not a JSON object; a part that is broken becomes null.
 */
export function readBounded(bytes: Buffer, valuesMax: number): unknown {
  return new BoundedReader(bytes, valuesMax, EVENT_NAMES_BY_LENGTH).read();
}

/** The type and id of an event, which is all that accepting it needs. */
export function readHead(bytes: Buffer): Readonly<Record<string, unknown>> {
  return new BoundedReader(bytes, HEAD_NAMES.length, HEAD_NAMES_BY_LENGTH).read() ?? {};
}

type Names = ReadonlyMap<number, readonly Buffer[]>;

class BoundedReader {
  readonly #bytes: Buffer;
  #at = 0;
  #left: number;
  /** The fields of the event that are read. */
  readonly #names: Names;
  /** Ends of large containers, by their starts. */
  readonly #ends = new Map<number, number>();

  constructor(bytes: Buffer, valuesMax: number, names: Names) {
    this.#bytes = bytes;
    this.#left = valuesMax;
    this.#names = names;
  }

  read(): Readonly<Record<string, unknown>> | undefined {
    if (this.#bytes[0] === 0xef) this.#at = BYTE_ORDER_MARK_BYTES;
    this.#skipWhitespace();
    return this.#bytes[this.#at] === BRACE ? this.#object(0, true) : undefined;
  }

  #value(level: number): unknown {
    this.#left -= 1;
    const byte = this.#bytes[this.#at];
    const isContainer = byte === BRACE || byte === BRACKET;
    if (this.#left < 0 || (isContainer && level >= LEVELS_MAX)) {
      this.#pass();
      return null;
    }
    if (byte === BRACE) return this.#object(level, false);
    if (byte === BRACKET) return this.#list(level);
    const start = this.#at;
    this.#pass();
    return parseScalar(this.#bytes, start, this.#at);
  }

  #object(level: number, isEvent: boolean): Readonly<Record<string, unknown>> {
    const entries: [string, unknown][] = [];
    this.#at += 1;
    for (;;) {
      this.#skipWhitespace();
      if (this.#bytes[this.#at] !== QUOTE) break;
      const start = this.#at;
      const end = endOfString(this.#bytes, start);
      this.#at = end + 1;
      this.#skipWhitespace();
      if (this.#bytes[this.#at] !== COLON) break;
      this.#at += 1;
      this.#skipWhitespace();
      const isRead = isEvent ? isAmong(this.#names, this.#bytes, start + 1, end) : entries.length < ENTRIES_MAX;
      if (!isEvent && !isRead) break;
      if (isRead) entries.push([nameOf(this.#bytes, start, end + 1), this.#value(level + 1)]);
      else this.#pass();
      this.#skipWhitespace();
      if (this.#bytes[this.#at] !== COMMA) break;
      this.#at += 1;
    }
    this.#close(BRACE_END);
    return Object.fromEntries(entries);
  }

  #list(level: number): unknown[] {
    const starts: number[] = [];
    this.#at += 1;
    for (;;) {
      this.#skipWhitespace();
      const byte = this.#bytes[this.#at];
      if (byte === undefined || byte === BRACKET_END || byte === BRACE_END) break;
      starts.push(this.#at);
      this.#pass();
      this.#skipWhitespace();
      if (this.#bytes[this.#at] !== COMMA) break;
      this.#at += 1;
    }
    this.#close(BRACKET_END);
    const end = this.#at;
    const isLong = starts.length > 2 * LIST_ENDS;
    const kept = isLong ? [...starts.slice(0, LIST_ENDS), ...starts.slice(-LIST_ENDS)] : starts;
    const list = kept.map((start) => {
      this.#at = start;
      return this.#value(level + 1);
    });
    this.#at = end;
    return list;
  }

  /** Skips to the end of the container. */
  #close(ending: number): void {
    if (this.#bytes[this.#at] === ending) this.#at += 1;
    else this.#at = endOfRest(this.#bytes, this.#at);
  }

  /** Skips the value that begins here. */
  #pass(): void {
    const byte = this.#bytes[this.#at];
    if (byte === BRACE || byte === BRACKET) this.#at = this.#ends.get(this.#at) ?? this.#endOfContainer(this.#at);
    else if (byte === QUOTE) this.#at = endOfString(this.#bytes, this.#at) + 1;
    else this.#at = endOfWord(this.#bytes, this.#at);
  }

  /** The position after the container that begins here. Those in it will be passed next, down to the last level that is read. */
  #endOfContainer(start: number): number {
    const bytes = this.#bytes;
    const starts: number[] = [];
    let level = 0;
    let at = start;
    do {
      const byte = bytes[at];
      if (byte === QUOTE) at = endOfString(bytes, at);
      else if (byte === BRACE || byte === BRACKET) {
        if (level < LEVELS_MAX) starts[level] = at;
        level += 1;
      } else if (byte === BRACE_END || byte === BRACKET_END) {
        level -= 1;
        const begun = level < LEVELS_MAX ? starts[level] : undefined;
        if (begun !== undefined && at - begun > LARGE_BYTES) this.#ends.set(begun, at + 1);
      }
      at += 1;
    } while (level > 0 && at < bytes.length);
    return at;
  }

  #skipWhitespace(): void {
    while (isWhitespace(this.#bytes[this.#at])) this.#at += 1;
  }
}

/** The position after the end of the current container. */
function endOfRest(bytes: Buffer, from: number): number {
  let level = 1;
  let at = from;
  for (; at < bytes.length && level > 0; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === BRACE || byte === BRACKET) level += 1;
    else if (byte === BRACE_END || byte === BRACKET_END) level -= 1;
  }
  return at;
}

function endOfWord(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === COMMA || byte === BRACE_END || byte === BRACKET_END || isWhitespace(byte)) break;
  }
  // Always moves forward.
  return Math.max(at, from + 1);
}

function isWhitespace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isAmong(names: Names, bytes: Buffer, start: number, end: number): boolean {
  for (const name of names.get(end - start) ?? []) {
    if (name[0] === bytes[start] && bytes.compare(name, 0, name.length, start, end) === 0) return true;
  }
  return false;
}

const SCALAR_BYTES_MAX = 64 * 1024;

/** Reads only as much of a name as is ever stored. */
function nameOf(bytes: Buffer, start: number, end: number): string {
  const name = parseScalar(bytes, start, Math.min(end, start + 1_000));
  return typeof name === 'string' ? name : '';
}

function parseScalar(bytes: Buffer, start: number, end: number): unknown {
  if (isPlainText(bytes, start, end)) return bytes.toString('latin1', start + 1, end - 1);
  const isCut = end - start > SCALAR_BYTES_MAX;
  const text = bytes.toString('utf8', start, isCut ? start + SCALAR_BYTES_MAX : end);
  if (!text.startsWith('"')) return parsed(text);
  // A string that was cut has no closing quote, and may have been cut within an escape.
  return text.length > 1 && text.endsWith('"') && !isCut
    ? parsed(text)
    : parsed(`${text.replace(/\\[^\\]{0,5}$/, '')}"`);
}

/** A short string of printable ASCII, as most are: calling JSON.parse takes longer than reading it. */
function isPlainText(bytes: Buffer, start: number, end: number): boolean {
  if (bytes[start] !== QUOTE || bytes[end - 1] !== QUOTE || end - start < 2 || end - start > 200) return false;
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e || byte === 0x5c) return false;
  }
  return true;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
