import { PointAdmission, type DecodedPoints, type PointLimits } from '#ingest/admission/point_admission.ts';
import { POINTS_BODY_BYTES_MAX } from '#modules/metrics/decide/limits.ts';
import { describeRejected, describeSharedSeries, NOTHING_SHARED } from '#ingest/admission/refusals.ts';
import { checkBodySize } from '#ingest/protocols/body/body_size.ts';
import { parseMediaType } from '#ingest/protocols/body/media_type.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import type { EncodedAnswer, MetricProtocol } from '#ingest/protocol.ts';
import { OtlpJsonDecoder } from '#ingest/protocols/otlp/json.ts';
import { MetricMapper } from '#ingest/protocols/otlp/metric_mapper.ts';
import { OtlpProtobufDecoder } from '#ingest/protocols/otlp/protobuf.ts';
import { encodeBytes, encodeVarint } from '#ingest/protocols/body/protobuf_wire.ts';
import { describeTypeChanges, TypeChanges } from '#ingest/series/metric_types.ts';
import { RequestScopes } from '#ingest/series/series_starts.ts';
import { INGEST_PATHS } from '#kernel/api_paths.ts';
import { AppError, ERROR_CODES, type ErrorCode } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/x-protobuf';
const BINARY = { type: 'string', contentMediaType: 'application/octet-stream' };
const EITHER = { [PROTOBUF_TYPE]: { schema: BINARY }, [JSON_TYPE]: { schema: { type: 'object' } } };

/** Exporters give up at once when they are asked to wait for longer than their time limit, which is 10 s. */
export const OTLP_RETRY_SECONDS_MAX = 5;

/** OTLP over HTTP. */
export const OTLP_METRICS: MetricProtocol = {
  name: 'otlp_metrics',
  path: INGEST_PATHS.otlp_metrics,
  bodyBytesMax: POINTS_BODY_BYTES_MAX,
  retrySecondsMax: OTLP_RETRY_SECONDS_MAX,
  decode: decodeOtlpMetrics,
  answer: (decoded, contentType) => ({ status: 200, ...encodeOtlpAnswer(decoded, contentType) }),
  refusal: encodeOtlpRefusal,
  reference: {
    operationId: 'ingest_otlp_metrics',
    summary: 'Send metrics by OTLP over HTTP',
    description:
      'An ExportMetricsServiceRequest as protobuf or JSON, answered in kind with what was rejected. 429 and 503 ask to come back; what is refused otherwise would be refused again.',
    request: EITHER,
    accepted: { status: 200, description: 'Taken; `partialSuccess` counts what was not.', content: EITHER },
    refused: {
      description: 'Refused; the body is a google.rpc.Status.',
      content: {
        [PROTOBUF_TYPE]: { schema: BINARY },
        [JSON_TYPE]: {
          schema: {
            type: 'object',
            properties: { code: { type: 'integer', minimum: 0 }, message: { type: 'string' } },
            required: ['code', 'message'],
          },
        },
      },
    },
  },
};

/**
 * OTLP/HTTP metrics: an inflated ExportMetricsServiceRequest in protobuf or JSON, depending on its content type. Sums,
 * gauges and summaries become points under their own names; histograms become `_bucket{le}`, `_sum`, `_count`, `_min` and
 * `_max`. Attributes become labels, as do the resource attributes that distinguish senders, and the scope as
 * `otel_scope_name` and `otel_scope_<attribute>`, with its version where one resource has several. A body in which this
 * turns out is read once more, as the versions may stand behind the points.
 *
 * Throws `unsupported_media_type`, `payload_too_large`, or `invalid_input` when the body cannot be decoded at all.
 */
export function* decodeOtlpMetrics(
  body: Buffer,
  contentType: string | undefined,
  now: Temporal.Instant,
  limits: PointLimits,
): Steps<DecodedPoints> {
  const isJson = isJsonType(contentType);
  checkBodySize(body, limits.bodyBytesMax);
  const scopes = new RequestScopes(limits.starts.scopes);
  const typeChanges = new TypeChanges();
  for (;;) {
    const mixed = scopes.mixed.size;
    const admission = new PointAdmission(now, limits, { bodyBytes: body.length, typeChanges });
    const mapper = new MetricMapper(admission, now.epochMilliseconds, scopes);
    if (isJson) yield* new OtlpJsonDecoder(body, admission, mapper).decode();
    else yield* new OtlpProtobufDecoder(body, admission, mapper).decode();
    if (scopes.mixed.size > mixed) continue;
    const decoded = admission.result();
    const remember = (): void => {
      decoded.remember();
      scopes.remember();
    };
    return { ...decoded, remember, shared: mapper.shared.result() };
  }
}

