import type { PointKind } from '#modules/metrics/decide/point.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import type { Id } from '#kernel/ids.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import type { World } from '#test/kit/world.ts';

interface GivenSeries {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly kind?: PointKind;
  /** Time before now at which the points begin, with their distance. */
  readonly minutes: number;
  readonly everySeconds: number;
  /** The value of the point so many steps after the first; null leaves it out. */
  value(step: number): number | null;
}

let inserts = 0;

/** Stores points of these series up to the present of the world. */
export async function givenMetrics(
  { context, clock }: World,
  serviceId: Id<'service'>,
  ...given: readonly GivenSeries[]
): Promise<void> {
  const batch = new PointBatch();
  const now = clock.now().epochMilliseconds;
  for (const { name, labels = {}, kind = 'gauge', minutes, everySeconds, value } of given) {
    const pairs = Object.entries(labels)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flat();
    const series = batch.addSeries({ name, labels: pairs, key: seriesKey(name, pairs) });
    const count = Math.floor((minutes * 60) / everySeconds);
    for (let step = 0; step <= count; step += 1) {
      const measured = value(step);
      if (measured !== null) batch.add(series, now - (count - step) * everySeconds * 1_000, measured, kind);
    }
  }
  inserts += 1;
  await new MetricWriter(context.clickhouse).insert([{ serviceId, points: columnsOf(batch) }], `given-${inserts}`);
}

/** A service with a metric of two routes, one of them with a gap, and a counter. */
export async function givenCheckout(w: World): Promise<Id<'service'>> {
  const { serviceId } = await w.given.service({ name: 'checkout' });
  const route = (name: string, base: number) => ({
    name: 'http_request_duration_seconds',
    labels: { route: name },
    minutes: 90,
    everySeconds: 60,
    value: (step: number) => (name === '/pay' && step > 60 && step < 75 ? null : base),
  });
  await givenMetrics(w, serviceId, route('/pay', 0.4), route('/cart', 0.1), {
    name: 'http_requests_total',
    kind: 'counter',
    minutes: 90,
    everySeconds: 60,
    value: (step) => step * 30,
  });
  return serviceId;
}
