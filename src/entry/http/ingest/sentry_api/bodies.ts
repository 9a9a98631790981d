import type { FastifyInstance } from 'fastify';

import { invalidInput } from '#kernel/errors.ts';
import { surveyJson } from '#kernel/json_survey.ts';
import { Temporal } from '#kernel/time.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const VALUES_MAX = 100_000;
const LEVELS_MAX = 20;

/** Makes the scope parse bodies as JSON, or as a form with files, which arrives as its bytes. */
export function parseBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    parseJson(body),
  );
  scope.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  const { values, levels } = surveyJson(bytes, VALUES_MAX, LEVELS_MAX);
  if (values > VALUES_MAX || levels > LEVELS_MAX) {
    throw invalidInput([{ path: '', message: 'the body holds too many values; send less at a time' }]);
  }
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw invalidInput([{ path: '', message: 'the body is not valid JSON' }]);
  }
}

export function objectOf(body: unknown): JsonObject {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as JsonObject;
  throw invalidInput([{ path: '', message: 'send a JSON object' }]);
}

/** Returns a text that may be missing or null. Throws for another type, or if it is too long. */
export function optionalText(body: JsonObject, name: string, lengthMax: number): string | null {
  const value = body[name] ?? null;
  if (value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > lengthMax || /[\0\n\r]/.test(value)) {
    throw invalidInput([{ path: name, message: `give a text of at most ${lengthMax} characters, on one line` }]);
  }
  return value.toWellFormed();
}

export function requiredText(body: JsonObject, name: string, lengthMax: number): string {
  const text = optionalText(body, name, lengthMax)?.trim() ?? '';
  if (text === '') throw invalidInput([{ path: name, message: 'is missing' }]);
  return text;
}

export function listOfTexts(value: unknown, name: string, max: number): string[] {
  const entries: readonly unknown[] = Array.isArray(value)
    ? value
    : value === undefined || value === null
      ? []
      : [value];
  const texts = entries.filter((entry) => typeof entry === 'string');
  if (texts.length !== entries.length || texts.length > max || texts.some((text) => text.length > 250)) {
    throw invalidInput([{ path: name, message: `give a list of at most ${max} short texts` }]);
  }
  return texts;
}

/** Returns an RFC 3339 time, or null. */
export function optionalTime(body: JsonObject, name: string): Temporal.Instant | null {
  const text = optionalText(body, name, 50);
  if (text === null) return null;
  try {
    return Temporal.Instant.from(text);
  } catch {
    throw invalidInput([{ path: name, message: 'is not a time like 2027-01-31T12:00:00Z' }]);
  }
}

/** Returns an address that the console may link to; null for anything else that builds write there. */
export function optionalLink(body: JsonObject, name: string): string | null {
  const text = optionalText(body, name, 2_000);
  return text !== null && /^https?:\/\//i.test(text) ? text : null;
}
