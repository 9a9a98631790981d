import { cutDetails, cutKey, cutTitle } from '#modules/alerts/decide/alert_limits.ts';
import { cutLinks } from '#modules/alerts/decide/alert_links.ts';
import type { AlertLink } from '#modules/alerts/decide/alert_event.ts';
import { Temporal } from '#kernel/time.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The property, if the record has it itself. */
export function fieldOf(record: unknown, name: string): unknown {
  return isRecord(record) && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** A text that is not blank, or a number as text; null for anything else. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

export function textIn(record: unknown, ...names: readonly string[]): string | null {
  for (const name of names) {
    const text = textOf(fieldOf(record, name));
    if (text !== null) return text;
  }
  return null;
}

export function recordIn(record: unknown, name: string): JsonRecord {
  const value = fieldOf(record, name);
  return isRecord(value) ? value : {};
}

export function listIn(record: unknown, name: string): readonly unknown[] {
  const value = fieldOf(record, name);
  return Array.isArray(value) ? value : [];
}

/** A time as tools write it: RFC 3339, also with `+0000`, or seconds or milliseconds since 1970; null for anything else. */
export function timeOf(value: unknown): Temporal.Instant | null {
  if (typeof value === 'number') return ofEpoch(value);
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (/^\d{9,13}(\.\d+)?$/.test(text)) return ofEpoch(Number(text));
  const spelled = text.replace(/^(\d{4}-\d\d-\d\d) /, '$1T').replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  try {
    const at = Temporal.Instant.from(/(Z|[+-]\d\d:\d\d)$/i.test(spelled) ? spelled : `${spelled}Z`);
    return isPlausible(at.epochMilliseconds) ? at : null;
  } catch {
    return null;
  }
}

function ofEpoch(value: number): Temporal.Instant | null {
  const ms = Math.round(value > 100_000_000_000 ? value : value * 1_000);
  return isPlausible(ms) ? Temporal.Instant.fromEpochMilliseconds(ms) : null;
}

/** Returns whether a time lies between 2000 and 2200; the zero times of tools do not. */
function isPlausible(ms: number): boolean {
  return ms > 946_684_800_000 && ms < 7_258_118_400_000;
}

/** Returns the details to keep; they say so if something was cut. */
export function detailsOf(parts: JsonRecord): Record<string, unknown> {
  const present = Object.fromEntries(
    Object.entries(parts).filter(([, value]) => value !== undefined && value !== null && !isEmpty(value)),
  );
  const { value, cut } = cutDetails(present);
  return cut ? { ...value, cut: 'the details were longer than 64 KiB' } : value;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

const TOOL_LENGTH_MAX = 100;

/** Cuts the name that a tool gives itself to the length of a shown name. */
export function toolNamed(name: string | null): string | null {
  return name === null ? null : cutTitle(name).value.slice(0, TOOL_LENGTH_MAX).toWellFormed();
}

/** Returns the external address of the Alertmanager whose receiver sent this link; null for any other text. */
export function alertmanagerOf(link: string | null): string | null {
  const end = link === null ? -1 : link.indexOf('/#/alerts?receiver=');
  return link !== null && end > 0 && /^https?:\/\//.test(link) ? cutKey(link.slice(0, end)).value : null;
}

/** Links as lists of `{ href, text }`. */
export function linksOf(list: readonly unknown[]): AlertLink[] {
  return cutLinks(list.map((link) => ({ href: fieldOf(link, 'href') ?? link, text: fieldOf(link, 'text') })));
}

/** Images as lists of `{ src, alt }`. */
export function imagesOf(list: readonly unknown[]): AlertLink[] {
  return cutLinks(list.map((image) => ({ href: fieldOf(image, 'src') ?? image, text: fieldOf(image, 'alt') })));
}
