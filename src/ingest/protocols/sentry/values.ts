import type { EventUser } from '#modules/exceptions/decide/event.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import { isSecretName } from '#modules/exceptions/decide/secret_names.ts';
import { FILTERED } from '#modules/exceptions/decide/secrets.ts';
import { parseIpAddress } from '#kernel/ip_address.ts';
import { Temporal } from '#kernel/time.ts';

import { asList, asObject, asPlainText, asText, asTextOrJson, type JsonObject } from '#ingest/protocols/sentry/json.ts';
import { withoutKnown } from '#ingest/protocols/sentry/variables.ts';

/** Longest path of a file. */
export const PATH_LENGTH_MAX = 500;

const LEVEL_NAMES: Readonly<Record<string, Level>> = {
  trace: 'debug',
  verbose: 'debug',
  debug: 'debug',
  info: 'info',
  information: 'info',
  log: 'info',
  notice: 'info',
  success: 'info',
  warn: 'warning',
  warning: 'warning',
  error: 'error',
  err: 'error',
  exception: 'error',
  fatal: 'fatal',
  critical: 'fatal',
  alert: 'fatal',
  emergency: 'fatal',
  panic: 'fatal',
};

/** Python's numbers for levels, ascending. */
const LEVEL_NUMBERS: readonly (readonly [number, Level])[] = [
  [50, 'fatal'],
  [40, 'error'],
  [30, 'warning'],
  [20, 'info'],
  [0, 'debug'],
];

/** Returns the level; null for a value that names none. */
export function asLevel(value: unknown): Level | null {
  if (typeof value === 'number') return LEVEL_NUMBERS.find(([number]) => value >= number)?.[1] ?? null;
  const name = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return Object.hasOwn(LEVEL_NAMES, name) ? (LEVEL_NAMES[name] ?? null) : null;
}

/** A clock may be this far ahead; an event kept on a device may be this old. */
const AHEAD_MINUTES_MAX = 10;
const AGE_HOURS_MAX = 30 * 24;

/** Sentry's own servers correct from here on: a request may wait, and a clock may be a little off. */
const CLOCK_OFFSET_MS_MIN = 55 * 60_000;

/**
 * Returns by how much the clock of a device is ahead, negative if it is behind: the difference between when it says that it
 * sent a request and when that arrived. Zero if the difference is small, or the device does not say.
 */
export function clockOffsetMs(sentAt: unknown, receivedAt: Temporal.Instant): number {
  const milliseconds = asEpochMilliseconds(sentAt);
  const offset = milliseconds === null ? 0 : milliseconds - receivedAt.epochMilliseconds;
  return Math.abs(offset) < CLOCK_OFFSET_MS_MIN ? 0 : offset;
}

/** Time of an event, and the lead of the clock that says so. */
interface EventTime {
  readonly at: Temporal.Instant;
  readonly offsetMs: number;
}

/**
 * Returns when the event happened according to the client: seconds, milliseconds or less since 1970, or ISO 8601 with any
 * number of digits, in UTC unless it gives an offset, by a clock that is `offsetMs` ahead. A time that is missing or
 * unreadable becomes `receivedAt`; so does one that is far off. If it is ahead, all other times of the event are
 * ahead by as much. Precise to the millisecond.
 */
export function eventTime(value: unknown, receivedAt: Temporal.Instant, offsetMs = 0): EventTime {
  const epochMilliseconds = asEpochMilliseconds(value);
  if (epochMilliseconds === null) return { at: receivedAt, offsetMs };
  const milliseconds = epochMilliseconds - offsetMs;
  const age = receivedAt.epochMilliseconds - milliseconds;
  const isFarOff = age < -AHEAD_MINUTES_MAX * 60_000 || age > AGE_HOURS_MAX * 3_600_000;
  if (isFarOff) return { at: receivedAt, offsetMs: offsetMs + Math.max(0, -age) };
  return { at: Temporal.Instant.fromEpochMilliseconds(milliseconds), offsetMs };
}

/** RFC 3339 with milliseconds, by a clock that is `offsetMs` ahead; or null. */
export function asTimestamp(value: unknown, offsetMs = 0): string | null {
  const milliseconds = asEpochMilliseconds(value);
  if (milliseconds === null || Math.abs(milliseconds - offsetMs) > MILLISECONDS_MAX) return null;
  // This runs for every breadcrumb of every event, and the Temporal polyfill takes five times as long.
  return new Date(milliseconds - offsetMs).toISOString();
}

/**
 * Bounds between units: no time of ours is in seconds beyond the first, nor in milliseconds below it (the year 5138; March
 * 1973). Some clients send microseconds or nanoseconds.
 */
const SECONDS_MAX = 1e11;
const EPOCH_MILLISECONDS_MAX = 1e14;
const MICROSECONDS_MAX = 1e17;
const MILLISECONDS_MAX = 8.64e15;

export function asEpochMilliseconds(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{9,19}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value;
  if (typeof number === 'number') {
    const milliseconds = Math.round(number * millisecondsPerUnit(Math.abs(number)));
    return Math.abs(milliseconds) <= MILLISECONDS_MAX ? milliseconds : null;
  }
  return typeof value === 'string' ? parseIso(value) : null;
}

function millisecondsPerUnit(size: number): number {
  if (size < SECONDS_MAX) return 1_000;
  if (size < EPOCH_MILLISECONDS_MAX) return 1;
  return size < MICROSECONDS_MAX ? 1e-3 : 1e-6;
}

const ISO = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,20}))?\s?(?:([Zz]|UTC|[+-]\d\d(?::?\d\d)?).*)?$/s;

