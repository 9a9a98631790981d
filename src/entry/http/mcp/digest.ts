import { downsamplePoints } from '#modules/metrics/decide/buckets.ts';

interface Limits {
  /** Entries of a list of objects that hold other objects or lists, or of a list of lists. */
  readonly entries: number;
  /** Entries of a list of flat objects: a table, whose rows say much in little space. */
  readonly rows: number;
  /** Characters of one text. */
  readonly text: number;
  /** Members of an object whose names senders choose. */
  readonly names: number;
}

/** Shortened value, and notes on what was left out. */
interface Cut {
  readonly value: unknown;
  readonly notes: readonly string[];
}

interface Shortened extends Cut {
  readonly text: string;
}

const WIDEST: Limits = { entries: 50, rows: 50, text: 4_000, names: 200 };
const NARROW = { text: 45, names: 4 };
/** Limits to try in turn, from the widest to one that always fits: first texts shrink, then entries, then rows. */
const LIMITS: readonly Limits[] = [
  WIDEST,
  { ...WIDEST, text: 1_000, names: 60 },
  { ...WIDEST, text: 300, names: 30 },
  { ...WIDEST, text: 150, names: 15 },
  { ...WIDEST, text: 80, names: 8 },
  { ...WIDEST, ...NARROW },
  { ...NARROW, entries: 30, rows: 40 },
  { ...NARROW, entries: 20, rows: 40 },
  { ...NARROW, entries: 12, rows: 30 },
  { ...NARROW, entries: 8, rows: 20 },
  { ...NARROW, entries: 5, rows: 20 },
  { ...NARROW, entries: 3, rows: 12 },
  { ...NARROW, entries: 3, rows: 5 },
  { ...NARROW, entries: 1, rows: 3 },
  { ...NARROW, entries: 1, rows: 1 },
];
/** Paths of objects whose names senders choose, by the names that results give them. */
const OF_SENDERS = /(?:^|\.)(?:contexts|extra|request|data|tags|query|options|code|variables|modules)(?:\.|\[|$)/;
/** Path of the points of a series. */
const SERIES = /(?:^|\.)points$/;
const POINTS_MAX = 60;
/** Factor of the entries of a list of texts: they are names, and many of them fit. */
const TEXTS_PER_ENTRY = 6;
const TEXTS_MIN = 20;
/** Shortest limit on a text in a list: it is a line that begins with its name. */
const LINE_CHARACTERS = 120;
const NOTES_MAX = 6;

/**
 * Shortens a value so that `render` makes at most so many characters of it: lists end early and texts are cut, in as
 * few places as possible. A shortened list states its full length.
 */
export function shorten(value: unknown, charactersMax: number, render: (value: unknown) => string): Shortened {
  if (isSmall(value)) {
    const text = render(value);
    if (text.length <= charactersMax) return { value, notes: [], text };
  }
  for (const limits of LIMITS) {
    const left = cut(value, limits);
    const text = render(left.value);
    if (text.length <= charactersMax) return { ...left, text };
  }
  return { value: {}, text: '', notes: ['everything: it is too large to be shown here'] };
}

/** Whether the widest limits leave the whole value as it is, whatever its names are. */
function isSmall(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= WIDEST.text;
  if (typeof value !== 'object' || value === null) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.length <= (Array.isArray(value) ? WIDEST.entries : WIDEST.names) && inner.every(isSmall);
}

function cut(whole: unknown, { entries, rows, text, names }: Limits): Cut {
  const notes = new Map<string, string>();
  const visit = (value: unknown, path: string): unknown => {
    if (typeof value === 'string') {
      const most = path.endsWith('[]') && !OF_SENDERS.test(path) ? Math.max(text, LINE_CHARACTERS) : text;
      if (value.length <= most) return value;
      notes.set('text', `texts are cut after ${text} characters`);
      return `${value.slice(0, most).toWellFormed()}…`;
    }
    if (Array.isArray(value)) {
      if (SERIES.test(path)) return thinned(value, path);
      const most = mostOf(value[0]);
      if (value.length > most && !notes.has(path)) notes.set(path, `${path}: ${most} of ${value.length}`);
      return value.slice(0, most).map((entry) => visit(entry, `${path}[]`));
    }
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value);
    const most = OF_SENDERS.test(path) ? names : members.length;
    if (members.length > most) notes.set(path, `${path}: ${most} of ${members.length} members`);
    return Object.fromEntries(
      members.slice(0, most).map(([name, inner]) => [name, visit(inner, path === '' ? name : `${path}.${name}`)]),
    );
  };
  const mostOf = (first: unknown): number => {
    if (typeof first === 'string') return Math.max(TEXTS_MIN, entries * TEXTS_PER_ENTRY);
    return isRow(first) ? rows : entries;
  };
  const thinned = (points: readonly { readonly value: number }[], path: string) => {
    if (points.length > POINTS_MAX) notes.set(path, `${path}: ${POINTS_MAX} of ${points.length}, with the peaks`);
    return downsamplePoints(points, POINTS_MAX);
  };
  const value = visit(whole, '');
  const sentences = [...notes.values()];
  const more = sentences.length - NOTES_MAX;
  return { value, notes: more > 0 ? [...sentences.slice(0, NOTES_MAX), `and ${more} more lists`] : sentences };
}

