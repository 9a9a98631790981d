/** Limit on the bytes that wait to be read; a datagram that finds no room is dropped. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** Longest line that is read; clients send up to 8 kB in a datagram. */
const LINE_BYTES_MAX = 16 * 1024;
/**
 * Time for which lines are read in one turn of the event loop, so that other work gets its turn however many datagrams
 * come.
 */
const SLICE_MS = 4;
const NEWLINE = 0x0a;

interface Datagram {
  readonly bytes: Buffer;
  readonly address: string;
}

interface DatagramReaderOptions {
  readonly take: (line: string, address: string) => void;
  /** Lines that are not read. */
  readonly drop: (lines: number) => void;
}

/** Reads datagrams line by line, a few milliseconds at a time. */
export class DatagramReader {
  readonly #options: DatagramReaderOptions;
  #waiting: Datagram[] = [];
  #waitingBytes = 0;
  #reading: Promise<void> | null = null;

  constructor(options: DatagramReaderOptions) {
    this.#options = options;
  }

  push(bytes: Buffer, address: string): void {
    if (this.#waitingBytes + bytes.length > WAITING_BYTES_MAX) {
      this.#options.drop(1);
      return;
    }
    this.#waitingBytes += bytes.length;
    this.#waiting.push({ bytes, address });
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
  }

  /** Resolves once everything that has arrived is read. */
  async drain(): Promise<void> {
    await this.#reading;
  }

  async #read(): Promise<void> {
    await nextImmediate();
    let until = performance.now() + SLICE_MS;
    while (this.#waiting.length > 0) {
      const datagrams = this.#waiting;
      this.#waiting = [];
      for (const { bytes, address } of datagrams) {
        for (let start = 0; start < bytes.length;) {
          const end = endOfLine(bytes, start);
          if (end - start > LINE_BYTES_MAX) this.#options.drop(1);
          else if (end > start) this.#options.take(bytes.toString('utf8', start, end).trimEnd(), address);
          start = end + 1;
          if (performance.now() < until) continue;
          await nextImmediate();
          until = performance.now() + SLICE_MS;
        }
        this.#waitingBytes -= bytes.length;
      }
    }
  }
}

function endOfLine(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== NEWLINE) at += 1;
  return at;
}

function nextImmediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A line of StatsD, with the tags of DogStatsD, or those of others in its name. */
export interface Line {
  readonly name: string;
  readonly values: readonly string[];
  readonly type: 'c' | 'g' | 's' | 't';
  readonly isMilliseconds: boolean;
  readonly rate: number;
  /** The time that a counter or gauge bears (DogStatsD protocol 1.3), in epoch milliseconds; null without one. */
  readonly at: number | null;
  readonly tags: readonly (readonly [name: string, value: string])[];
  /** Length of the line's text. */
  readonly length: number;
}

const KEY_TAG = 'ingestion_key';
const KEY_LENGTH_MAX = 200;

/** Signs before a tag: `|#a:1,b:2` of DogStatsD, and those of tags in names. */
const BEFORE_TAG = '#,;[';

/** The ingestion key that a line bears as a tag; null where it has none. Looked for before anything else is read. */
export function keyOf(text: string): string | null {
  for (let at = text.indexOf(KEY_TAG); at !== -1; at = text.indexOf(KEY_TAG, at + 1)) {
    const start = at + KEY_TAG.length + 1;
    const sign = text[start - 1];
    if (at === 0 || !BEFORE_TAG.includes(text[at - 1] ?? '') || (sign !== ':' && sign !== '=')) continue;
    const ends = sign === ':' ? ',|' : ',;]:|';
    let end = start;
    while (end < text.length && !ends.includes(text[end] ?? '')) end += 1;
    return text.slice(start, Math.min(end, start + KEY_LENGTH_MAX));
  }
  return null;
}

/** Reason for which a line is not taken, as the page of the service says it. */
export type LineRefusal = 'faulty' | 'not_finite';

const NOT_FINITE = /^[+-]?(?:nan|inf(?:inity)?)$/i;

/** Returns a decimal number; NaN for a blank, which a script sends for an empty variable, and for `0x10`. */
function decimal(text: string): number {
  return text.trim() === '' || /[box]/i.test(text) ? Number.NaN : Number(text);
}

/** Reads a line; the reason if it cannot be read. */
export function readLine(text: string): Line | LineRefusal {
  const [head = '', type = '', ...parts] = text.split('|');
  const colon = head.indexOf(':');
  const kind = type === 'ms' || type === 'h' || type === 'd' ? 't' : type;
  if (colon < 1 || (kind !== 'c' && kind !== 'g' && kind !== 's' && kind !== 't')) return 'faulty';
  const values = kind === 's' ? [head.slice(colon + 1)] : head.slice(colon + 1).split(':');
  if (values.includes('')) return 'faulty';
  const unread = kind === 's' ? undefined : values.find((value) => !Number.isFinite(decimal(value)));
  if (unread !== undefined) return NOT_FINITE.test(unread) || !Number.isNaN(decimal(unread)) ? 'not_finite' : 'faulty';
  let rate = 1;
  let at: number | null = null;
  const { name, tags } = readName(head.slice(0, colon));
  for (const part of parts) {
    if (part.startsWith('@')) rate = Number(part.slice(1));
    if (part.startsWith('T') && (kind === 'c' || kind === 'g')) at = readTime(part.slice(1));
    if (!part.startsWith('#')) continue;
    for (const tag of part.slice(1).split(',')) {
      const colonAt = tag.indexOf(':');
      const [tagName, value] = colonAt === -1 ? [tag, 'true'] : [tag.slice(0, colonAt), tag.slice(colonAt + 1)];
      if (tagName !== KEY_TAG && tagName !== '') tags.push([tagName, value]);
    }
  }
  if (!(rate > 0 && rate <= 1) || Number.isNaN(at)) return 'faulty';
  tags.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return { name, values, type: kind, isMilliseconds: type === 'ms', rate, at, tags: joined(tags), length: text.length };
}

/** Tags in a name: `a,x=1` of InfluxDB, `a;x=1` of Graphite, `a#x=1` of Librato and `a[x=1]` of SignalFx. */
const TAGS_IN_NAME = /^([^,;#[\]]+)[,;#[]([^[\]]+?)\]?$/;

/** Divides a name into itself and its tags; one that holds anything else stays as it is. */
function readName(text: string): { readonly name: string; readonly tags: [string, string][] } {
  const [, name, list = ''] = TAGS_IN_NAME.exec(text) ?? [];
  const pairs = list.split(/[,;]/).map((tag) => /^([^=]+)=(.*)$/.exec(tag));
  if (name === undefined || pairs.includes(null)) return { name: text, tags: [] };
  const tags = pairs.flatMap((pair): [string, string][] => [[pair?.[1] ?? '', pair?.[2] ?? '']]);
  return { name, tags: tags.filter(([tagName]) => tagName !== KEY_TAG) };
}

/** Joins the values of a tag that comes several times, as DogStatsD allows: a series has each label once. */
function joined(tags: readonly [string, string][]): readonly (readonly [string, string])[] {
  if (tags.every(([name], place) => name !== tags[place - 1]?.[0])) return tags;
  const values = Map.groupBy(tags, ([name]) => name);
  return [...values].map(([name, pairs]) => [name, [...new Set(pairs.map(([, value]) => value))].sort().join(',')]);
}

/** Converts whole seconds to milliseconds; NaN for what is no time. */
function readTime(text: string): number {
  return /^\d{1,12}$/.test(text) ? Number(text) * 1000 : Number.NaN;
}