/** The ExportMetricsServiceResponse that goes with status 200, in the encoding of the request. */
export function encodeOtlpAnswer(
  decoded: Pick<DecodedPoints, 'rejected' | 'typeChanges' | 'shared'>,
  contentType: string | undefined,
): EncodedAnswer {
  const { rejected } = decoded;
  const message = messageOf(decoded);
  if (isJsonType(contentType)) {
    // Protobuf's JSON mapping writes 64-bit integers as strings.
    const partialSuccess = { rejectedDataPoints: String(rejected.count), errorMessage: message };
    return { contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(message === '' ? {} : { partialSuccess })) };
  }
  const partialSuccess = Buffer.concat([encodeVarint(1, rejected.count), encodeBytes(2, message)]);
  return { contentType: PROTOBUF_TYPE, body: message === '' ? Buffer.alloc(0) : encodeBytes(1, partialSuccess) };
}

/**
 * Returns the message of the response: with nothing rejected it is a warning, as OTLP defines it. Empty if there is
 * nothing to report.
 */
function messageOf({
  rejected,
  typeChanges,
  shared = NOTHING_SHARED,
}: Pick<DecodedPoints, 'rejected' | 'typeChanges' | 'shared'>): string {
  const sentences = [
    ...(rejected.count === 0 ? [] : [describeRejected(rejected)]),
    ...(shared.count === 0 ? [] : [describeSharedSeries(shared)]),
    ...(typeChanges.count === 0 ? [] : [describeTypeChanges(typeChanges)]),
  ];
  return sentences.join('. ');
}

/** The google.rpc.Code of each HTTP status. Senders decide by the status whether to retry. */
const RPC_CODES: Readonly<Record<(typeof ERROR_CODES)[ErrorCode], number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  409: 3,
  413: 3,
  415: 3,
  429: 8,
  500: 13,
  503: 14,
};

export const rpcCodeOf = (code: ErrorCode): number => RPC_CODES[ERROR_CODES[code]];

/** Signals of OTLP that are not taken, by the path of each and the service of gRPC. */
export const OTHER_SIGNALS = [
  { signal: 'logs', path: 'v1/logs', rpc: 'opentelemetry.proto.collector.logs.v1.LogsService' },
  { signal: 'traces', path: 'v1/traces', rpc: 'opentelemetry.proto.collector.trace.v1.TraceService' },
  {
    signal: 'profiles',
    path: 'v1development/profiles',
    rpc: 'opentelemetry.proto.collector.profiles.v1development.ProfilesService',
  },
] as const;

/** Returns the error for data of another signal. It is final, so that no exporter sends it again. */
export function signalNotTaken(signal: (typeof OTHER_SIGNALS)[number]['signal']): AppError {
  const setting = signal === 'profiles' ? '' : `, or set OTEL_${signal.toUpperCase()}_EXPORTER=none`;
  return new AppError(
    'not_found',
    `${signal} are not taken here, only metrics: remove this exporter from the pipeline for ${signal}${setting}`,
  );
}

/**
 * The google.rpc.Status that OTLP/HTTP requires in the body of every 4xx and 5xx, in the encoding of the request. Null if
 * the request has neither encoding, which no OTLP exporter sends.
 */
export function encodeOtlpRefusal({ code, message }: AppError, contentType: string | undefined): EncodedAnswer | null {
  const { type } = parseMediaType(contentType);
  const status = { code: rpcCodeOf(code), message };
  if (type === JSON_TYPE) return { contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(status)) };
  if (type !== PROTOBUF_TYPE) return null;
  return { contentType: PROTOBUF_TYPE, body: Buffer.concat([encodeVarint(1, status.code), encodeBytes(2, message)]) };
}

function isJsonType(contentType: string | undefined): boolean {
  const { type } = parseMediaType(contentType);
  if (type === JSON_TYPE) return true;
  if (type === PROTOBUF_TYPE) return false;
  throw new AppError('unsupported_media_type', `send OTLP metrics as ${PROTOBUF_TYPE} or ${JSON_TYPE}`);
}