/**
 * Renders a value as lines for a model: `name: value`; a list of flat entries is a table. Null and empty values are
 * left out. A text that could be taken for anything else is quoted, and no text breaks a line.
 */
export function renderDigest(value: unknown): string {
  return linesOf(value, '').join('\n');
}

function linesOf(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) return tableOf(value, indent) ?? value.flatMap((entry) => entryLines(entry, indent));
  if (!isObject(value)) return [indent + scalar(value)];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (isEmpty(inner)) return [];
    const flat = inlineOf(inner);
    return flat === null ? [`${indent}${name}:`, ...linesOf(inner, `${indent}  `)] : [`${indent}${name}: ${flat}`];
  });
}

/** Renders a row of names, and one of values per entry; a dash is null. Null for under three, or nested, entries. */
function tableOf(list: readonly unknown[], indent: string): string[] | null {
  if (list.length < 3 || !list.every(isObject)) return null;
  const entries: readonly Readonly<Record<string, unknown>>[] = list;
  const names = [...new Set(entries.flatMap((entry) => Object.keys(entry).filter((name) => !isEmpty(entry[name]))))];
  const rows = entries.map((entry) => names.map((name) => (isEmpty(entry[name]) ? '-' : inlineOf(entry[name]))));
  if (names.length === 0 || rows.some((row) => row.includes(null))) return null;
  return [names, ...rows].map((row) => `${indent}${row.join(' | ')}`);
}

function entryLines(entry: unknown, indent: string): string[] {
  if (!isObject(entry)) return [`${indent}- ${scalar(entry)}`];
  const inner = Object.entries(entry).filter(([, value]) => !isEmpty(value));
  const flat: string[] = [];
  const deep: [string, unknown][] = [];
  for (const [name, value] of inner) {
    const text = inlineOf(value);
    if (text === null) deep.push([name, value]);
    else flat.push(`${name}: ${text}`);
  }
  const rest = deep.length === 0 ? [] : linesOf(Object.fromEntries(deep), `${indent}  `);
  return [`${indent}- ${flat.join(', ')}`, ...rest];
}

/** Longest text of a list on one line; a longer text gets its own line. */
const INLINE_CHARACTERS = 60;

/** Returns a scalar, or a list of scalars, as one line; null for anything else. */
function inlineOf(value: unknown): string | null {
  if (!Array.isArray(value)) return isObject(value) ? null : scalar(value);
  const isLong = value.some((entry) => typeof entry === 'string' && entry.length > INLINE_CHARACTERS);
  return isLong || value.some((entry) => typeof entry === 'object') ? null : `[${value.map(scalar).join(', ')}]`;
}

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? '';
  return PLAIN_ASCII.test(value) || PLAIN.test(value) ? value : JSON.stringify(value);
}

/** Texts that need no quotes: names, ids, times and words. */
const PLAIN = /^[\p{L}\p{N}_][\p{L}\p{N}_.:/@+•*<>%#() -]*$/u;
/** Matches most of them in a quarter of the time: names of Unicode's letters take 170 ns a text. */
const PLAIN_ASCII = /^\w[\w.:/@+*<>%#() -]*$/;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRow(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((inner) => typeof inner !== 'object' || inner === null);
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
