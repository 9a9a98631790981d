import { PointAdmission, type DecodedPoints, type PointLimits } from '#ingest/admission/point_admission.ts';
import { POINTS_BODY_BYTES_MAX, POINTS_MAX } from '#modules/metrics/decide/limits.ts';
import type { RefusalReason } from '#ingest/admission/refusals.ts';
import { checkBodySize } from '#ingest/protocols/body/body_size.ts';
import { JsonCheck, type JsonFault } from '#ingest/protocols/body/json_check.ts';
import { checkUtf8, JsonCursor } from '#ingest/protocols/body/json_cursor.ts';
import { parseMediaType } from '#ingest/protocols/body/media_type.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import type { MetricProtocol } from '#ingest/protocol.ts';
import { NativePoints } from '#ingest/protocols/body/native_points.ts';
import { INGEST_PATHS } from '#kernel/api_paths.ts';
import { AppError, invalidInput, type Fault } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const JSON_TYPE = 'application/json';
const MEBIBYTE = 1024 * 1024;
const COUNT = { type: 'integer', minimum: 0 };

/** Tocsin's own format. */
export const METRICS_JSON: MetricProtocol = {
  name: 'metrics_json',
  path: INGEST_PATHS.metrics_json,
  bodyBytesMax: POINTS_BODY_BYTES_MAX,
  decode: decodeMetricsJson,
  answer: ({ points, rejected: { count, reasons } }) => {
    if (points.length === 0 && count > 0) throw invalidInput(toFaults(reasons));
    const body = { accepted: points.length, rejected: count, ...(count > 0 ? { errors: reasons } : {}) };
    return { status: 202, contentType: JSON_TYPE, body: JSON.stringify(body) };
  },
  reference: {
    operationId: 'ingest_metrics',
    summary: 'Send metric points as JSON',
    description: `Also one point a line, as NDJSON. Up to ${POINTS_BODY_BYTES_MAX / MEBIBYTE} MiB and ${POINTS_MAX.toLocaleString('en')} points; gzip, deflate, br and zstd are taken. Answered once the points are stored durably in the queue. Points that cannot be taken are counted, with the reasons.`,
    schemas: {
      MetricPoints: {
        type: 'object',
        required: ['points'],
        properties: {
          points: {
            type: 'array',
            items: {
              type: 'object',
              required: ['name', 'value'],
              properties: {
                name: { type: 'string' },
                value: { type: 'number' },
                at: { description: 'RFC 3339 or epoch milliseconds; now when absent' },
                labels: { type: 'object', additionalProperties: { type: 'string' } },
              },
            },
          },
        },
      },
    },
    request: {
      [JSON_TYPE]: {
        schema: { $ref: '#/components/schemas/MetricPoints' },
        example: {
          points: [
            { name: 'queue_depth', value: 17 },
            { name: 'orders_total', value: 3, at: '2027-02-03T02:04:00Z', labels: { country: 'NL' } },
          ],
        },
      },
    },
    accepted: {
      status: 202,
      description: 'Taken.',
      content: {
        [JSON_TYPE]: {
          schema: {
            type: 'object',
            required: ['accepted', 'rejected'],
            properties: { accepted: COUNT, rejected: COUNT, errors: { type: 'array', items: { type: 'object' } } },
          },
          example: { accepted: 2, rejected: 0 },
        },
      },
    },
  },
};

function toFaults(reasons: readonly RefusalReason[]): Fault[] {
  return reasons.flatMap(({ message, places }) => places.map((path) => ({ path, message })));
}

const LINES_TYPES: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
]);

/**
 * Tocsin's own format: `{ "points": [{ "name", "value", "at"?, "labels"? }] }` as JSON, or one point per line as NDJSON.
 * `at` is an RFC 3339 time or epoch milliseconds; without it the time of arrival counts. The format has no types: a name
 * that ends in `_total` is a counter's, and so is `…_bucket` with the label `le`, unless another sender has declared its
 * type; all else is a gauge.
 *
 * A faulty point is refused by itself, with all its faults. Throws `unsupported_media_type`, `payload_too_large`, or
 * `invalid_input` when the whole body cannot be decoded.
 */
