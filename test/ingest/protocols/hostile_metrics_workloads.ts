import { type DecodedPoints, pointLimits } from '#ingest/admission/point_admission.ts';
import { packPoints, unpackPoints } from '#ingest/packing/pack_points.ts';
import { decodeMetricsJson } from '#ingest/protocols/metrics_json.ts';
import { decodeOtlpMetrics } from '#ingest/protocols/otlp_metrics.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import { AnnouncedSeries } from '#ingest/series/announced_series.ts';
import { NewSeriesLimiter } from '#ingest/series/new_series_limiter.ts';
import { SeriesSet } from '#ingest/series/series_quota.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { finish } from '#kernel/cooperative_task.ts';
import { encodePoints, encodeSeries } from '#modules/metrics/store/metric_writer.ts';
import { hostileMetricBodies } from '#test/ingest/protocols/hostile_metric_bodies.ts';
import { NOW, NOW_MS } from '#test/ingest/metric_bytes.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

export const DECODERS = { json: decodeMetricsJson, otlp: decodeOtlpMetrics, write: decodePrometheusWrite };
const SERVICE = 'service_01k9z8e4rnf7ktv2x5m6w0abqe' as Id<'service'>;
const JOB_POINTS = 20_000;

/** The points of a body; null if it is refused. All its series are new, and what the service may bring at once is spent. */
function decode(protocol: keyof typeof DECODERS, body: Buffer, type: string): DecodedPoints | null {
  const seriesSet = new SeriesSet();
  const pace = new NewSeriesLimiter({ now: () => NOW });
  while (pace.take());
  const allowance = {
    sign: Symbol('test'),
    pay: (bytes: number) => pace.pay(bytes),
    admit(high: number, low: number) {
      if (seriesSet.has(high, low)) return null;
      if (!pace.take()) return 'too many';
      seriesSet.addSought();
      return null;
    },
  };
  try {
    return finish(DECODERS[protocol](body, type, NOW, pointLimits(30, allowance)));
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** Handles points as the API and the worker do, up to what goes to the store. */
function handOn({ points }: DecodedPoints): void {
  const announced = new AnnouncedSeries();
  for (let from = 0; from < points.length; from += JOB_POINTS) {
    const announcements = announced.begin();
    const slice = { serviceId: SERVICE, points, from, to: Math.min(points.length, from + JOB_POINTS) };
    const packed = packPoints([slice], (_, { key }, at) => announcements.isDue(SERVICE, key, at));
    announcements.commit();
    const arrived = unpackPoints(packed);
    encodeSeries(arrived);
    encodePoints(arrived);
  }
}

const made = new Map<number, ReturnType<typeof hostileMetricBodies>>();

/** All of a size are made at once. */
function bodiesOf(size: number): ReturnType<typeof hostileMetricBodies> {
  const bodies = made.get(size) ?? hostileMetricBodies(size, NOW_MS);
  made.set(size, bodies);
  return bodies;
}

/** Workloads of an API process and a worker with bodies of about so many bytes. */
export default Object.fromEntries(
  bodiesOf(1_000).map(({ name }, index) => [
    name,
    (size) => {
      const { protocol, type, body } = bodiesOf(size)[index]!;
      return () => {
        const decoded = decode(protocol, body, type);
        if (decoded !== null) handOn(decoded);
      };
    },
  ]),
) satisfies Workloads;
