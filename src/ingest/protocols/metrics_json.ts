import { PointAdmission, type DecodedPoints, type PointLimits } from '#core/metrics/admission.ts';
import { checkBodySize } from '#ingest/protocols/body/body_size.ts';
import { decodeUtf8 } from '#ingest/protocols/body/decode_utf8.ts';
import { parseMediaType } from '#ingest/protocols/body/media_type.ts';
import { NativePoints } from '#ingest/protocols/native/native_points.ts';
import { AppError, invalidInput, type Fault } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const JSON_TYPE = 'application/json';
const LINES_TYPES: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
]);

/**
 * Tocsin's own format: `{ "points": [{ "name", "value", "at"?, "labels"? }] }` as JSON, or one point a line as NDJSON.
 * `at` is an RFC 3339 time or epoch milliseconds, and without it the point is of now. The points are gauges: they have
 * no type, and a naive `orders_total` of 59.90 is an amount more often than a counter.
 *
 * A faulty point is refused on its own, naming each of its faults. Fails with `unsupported_media_type`,
 * `payload_too_large`, or `invalid_input` when the body as a whole cannot be read.
 */
export function decodeMetricsJson(
  body: Buffer,
  contentType: string | undefined,
  now: Temporal.Instant,
  limits: PointLimits,
): DecodedPoints {
  const { type } = parseMediaType(contentType);
  if (type !== JSON_TYPE && !LINES_TYPES.has(type)) {
    throw new AppError(
      'unsupported_media_type',
      'send points as application/json, or as application/x-ndjson one a line',
    );
  }
  checkBodySize(body, limits.bodyBytesMax);
  const admission = new PointAdmission(now, limits);
  const points = new NativePoints(admission, now.epochMilliseconds);
  if (type === JSON_TYPE) readDocument(decodeUtf8(body), points);
  else readLines(decodeUtf8(body), points, admission);
  return admission.result();
}

function readDocument(text: string, points: NativePoints): void {
  for (const [i, point] of pointsOf(text).entries()) points.take(point, () => `points[${i}]`);
}

function pointsOf(text: string): readonly unknown[] {
  const document = parse(text);
  if (document === undefined) throw new AppError('invalid_input', 'the body is no JSON');
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new AppError('invalid_input', 'the body must be an object with the list "points"');
  }
  const { points, ...others } = document as { readonly points?: unknown };
  const faults: Fault[] = Object.keys(others).map((path) => ({ path, message: 'unknown property' }));
  if (!Array.isArray(points)) faults.push({ path: 'points', message: 'a list of points is expected' });
  if (faults.length > 0) throw invalidInput(faults.slice(0, FAULTS_MAX));
  return points as readonly unknown[];
}

const FAULTS_MAX = 50;

function readLines(text: string, points: NativePoints, admission: PointAdmission): void {
  let number = 0;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    number += 1;
    readLine(text.slice(start, end), number, points, admission);
    start = end + 1;
  }
}

function readLine(line: string, number: number, points: NativePoints, admission: PointAdmission): void {
  if (line.trim() === '') return;
  const place = (): string => `line ${number}`;
  if (!admission.hasRoomFor(1)) {
    admission.refuse(admission.fullMessage, place);
    return;
  }
  const point = parse(line);
  if (point === undefined) admission.refuse('a line that is no JSON', place);
  else points.take(point, place);
}

/** Undefined, which no JSON is, for what is none. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
