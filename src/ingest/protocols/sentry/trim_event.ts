import { TRIMMED_PARTS, type TrimmedPart } from '#modules/exceptions/decide/event.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import { endOfString } from '#kernel/json_survey.ts';

/** Limit on events that are trimmed: no real client sends more, and scanning this much takes a few milliseconds. */
const TRIMMED_BYTES_MAX = 8 * 1024 * 1024;
const CUTS_MAX = 20_000;
const REST_AFTER_BYTES = 256 * 1024;
/** Smallest value that is worth removing. */
const CUT_BYTES_LEAST = 16;
const NAME_BYTES_MAX = 12;
const LEVELS_MAX = 64;

const FRAME_PARTS: ReadonlyMap<string, TrimmedPart> = new Map([
  ['vars', 'variables'],
  ['pre_context', 'context lines'],
  ['post_context', 'context lines'],
]);

/** Frames also come as a bare list. */
const FRAME_LISTS: ReadonlySet<string> = new Set(['frames', 'stacktrace']);

/** A value to remove: from `start` up to `end`. */
interface Cut {
  readonly kind: TrimmedPart;
  readonly start: number;
  readonly end: number;
}

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [BRACE, BRACKET, BRACE_END, BRACKET_END] = [0x7b, 0x5b, 0x7d, 0x5d];
const NULL = Buffer.from('null');

interface TrimmedEvent {
  readonly payload: Buffer;
  /** Parts that were removed; null if nothing had to be. */
  readonly trimmed: readonly TrimmedPart[] | null;
}

/**
 * The JSON of an event without the variables of its frames, then without the lines around them, then without its
 * breadcrumbs, as much as it takes to come to `bytesMax`. Null where that is not enough.
 */
export function* trimEvent(payload: Buffer, bytesMax: number): Steps<TrimmedEvent | null> {
  if (payload.length <= bytesMax) return { payload, trimmed: null };
  if (payload.length > TRIMMED_BYTES_MAX) return null;
  const cuts = yield* findCuts(payload);
  const left = new Set<TrimmedPart>();
  for (const kind of TRIMMED_PARTS) {
    left.add(kind);
    const made = cuts.filter((cut) => left.has(cut.kind));
    const saved = made.reduce((sum, { start, end }) => sum + end - start - NULL.length, 0);
    if (payload.length - saved <= bytesMax) {
      const trimmed = TRIMMED_PARTS.filter((part) => made.some((cut) => cut.kind === part));
      return { payload: withoutCuts(payload, made, payload.length - saved), trimmed };
    }
  }
  return null;
}

function withoutCuts(payload: Buffer, cuts: readonly Cut[], length: number): Buffer {
  const trimmed = Buffer.allocUnsafeSlow(length);
  let at = 0;
  let from = 0;
  for (const { start, end } of cuts) {
    at += payload.copy(trimmed, at, from, start);
    at += NULL.copy(trimmed, at);
    from = end;
  }
  payload.copy(trimmed, at, from);
  return trimmed;
}

/** Scans the text once. If it is not JSON, parsing it fails later. */
function* findCuts(bytes: Buffer): Steps<readonly Cut[]> {
  const cuts: Cut[] = [];
  let restAt = 0;
  /** The name under which each container that is open stands, and what it is. */
  const names: string[] = [];
  const isObject: boolean[] = [];
  let name = '';
  let isName = false;
  let open: { readonly kind: TrimmedPart; readonly start: number; readonly level: number } | null = null;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    const level = names.length;
    if (at >= restAt) {
      restAt = at + REST_AFTER_BYTES;
      yield;
    }
    if (byte === QUOTE) {
      const start = at;
      at = endOfString(bytes, at);
      if (isName) name = at - start > NAME_BYTES_MAX ? '' : bytes.toString('latin1', start + 1, at);
    } else if (byte === COLON && isName) {
      isName = false;
      const kind: TrimmedPart | null = open === null ? partOf(names, name) : null;
      if (kind !== null && cuts.length < CUTS_MAX) open = { kind, start: at + 1, level };
    } else if (byte === BRACE || byte === BRACKET) {
      if (level >= LEVELS_MAX) return [];
      names.push(name);
      isObject.push(byte === BRACE);
      isName = byte === BRACE;
      name = '';
    } else if (byte === COMMA || byte === BRACE_END || byte === BRACKET_END) {
      if (open?.level === level) {
        if (at - open.start >= CUT_BYTES_LEAST) cuts.push({ kind: open.kind, start: open.start, end: at });
        open = null;
      }
      if (byte !== COMMA) {
        names.pop();
        isObject.pop();
      }
      isName = byte === COMMA && isObject.at(-1) === true;
      name = '';
    }
  }
  return cuts;
}

/** Whether a value under this name, in an object that stands where `names` say, may be left out. */
function partOf(names: readonly string[], name: string): TrimmedPart | null {
  if (names.length === 1) return name === 'breadcrumbs' ? 'breadcrumbs' : null;
  return FRAME_LISTS.has(names.at(-2) ?? '') ? (FRAME_PARTS.get(name) ?? null) : null;
}
