import { type Parsed, ok } from '#modules/contacts/decide/parsed.ts';
import type { Fault } from '#kernel/errors.ts';
import { Temporal } from '#kernel/time.ts';

/** An incident of another tool. */
export interface OtherIncident {
  readonly at: Temporal.Instant;
  readonly title: string;
}

export const OTHER_INCIDENTS_MAX = 2_000;
const TITLE_LENGTH_MAX = 300;
/** Limit on the columns of an export; real ones have fewer than a hundred. */
const COLUMNS_MAX = 200;
const FAULTS_MAX = 5;

/** Names of columns and properties as PagerDuty, Opsgenie, Grafana OnCall and others export them, without separators. */
const TIMES = ['createdon', 'createdat', 'triggeredat', 'startedat', 'openedat', 'starttime', 'created', 'timestamp'];
const PLAIN_TIMES = ['time', 'date', 'at'];
const TITLES = ['title', 'summary', 'description', 'message', 'name', 'alias', 'subject'];
/** Properties of an answer of an API that hold the list. */
const LISTS = ['incidents', 'results', 'data', 'alerts', 'items'];

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads incidents from the export of another tool: JSON with a list of objects, or CSV with a line of column names. Every
 * entry needs a time with its zone, or in UTC, and a title.
 */
export function parseOtherIncidents(text: string): Parsed<OtherIncident[]> {
  const entries = /^\s*[[{]/.test(text) ? entriesOfJson(text) : entriesOfCsv(text);
  if (entries === null) return fault('is no JSON that can be read, though it begins like it');
  if (entries.length === 0) return fault('holds no incidents: a list of objects, or CSV with a line of column names');
  if (entries.length > OTHER_INCIDENTS_MAX) {
    return fault(`holds more than ${OTHER_INCIDENTS_MAX} incidents; compare fewer at once`);
  }
  const faults: Fault[] = [];
  const incidents: OtherIncident[] = [];
  for (const [index, entry] of entries.entries()) {
    const at = timeOf(valueOf(entry, [...TIMES, ...PLAIN_TIMES]));
    const title = textOf(valueOf(entry, TITLES));
    if (at !== null && title !== '') incidents.push({ at, title });
    else if (faults.length < FAULTS_MAX) {
      const missing = at === null ? `time (${TIMES.join(', ')})` : `title (${TITLES.join(', ')})`;
      faults.push({ path: `export[${index}]`, message: `has no ${missing}` });
    }
  }
  if (faults.length > 0) return { kind: 'faults', faults };
  return ok(incidents.toSorted((a, b) => a.at.epochMilliseconds - b.at.epochMilliseconds));
}

function fault(message: string): Parsed<never> {
  return { kind: 'faults', faults: [{ path: 'export', message }] };
}

function entriesOfJson(text: string): Entry[] | null {
  try {
    const value: unknown = JSON.parse(text);
    const list = Array.isArray(value) ? value : LISTS.map((name) => propertyOf(value, name)).find(Array.isArray);
    return (list ?? []).filter((entry): entry is Entry => typeof entry === 'object' && entry !== null);
  } catch {
    return null;
  }
}

function entriesOfCsv(text: string): Entry[] {
  const [names = [], ...rows] = rowsOf(text.replace(/^\uFEFF/, ''));
  return rows.map((cells) => Object.fromEntries(names.map((name, column) => [name, cells[column] ?? ''])));
}

/**
 * Reads the cells of each line of CSV (RFC 4180), separated by commas, or by semicolons where the first line has no comma.
 * Cells and lines beyond the limits are left out: whoever sends them decides how many there are.
 */
function rowsOf(text: string): string[][] {
  const separator = (text.split('\n', 1)[0] ?? '').includes(',') ? ',' : ';';
  const rows: string[][] = [];
  let [row, cell, isQuoted] = [[] as string[], '', false];
  const endCell = (): void => {
    if (row.length < COLUMNS_MAX) row.push(cell);
    cell = '';
  };
  const endRow = (): void => {
    if (row.length === 0 && cell === '') return;
    endCell();
    rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length && rows.length <= OTHER_INCIDENTS_MAX + 1; at += 1) {
    const character = text.charAt(at);
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text.charAt(at + 1) === '"') [cell, at] = [`${cell}"`, at + 1];
      else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator) endCell();
    else if (character === '\n') endRow();
    else if (character !== '\r') cell += character;
  }
  endRow();
  return rows;
}

/** Returns the value under the first of these names that is there and not empty, whatever their case and separators. */
function valueOf(entry: Entry, names: readonly string[]): unknown {
  const plain = new Map(
    Object.entries(entry)
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => [name.toLowerCase().replaceAll(/[^a-z]/g, ''), value]),
  );
  const name = names.find((wanted) => plain.has(wanted));
  return name === undefined ? null : plain.get(name);
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value.replaceAll(/\s+/g, ' ').trim().slice(0, TITLE_LENGTH_MAX).toWellFormed()
    : '';
}

const SECONDS_MAX = 100_000_000_000;

/** A time with its zone, one without in UTC, or seconds or milliseconds since 1970; null for anything else. */
function timeOf(value: unknown): Temporal.Instant | null {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  if (/^\d{9,13}$/.test(text)) {
    const number = Number(text);
    return Temporal.Instant.fromEpochMilliseconds(number > SECONDS_MAX ? number : number * 1_000);
  }
  const spelled = text
    .replace(/^(\d{4})\/(\d\d)\/(\d\d)/, '$1-$2-$3')
    .replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
    .replace(/ UTC$/, 'Z')
    .replace(/ ?([+-]\d\d):?(\d\d)$/, '$1:$2');
  try {
    return Temporal.Instant.from(/(Z|[+-]\d\d:\d\d)$/i.test(spelled) ? spelled : `${spelled}Z`);
  } catch {
    return null;
  }
}
