import type { Json } from '#core/exceptions/event.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Undefined for what is no JSON. Takes the bare NaN and Infinity that Python writes for null. */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  return parseOrUndefined(text) ?? (/NaN|Infinity/.test(text) ? parseOrUndefined(withoutNaN(text)) : undefined);
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Replaces NaN and Infinity outside of strings, in one pass: a regular expression could be made to backtrack. */
function withoutNaN(text: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    parts.push(text.slice(at, end).replaceAll(/-?\b(?:NaN|Infinity)\b/g, 'null'));
    if (quote === -1) break;
    at = endOfString(text, quote);
    parts.push(text.slice(quote, at));
  }
  return parts.join('');
}

function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
}

/** Null for everything else, arrays too. */
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

/** A text, number or truth value as a text that every store can hold, cut at `lengthMax`. Null for all else. */
export function asText(value: unknown, lengthMax: number): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value === '') return null;
  const cut = value.length > lengthMax ? `${value.slice(0, lengthMax - 1).replace(/\p{Cs}$/u, '')}…` : value;
  return cut.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** A text as above, and JSON for what has parts. */
export function asTextOrJson(value: unknown, lengthMax: number): string | null {
  return typeof value === 'object' && value !== null
    ? asText(JSON.stringify(boundedJson(value)), lengthMax)
    : asText(value, lengthMax);
}

const DEPTH_MAX = 6;
const ENTRIES_MAX = 60;
const TEXT_LENGTH_MAX = 2_000;
const NODES_MAX = 2_000;

/** Names under which senders carry what nobody should read later; their values are kept as `[filtered]`. */
const SECRET =
  /^(?:auth|pwd|pass|pin|cvv|ssn)$|pass(?:word|wd|phrase)|secret|api_?key|access_?key|private_?key|credential|authorization|(?:^|[_-])(?:token|bearer|jwt|csrf|xsrf|cookies?|session_?id)$|token$|^(?:set-)?cookies?$/i;

/**
 * Whatever a sender put in `contexts`, `extra`, `request` or a breadcrumb, cut in depth, length and number (2,000
 * values altogether) and without secrets. Copies by `Object.fromEntries`, so that a `__proto__` is a name like another.
 */
export function boundedJson(value: unknown): Json {
  return copy(value, 0, { left: NODES_MAX });
}

function copy(value: unknown, depth: number, budget: { left: number }): Json {
  budget.left -= 1;
  if (budget.left < 0) return null;
  if (typeof value === 'string') return asText(value, TEXT_LENGTH_MAX) ?? '';
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return typeof value === 'boolean' ? value : null;
  if (depth >= DEPTH_MAX) return '…';
  if (Array.isArray(value)) return copyList(value, depth, budget);
  const entries = Object.entries(value).slice(0, ENTRIES_MAX);
  return Object.fromEntries(
    entries.map(([name, entry]) => [
      asText(name, 200) ?? '',
      SECRET.test(name) && entry !== null && entry !== '' ? '[filtered]' : copy(entry, depth + 1, budget),
    ]),
  );
}

/** Headers also come as pairs: `["Cookie", "…"]`. */
function copyList(list: readonly unknown[], depth: number, budget: { left: number }): Json {
  const [name, value] = list;
  const isSecretPair = list.length === 2 && typeof name === 'string' && typeof value === 'string' && SECRET.test(name);
  const entries = isSecretPair ? [name, '[filtered]'] : list.slice(0, ENTRIES_MAX);
  return entries.map((entry) => copy(entry, depth + 1, budget));
}
