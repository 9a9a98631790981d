import { PointAdmission, type DecodedPoints, type PointLimits } from '#ingest/admission/point_admission.ts';
import { POINTS_BODY_BYTES_MAX, POINTS_MAX } from '#core/metrics/limits.ts';
import type { RefusalReason } from '#ingest/admission/refusals.ts';
import { checkBodySize } from '#ingest/protocols/body/body_size.ts';
import { checkUtf8 } from '#ingest/protocols/body/decode_utf8.ts';
import { JSON_VALUES_MAX, parseInSteps, UnreasonableJson } from '#ingest/protocols/body/json_in_steps.ts';
import { parseMediaType } from '#ingest/protocols/body/media_type.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';
import type { MetricProtocol } from '#ingest/metric_protocol.ts';
import { NativePoints } from '#ingest/protocols/native/native_points.ts';
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
  isInflated: true,
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
 * `at` is an RFC 3339 time or epoch milliseconds; without it the time of arrival counts. All points are gauges: the format
 * has no types, and a hand-made `orders_total` of 59.90 is more often an amount than a counter.
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
  const admission = new PointAdmission(now, limits);
  const points = new NativePoints(admission, now.epochMilliseconds);
  checkUtf8(body);
  if (type === JSON_TYPE) yield* readDocument(body, points, admission);
  else yield* readLines(body, points, admission);
  return admission.result();
}

/** Reading a point or a line takes less time than a pause. */
const PAUSE_AFTER = 128;

function* readDocument(body: Buffer, points: NativePoints, admission: PointAdmission): Steps<void> {
  const list = pointsOf(yield* parseDocument(body));
  for (const [i, point] of list.entries()) {
    if (!admission.hasCapacityFor(1)) {
      admission.refuse(admission.fullMessage, () => `points[${i}]`, list.length - i);
      return;
    }
    points.take(point, () => `points[${i}]`);
    if (i % PAUSE_AFTER === 0) yield;
  }
}

function* parseDocument(body: Buffer): Steps<unknown> {
  try {
    return yield* parseInSteps(body, JSON_VALUES_MAX);
  } catch (cause) {
    const why = cause instanceof UnreasonableJson ? `cannot be read: ${cause.message}` : 'is not JSON';
    throw new AppError('invalid_input', `the body ${why}`, { cause });
  }
}

function pointsOf(document: unknown): readonly unknown[] {
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

const NEWLINE = 0x0a;
/** Twice the size of a point with the most labels that it may have. */
const LINE_BYTES_MAX = 256 * 1024;

function* readLines(body: Buffer, points: NativePoints, admission: PointAdmission): Steps<void> {
  let number = 0;
  for (let start = 0; start < body.length;) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline === -1 ? body.length : newline;
    number += 1;
    if (end > start) readLine(body.subarray(start, end), number, points, admission);
    if (number % PAUSE_AFTER === 0) yield;
    start = end + 1;
  }
}

function readLine(bytes: Buffer, number: number, points: NativePoints, admission: PointAdmission): void {
  const place = (): string => `line ${number}`;
  if (bytes.length > LINE_BYTES_MAX) {
    admission.refuse(`a line of more than ${LINE_BYTES_MAX} bytes`, place);
    return;
  }
  const start = bytes.findIndex((byte) => !BLANKS.has(byte));
  if (start === -1) return;
  if (!admission.hasCapacityFor(1)) {
    admission.refuse(admission.fullMessage, place);
    return;
  }
  const point = parse(bytes.subarray(start));
  if (point === undefined) admission.refuse('a line that is not JSON', place);
  else points.take(point, place);
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);
const [BRACE, BRACE_END] = [0x7b, 0x7d];
/** `{ [ " -`, digits, and the first letters of true, false and null. */
const STARTS: ReadonlySet<number | undefined> = new Set(Buffer.from('{["-0123456789tfn'));

/** Undefined if it is not JSON. */
function parse(bytes: Buffer): unknown {
  // JSON.parse takes 800 ns to throw, so most lines that are not JSON are refused by a look at them.
  if (!STARTS.has(bytes[0]) || (bytes[0] === BRACE && bytes.lastIndexOf(BRACE_END) === -1)) return undefined;
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
