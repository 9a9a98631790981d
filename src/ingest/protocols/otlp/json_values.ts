import type { JsonCursor } from '#ingest/protocols/body/json_cursor.ts';
import { AppError } from '#kernel/errors.ts';

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const NUMBER_BYTES_MAX = 400;
const NOT_FINITE: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);
const ZERO = 0x30;
/** Limit on the digits before the last ten, for values up to 2^63. */
const HIGH_MAX = 922_337_203;

/**
 * Protobuf's JSON mapping of a number: as a number, or as a text, as 64-bit integers are written; a missing one is null.
 * Undefined if it is neither. Reads the value at which the cursor stands.
 */
export function readNumber(cursor: JsonCursor): number | null | undefined {
  if (cursor.isNumber) return cursor.number();
  if (cursor.isNull) {
    cursor.skip();
    return null;
  }
  if (!cursor.isText) return undefined;
  cursor.readText();
  const digits = wholeNumber(cursor);
  if (digits !== -1) return digits;
  if (cursor.textEnd - cursor.textStart > NUMBER_BYTES_MAX) return undefined;
  const text = cursor.text();
  return NOT_FINITE.get(text) ?? (NUMBER.test(text) ? Number(text) : undefined);
}

/** The text read last, if it is a whole number of up to 19 digits as times and counts are; else -1. */
function wholeNumber({ bytes, textStart, textEnd }: JsonCursor): number {
  const length = textEnd - textStart;
  if (length === 0 || length > 19) return -1;
  let high = 0;
  let low = 0;
  for (let at = textStart; at < textEnd; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    if (textEnd - at > 10) high = high * 10 + digit;
    else low = low * 10 + digit;
  }
  if (high > HIGH_MAX) return -1;
  // Both are exact, so the sum is rounded once, as the number itself would be.
  return high * 1e10 + low;
}

/** An integer for a label: as a text if a number would lose digits. Undefined as in `readNumber`. */
export function readInteger(cursor: JsonCursor): number | string | null | undefined {
  const isText = cursor.isText;
  const value = readNumber(cursor);
  return isText && typeof value === 'number' && !Number.isSafeInteger(value) ? cursor.text() : value;
}

/** Names that are told apart by their bytes, without decoding them. */
export class JsonNames<Name extends string> {
  readonly #byLength: Name[][] = [];

  constructor(names: readonly Name[]) {
    for (const name of names) (this.#byLength[name.length] ??= []).push(name);
  }

  /** The one that the text read last is; undefined for any other. */
  find(cursor: JsonCursor): Name | undefined {
    const candidates = this.#byLength[cursor.textLength];
    if (candidates === undefined) return undefined;
    for (const name of candidates) if (cursor.isTextOf(name)) return name;
    return undefined;
  }
}

const OTHER_SIGNALS = ['resourceLogs', 'resourceSpans', 'resourceProfiles'] as const;

/** Skips a property of a request that is not known. Throws for another signal: its sender would take the answer for a yes. */
export function skipOfRequest(cursor: JsonCursor): void {
  const signal = OTHER_SIGNALS.find((name) => cursor.isTextOf(name));
  if (signal !== undefined) {
    throw new AppError('invalid_input', `${signal} are not kept: this address takes metrics (resourceMetrics) only`);
  }
  if (cursor.isTextOf('resource_metrics')) throw misspelt('resource_metrics', 'resourceMetrics');
  cursor.skip();
}

/** Skips a property of the metrics of a resource. Throws where a spelling of others would lose them all. */
export function skipOfResource(cursor: JsonCursor): void {
  const sent = ['scope_metrics', 'instrumentationLibraryMetrics'].find((name) => cursor.isTextOf(name));
  if (sent !== undefined) throw misspelt(sent, 'scopeMetrics');
  cursor.skip();
}

/** OTLP's JSON has names in lower camel case, and unknown ones are ignored: none of the points would be found. */
function misspelt(sent: string, meant: string): AppError {
  return new AppError('invalid_input', `${sent} is not known in OTLP's JSON: send ${meant}`);
}
