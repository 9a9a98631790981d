import type { AppError } from '#kernel/errors.ts';
import { invalidInput } from '#kernel/errors.ts';
import { cutDepth } from '#modules/alerts/decide/shrink_json.ts';

const NO_JSON = 'the body is no JSON';

/**
 * The JSON of a body, whatever its content type says: some tools call it a form, and some send it in the field `data` of
 * one. What is nested more than 40 deep is cut, so that no alert is refused for it. Throws `invalid_input` for anything else.
 */
export function parseSentJson(bytes: Buffer, contentType: string | undefined): unknown {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  if (text.trim() === '') throw notJson('the body is empty; send JSON');
  const boundary = /^multipart\/form-data;.*boundary="?([^";]{1,200})"?/i.exec(contentType ?? '')?.[1];
  const json = boundary === undefined ? text : partNamed(text, boundary, 'data');
  try {
    return cutDepth(JSON.parse(json));
  } catch (error) {
    const field = /^application\/x-www-form-urlencoded/i.test(contentType ?? '') ? fieldOfForm(text) : null;
    if (field !== null) return parsedOr(field, error);
    throw notJson(`${NO_JSON}: ${placeOf(error)}`, error);
  }
}

function parsedOr(text: string, cause: unknown): unknown {
  try {
    return cutDepth(JSON.parse(text));
  } catch {
    throw notJson(NO_JSON, cause);
  }
}

function fieldOfForm(text: string): string | null {
  const form = new URLSearchParams(text);
  return form.get('data') ?? form.get('payload');
}

/** The content of a part of a multipart body; throws where it has none of that name. */
function partNamed(text: string, boundary: string, name: string): string {
  for (const part of text.split(`--${boundary}`)) {
    const end = part.search(/\r?\n\r?\n/);
    if (end === -1 || !new RegExp(`name="${name}"`, 'i').test(part.slice(0, end))) continue;
    return part.slice(end).trim();
  }
  throw notJson(`the form has no field "${name}" with JSON in it`);
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