function parseIso(text: string): number | null {
  const match = ISO.exec(text.slice(0, 64).trim());
  if (match === null) return null;
  const [, date, time, fraction = '0', zone = 'Z'] = match;
  const offset = /^[+-]/.test(zone) ? zone : 'Z';
  try {
    return Temporal.Instant.from(`${date}T${time}.${fraction.slice(0, 9)}${offset}`).epochMilliseconds;
  } catch {
    return null;
  }
}

/** Returns 32 lower-case hex digits; null for anything that is no event id. */
export function asEventId(value: unknown): string | null {
  const id = typeof value === 'string' && value.length <= 64 ? value.replaceAll('-', '').trim().toLowerCase() : '';
  return /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id) ? id : null;
}

const TAGS_MAX = 100;
const TAG_LENGTH_MAX = 200;

/** Reads tags from `{ name: value }`, `[[name, value]]` or `[{ key, value }]`; the first hundred with a value. */
export function asTags(value: unknown): Readonly<Record<string, string>> {
  const object = asObject(value);
  const pairs = object === null ? asList(value).map(asPair) : Object.entries(object);
  const tags = new Map<string, string>();
  for (const [name, content] of pairs) {
    if (tags.size >= TAGS_MAX) break;
    const key = asText(name, TAG_LENGTH_MAX)?.trim();
    const text = key !== undefined && isSecretName(key) ? FILTERED : asTextOrJson(content, TAG_LENGTH_MAX);
    if (key !== undefined && key !== '' && text !== null) tags.set(key, text);
  }
  return Object.fromEntries(tags);
}

function asPair(entry: unknown): readonly [unknown, unknown] {
  if (Array.isArray(entry)) return [entry[0], entry[1]];
  const object = asObject(entry);
  return [object?.['key'] ?? object?.['name'], object?.['value']];
}

const USER_LENGTH_MAX = 250;
/** Names of user fields that have fields of their own in our events. */
const USER_NAMES: ReadonlySet<string> = new Set(['id', 'email', 'username', 'ip_address']);
/** Names of user fields if the name replaces a missing username. */
const USER_NAMES_AND_NAME: ReadonlySet<string> = new Set([...USER_NAMES, 'name']);

/**
 * Reads a user. `{{auto}}` for an address, and a client that asks for it in its settings, mean the address the request
 * came from.
 */
export function asUser(value: unknown, clientIp: string | null, infersIp: boolean): EventUser | null {
  const object: JsonObject = asObject(value) ?? {};
  const sent = asText(object['ip_address'], 64);
  const user = {
    id: asText(object['id'], USER_LENGTH_MAX),
    email: asText(object['email'], USER_LENGTH_MAX),
    username: asText(object['username'] ?? object['name'], USER_LENGTH_MAX),
    ip: sent === '{{auto}}' || (sent === null && infersIp) ? clientIp : sent && (parseIpAddress(sent) ?? sent),
  };
  const data = withoutKnown(object, object['username'] == null ? USER_NAMES_AND_NAME : USER_NAMES);
  return data === undefined && Object.values(user).every((field) => field === null) ? null : { ...user, data };
}

export interface EventMessage {
  readonly text: string | null;
  /** Message before its parameters were filled in; null if the client did not send it. */
  readonly template: string | null;
}

const MESSAGE_LENGTH_MAX = 8_192;

/** A string, or `{ formatted, message, params }`, or the latter under `logentry`. */
export function asMessage(message: unknown, logentry: unknown): EventMessage {
  const entry = asObject(logentry) ?? asObject(message);
  const plain = asPlainText(message, MESSAGE_LENGTH_MAX) ?? asPlainText(logentry, MESSAGE_LENGTH_MAX);
  if (entry === null) return { text: plain, template: null };
  const template = asPlainText(entry['message'], MESSAGE_LENGTH_MAX);
  const formatted = asPlainText(entry['formatted'], MESSAGE_LENGTH_MAX) ?? plain;
  if (template === null) return { text: formatted, template: null };
  const text = formatted ?? asPlainText(fillParameters(template, entry['params']), MESSAGE_LENGTH_MAX);
  return { text, template: text === template ? null : template };
}

const PLACEHOLDER = /%(?:\((\w{1,40})\)|\d\$)?[-+0#]{0,3}\d{0,3}(?:\.\d{1,3})?[sdifrgxu]|\{(\w{0,40})\}/g;

/** Fills in the parameters of `order %s failed` and `order {} failed`; a template without parameters stays as it is. */
function fillParameters(template: string, params: unknown): string {
  const list = Array.isArray(params) ? params : [];
  const named = asObject(params) ?? {};
  let next = 0;
  let left = MESSAGE_LENGTH_MAX;
  const texts = new Map<unknown, string | null>();
  /** Returns the text of a parameter; one used repeatedly is converted once. */
  const textOf = (value: unknown): string | null => {
    let text = texts.get(value);
    if (text === undefined) texts.set(value, (text = asTextOrJson(value, 500)));
    return text;
  };
  return template.replace(PLACEHOLDER, (whole: string, percentName?: string, braceName?: string) => {
    const name = percentName ?? braceName ?? '';
    const isPosition = name === '' || /^\d+$/.test(name);
    const position = name === '' ? next : Number(name);
    const value: unknown = isPosition ? list[position] : Object.hasOwn(named, name) ? named[name] : undefined;
    if (name === '') next += 1;
    if (left <= 0) return whole;
    const filled = value !== undefined && isSecretName(name) ? FILTERED : (textOf(value) ?? whole);
    left -= filled.length;
    return filled;
  });
}