export function* decodeMetricsJson(
  body: Buffer,
  contentType: string | undefined,
  now: Temporal.Instant,
  limits: PointLimits,
): Steps<DecodedPoints> {
  const { type } = parseMediaType(contentType);
  if (type !== JSON_TYPE && !LINES_TYPES.has(type)) {
    throw new AppError(
      'unsupported_media_type',
      'send points as application/json, or as application/x-ndjson one a line',
    );
  }
  checkBodySize(body, limits.bodyBytesMax);
  checkUtf8(body);
  const admission = new PointAdmission(now, limits, { bodyBytes: body.length });
  if (type === JSON_TYPE) yield* readDocument(body, admission, now.epochMilliseconds);
  else yield* readLines(body, admission, now.epochMilliseconds);
  return admission.result();
}

/** Limit on the size of a point: twice that of one with the most labels that it may have. */
const POINT_BYTES_MAX = 256 * 1024;
/** Points or lines read between pauses; reading one takes less time than a pause. */
const PAUSE_AFTER = 128;

function* readDocument(body: Buffer, admission: PointAdmission, nowMs: number): Steps<void> {
  const check = new JsonCheck(body);
  if (!(yield* check.inSteps())) throw new AppError('invalid_input', `the body ${describeFault(check.fault)}`);
  const cursor = new JsonCursor(body, check.large);
  cursor.skipBlanks();
  const list = findPoints(cursor);
  let position = 0;
  const place = (): string => `points[${position}]`;
  const points = new NativePoints(admission, cursor, nowMs, place);
  cursor.pos = list;
  cursor.begin();
  for (; cursor.nextElement(); position += 1) {
    if (position % PAUSE_AFTER === 0) yield;
    if (admission.hasCapacityFor(1) && cursor.largeBytes <= POINT_BYTES_MAX) points.take();
    else {
      admission.refuse(
        admission.hasCapacityFor(1) ? `a point of more than ${POINT_BYTES_MAX} bytes` : admission.fullMessage,
        place,
      );
      cursor.skip();
    }
  }
}

function describeFault(fault: JsonFault | null): string {
  return fault === 'depth' ? 'cannot be read: it is nested too deeply' : 'is not JSON';
}

/** Returns the position at which the list "points" begins. Throws `invalid_input` for a document of another form. */
function findPoints(cursor: JsonCursor): number {
  if (!cursor.isObject) throw new AppError('invalid_input', 'the body must be an object with the list "points"');
  const faults: Fault[] = [];
  let list = -1;
  cursor.begin();
  while (cursor.nextName() && faults.length < FAULTS_MAX) {
    if (!cursor.isTextOf('points')) faults.push({ path: cursor.shownText(), message: 'unknown property' });
    else if (list !== -1) faults.push({ path: 'points', message: 'this list comes twice' });
    else if (cursor.isList) list = cursor.pos;
    cursor.skip();
  }
  if (list === -1) faults.push({ path: 'points', message: 'a list of points is expected' });
  if (faults.length > 0) throw invalidInput(faults);
  return list;
}

const FAULTS_MAX = 50;

const NEWLINE = 0x0a;

function* readLines(body: Buffer, admission: PointAdmission, nowMs: number): Steps<void> {
  let number = 0;
  const place = (): string => `line ${number}`;
  const check = new JsonCheck(body);
  const cursor = new JsonCursor(body, check.large);
  const points = new NativePoints(admission, cursor, nowMs, place);
  for (let start = 0; start < body.length;) {
    const end = endOfLine(body, start);
    number += 1;
    if (end > start) readLine(start, end);
    if (number % PAUSE_AFTER === 0) yield;
    start = end + 1;
  }

  function readLine(start: number, end: number): void {
    if (end - start > POINT_BYTES_MAX) {
      admission.refuse(`a line of more than ${POINT_BYTES_MAX} bytes`, place);
      return;
    }
    let first = start;
    while (first < end && BLANKS.has(body[first] ?? 0)) first += 1;
    if (first === end) return;
    if (!admission.hasCapacityFor(1)) {
      admission.refuse(admission.fullMessage, place);
      return;
    }
    if (!check.isSound(first, end)) {
      admission.refuse('a line that is not JSON', place);
      return;
    }
    cursor.pos = first;
    points.take();
  }
}

/**
 * Length up to which lines are searched byte by byte: `indexOf` takes 21 ns however short a line is, which is 10 ns a
 * byte where a sender fills a body with lines of one byte.
 */
const SHORT_LINE_BYTES = 16;

function endOfLine(bytes: Buffer, start: number): number {
  const near = Math.min(bytes.length, start + SHORT_LINE_BYTES);
  let at = start;
  while (at < near && bytes[at] !== NEWLINE) at += 1;
  if (at < near || at === bytes.length) return at;
  const index = bytes.indexOf(NEWLINE, at);
  return index === -1 ? bytes.length : index;
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);
