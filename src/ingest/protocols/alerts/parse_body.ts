import type { AppError } from '#kernel/errors.ts';
import { invalidInput } from '#kernel/errors.ts';
import { cutDepth } from '#modules/alerts/decide/shrink_json.ts';

const NO_JSON = 'the body is no JSON';

/**
 * The JSON of a body, whatever its content type says: also in the field `data` or `payload` of a form; else the fields of a
 * form. What is nested more than 40 deep is cut, so that no alert is refused for it. Throws `invalid_input` for the rest.
 */
export function parseSentJson(bytes: Buffer, contentType: string | undefined): unknown {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  if (text.trim() === '') throw notJson('the body is empty; send JSON');
  const boundary = /^multipart\/form-data;.*boundary="?([^";]{1,200})"?/i.exec(contentType ?? '')?.[1];
  if (boundary !== undefined) return ofFields(fieldsOfParts(text, boundary));
  try {
    return cutDepth(JSON.parse(text));
  } catch (error) {
    if (/^application\/x-www-form-urlencoded/i.test(contentType ?? '')) {
      return ofFields(new Map(new URLSearchParams(text)), error);
    }
    // Zabbix's script for SIGNL4 calls a field JSON.
    const field = /^\s*payload=(\{.*\})\s*$/s.exec(text)?.[1];
    if (field !== undefined) return parsedOr(field, error);
    throw notJson(`${NO_JSON}: ${placeOf(error)}`, error);
  }
}

/** Fields of a form beyond which it is none. */
const FIELDS_MAX = 200;

function ofFields(fields: ReadonlyMap<string, string>, cause?: unknown): unknown {
  const json = fields.get('data') ?? fields.get('payload');
  if (json !== undefined) return parsedOr(json, cause);
  const texts = [...fields].filter(([, text]) => text.trim() !== '').slice(0, FIELDS_MAX);
  if (texts.length === 0) throw notJson(`${NO_JSON}, and no form with fields`, cause);
  return Object.fromEntries(texts);
}

function parsedOr(text: string, cause: unknown): unknown {
  try {
    return cutDepth(JSON.parse(text));
  } catch {
    throw notJson(NO_JSON, cause);
  }
}

function fieldsOfParts(text: string, boundary: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const part of text.split(`--${boundary}`, FIELDS_MAX + 2)) {
    const end = part.search(/\r?\n\r?\n/);
    const name = end === -1 ? undefined : /\bname="([^"]{1,200})"/i.exec(part.slice(0, end))?.[1];
    if (name !== undefined) fields.set(name, part.slice(end).trim());
  }
  return fields;
}

/** Describes where the reader gave up, without quoting what was sent. */
function placeOf(error: unknown): string {
  const place = error instanceof SyntaxError ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return place === undefined ? 'it ends too soon, or is something else' : `it is malformed at character ${place}`;
}

function notJson(message: string, cause?: unknown): AppError {
  const refusal = invalidInput([{ path: '', message }]);
  refusal.cause = cause;
  return refusal;
}
