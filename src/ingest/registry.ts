import type { DecodedPoints, PointLimits } from '#ingest/admission/point_admission.ts';
import { describeRejected, type RefusalReason } from '#ingest/admission/refusals.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';
import { decodeMetricsJson } from '#ingest/protocols/metrics_json.ts';
import {
  decodeOtlpMetrics,
  type EncodedAnswer,
  encodeOtlpAnswer,
  encodeOtlpRefusal,
} from '#ingest/protocols/otlp_metrics.ts';
import type { SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

/** What a sender is told. */
export interface ProtocolAnswer {
  readonly status: number;
  /** Null where there is no body. */
  readonly contentType: string | null;
  readonly body: string | Buffer;
}

/** A way to send metrics: an address, how its bodies are read and how they are answered. */
export interface MetricProtocol {
  /** The name of its file in protocols/. */
  readonly name: string;
  readonly path: string;
  /** False where Content-Encoding belongs to the protocol and the decoder undoes it. */
  readonly isInflated: boolean;
  /** Throws an AppError for a body that cannot be read at all; a point that cannot be taken is only counted. */
  readonly decode: (
    body: Buffer,
    contentType: string | undefined,
    now: Temporal.Instant,
    limits: PointLimits,
    /** What requests before this one have brought; one for all that a process takes. */
    memory: SeriesMemory,
  ) => Steps<DecodedPoints>;
  /** May throw `invalid_input` when nothing could be taken. */
  readonly answer: (decoded: DecodedPoints, contentType: string | undefined) => ProtocolAnswer;
  /** The body of a refusal where the protocol prescribes one. Without it, or where it gives null, it is a problem. */
  readonly refusal?: (error: AppError, contentType: string | undefined) => EncodedAnswer | null;
}

/** Every protocol that brings metrics; the Sentry protocol, which brings exceptions, has its own door. */
export const METRIC_PROTOCOLS: readonly MetricProtocol[] = [
  {
    name: 'metrics_json',
    path: '/api/ingest/metrics',
    isInflated: true,
    decode: decodeMetricsJson,
    answer: ({ points, rejected: { count, reasons } }) => {
      if (points.length === 0 && count > 0) throw invalidInput(toFaults(reasons));
      const body = { accepted: points.length, rejected: count, ...(count > 0 ? { errors: reasons } : {}) };
      return { status: 202, contentType: 'application/json', body: JSON.stringify(body) };
    },
  },
  {
    name: 'otlp_metrics',
    path: '/api/ingest/otlp/v1/metrics',
    isInflated: true,
    decode: decodeOtlpMetrics,
    answer: ({ rejected }, contentType) => ({ status: 200, ...encodeOtlpAnswer(rejected, contentType) }),
    refusal: encodeOtlpRefusal,
  },
  {
    name: 'prometheus_write',
    path: '/api/ingest/prometheus/write',
    isInflated: false,
    decode: decodePrometheusWrite,
    // The protocol cannot refuse a part; Prometheus logs the text of a 400 and gives the request up.
    answer: ({ points, rejected }) => {
      if (points.length === 0 && rejected.count > 0) throw new AppError('invalid_input', describeRejected(rejected));
      return { status: 204, contentType: null, body: '' };
    },
  },
];

function toFaults(reasons: readonly RefusalReason[]): Fault[] {
  return reasons.flatMap(({ message, places }) => places.map((path) => ({ path, message })));
}
