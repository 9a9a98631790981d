import type { DecodedPoints } from '#ingest/admission/point_admission.ts';
import { finish } from '#kernel/cooperative_task.ts';
import { decodeOtlpMetrics } from '#ingest/protocols/otlp_metrics.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import {
  bytes,
  double,
  fixed64,
  freshLimits,
  message,
  NOW,
  NOW_MS,
  number,
  pointsOf,
  varint,
  WRITE_V2_TYPE,
  writeRequestV2,
} from '#test/ingest/metric_bytes.ts';
import { seriesKey } from '#test/kit/metrics/points.ts';
import { growthOf, inOrder, type Sample } from '#test/kit/metrics/aggregate_model.ts';

export const SECOND = 1000;
const ns = (ms: number) => `${ms}000000`;

/** Sends exports one after the other, and returns what each series grew by. */
export function sender() {
  let limits = freshLimits();
  const series = new Map<string, Sample[]>();
  let overlapping = 0;
  const take = (decoded: DecodedPoints): void => {
    overlapping += decoded.overlapping.count;
    for (const { name, labels, at, value, kind } of pointsOf(decoded)) {
      const key = `${name} ${JSON.stringify(labels)}`;
      // The store keeps the last of two points of one time.
      const kept = (series.get(key) ?? []).filter((sample) => sample.at !== at);
      series.set(key, [...kept, { at, value, kind }]);
    }
    decoded.remember();
  };
  const send = (metric: object, isSentAgain = false): void => {
    const body = Buffer.from(JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] }));
    for (let times = isSentAgain ? 2 : 1; times > 0; times -= 1) {
      take(finish(decodeOtlpMetrics(body, 'application/json', NOW, limits)));
    }
  };
  return {
    sum: (startAt: number, at: number, value: number, isSentAgain = false) => {
      const point = { startTimeUnixNano: ns(startAt), timeUnixNano: ns(at), asInt: String(value) };
      send({ name: 'jobs', sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [point] } }, isSentAgain);
    },
    histogram: (startAt: number, at: number, rest: object) => {
      const point = { startTimeUnixNano: ns(startAt), timeUnixNano: ns(at), zeroCount: '0', ...rest };
      send({ name: 'pay', exponentialHistogram: { aggregationTemporality: 2, dataPoints: [point] } });
    },
    /** A native histogram with bounds of the sender's choice; a count for each bound, and one above them. */
    bounded: (
      startAt: number,
      at: number,
      ...histograms: readonly (readonly [bounds: readonly number[], counts: readonly number[], name?: string])[]
    ) => {
      const texts = ['', '__name__', 'pay', 'other'];
      const sent = histograms.map(([bounds, counts, name = 'pay']) => {
        const deltas = counts.map((count, place) => count - (counts[place - 1] ?? 0));
        const histogram = message(
          3,
          number(
            1,
            counts.reduce((sum, count) => sum + count, 0),
          ),
          number(4, 105),
          message(11, number(2, counts.length)),
          bytes(12, Buffer.concat(deltas.map((delta) => varint(delta < 0 ? -2 * delta - 1 : 2 * delta)))),
          number(15, at),
          bytes(16, Buffer.concat(bounds.map((bound) => double(0, bound).subarray(1)))),
          number(17, startAt),
        );
        return message(5, bytes(1, Buffer.from([1, texts.indexOf(name)])), histogram);
      });
      take(finish(decodePrometheusWrite(writeRequestV2(texts, ...sent), WRITE_V2_TYPE, NOW, limits)));
    },
    /** The marker of the end of a native histogram. */
    ended: (at: number) => {
      const histogram = message(3, fixed64(3, 0x7ff0000000000002n), number(4, 105), number(15, at));
      const body = writeRequestV2(['', '__name__', 'pay'], message(5, bytes(1, Buffer.from([1, 2])), histogram));
      take(finish(decodePrometheusWrite(body, WRITE_V2_TYPE, NOW, limits)));
    },
    overlapping: () => overlapping,
    /** A process that receives what is sent from now on, and knows of earlier ones which series they found shared. */
    startAnew: (shared: readonly string[] = []) => {
      limits = freshLimits();
      limits.starts.addShared(shared.map((name) => seriesKey(name, [])));
    },
    samples: (name: string) =>
      [...series]
        .filter(([key]) => key.startsWith(`${name} `))
        .flatMap(([, samples]) => inOrder(samples).flatMap(({ kind, value }) => (kind === 'counter' ? value : []))),
    grown: (name: string) =>
      [...series]
        .filter(([key]) => key === name || key.startsWith(`${name} `))
        .flatMap(([, samples]) => growthOf(inOrder(samples).filter(({ at }) => at > NOW_MS - 450 * SECOND)))
        .reduce((sum, { by }) => sum + by, 0),
  };
}
