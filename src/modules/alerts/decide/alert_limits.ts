import { createHash } from 'node:crypto';

import { storable, wholeCharacters } from '#modules/alerts/decide/alert_links.ts';

export const TITLE_LENGTH_MAX = 1_024;
export const KEY_LENGTH_MAX = 512;
export const DETAILS_BYTES_MAX = 64 * 1024;
const NOTE_LENGTH_MAX = 4_000;
const DETAIL_NAMES_MAX = 200;

/** Text that came out of bounds, and what was cut of it. */
export interface Cut<Value> {
  readonly value: Value;
  readonly cut: boolean;
}

/** One line without control characters, at most 1,024 characters; surrogate pairs stay whole. */
export function cutTitle(text: string): Cut<string> {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  if (line.length <= TITLE_LENGTH_MAX) return { value: line, cut: false };
  return { value: `${wholeCharacters(line, TITLE_LENGTH_MAX - 1)}…`, cut: true };
}

/**
 * Cuts a key to 512 characters. A longer one ends in its hash, so that two long keys that begin alike stay apart and the
 * same key is always cut alike.
 */
export function cutKey(text: string): Cut<string> {
  const key = text.toWellFormed().replaceAll('\0', '\u{FFFD}');
  if (key.length <= KEY_LENGTH_MAX) return { value: key, cut: false };
  const digest = createHash('sha256').update(key).digest('hex');
  return { value: `${wholeCharacters(key, KEY_LENGTH_MAX - digest.length - 1)}~${digest}`, cut: true };
}

export function cutNote(text: string): string {
  const note = storable(text).trim();
  return note.length <= NOTE_LENGTH_MAX ? note : `${wholeCharacters(note, NOTE_LENGTH_MAX - 1)}…`;
}

/** Keeps as many details, in their order, as fit (64 KiB by default); cuts a value that is too long by itself. */
export function cutDetails(
  details: Readonly<Record<string, unknown>>,
  bytesMax = DETAILS_BYTES_MAX,
): Cut<Record<string, unknown>> {
  const kept: Record<string, unknown> = {};
  let bytes = 0;
  let cut = false;
  let names = 0;
  for (const [name, value] of Object.entries(details)) {
    const text = JSON.stringify(value);
    if (text === undefined) continue;
    const length = Buffer.byteLength(text) + Buffer.byteLength(name) + 4;
    names += 1;
    if (names > DETAIL_NAMES_MAX || bytes + length > bytesMax) {
      cut = true;
      const room = bytesMax - bytes - Buffer.byteLength(name) - 16;
      if (names > DETAIL_NAMES_MAX || room < 1_000) break;
      kept[storable(name)] =
        `${wholeCharacters(storable(typeof value === 'string' ? value : text), Math.floor(room / 6))}…`;
      break;
    }
    bytes += length;
    kept[storable(name)] = JSON.parse(storable(text)) as unknown;
  }
  return { value: kept, cut };
}
