import { type ExceptionEvent, serializeEvent } from '#core/exceptions/event.ts';
import { type PointKind, PointBatch } from '#core/metrics/point.ts';
import { seriesKey } from '#core/metrics/series_key.ts';
import { packEvents } from '#ingest/packing/packed_events.ts';
import { packPoints } from '#ingest/packing/packed_points.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';
import { type GroupingRuntime, onGroupExceptions } from '#workers/group_exceptions.ts';
import { openExceptionIncidents } from '#workers/open_exception_incidents.ts';
import { onStorePoints } from '#workers/store_points.ts';

/** A point as tests write it. */
export interface PointInput {
  readonly name: string;
  readonly at: Temporal.Instant;
  readonly value: number;
  readonly kind?: PointKind;
  readonly labels?: Readonly<Record<string, string>>;
}

export function toBatch(points: readonly PointInput[]): PointBatch {
  const batch = new PointBatch();
  for (const { name, at, value, kind = 'gauge', labels = {} } of points) {
    const pairs = Object.entries(labels)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flat();
    const series = { name, labels: pairs, key: seriesKey(name, pairs) };
    batch.add(batch.addSeries(series), at.epochMilliseconds, value, kind);
  }
  return batch;
}

/** Points come out of the queue, as they would after they were accepted. */
export async function pointsArrive(
  runtime: Parameters<typeof onStorePoints>[0],
  serviceId: Id<'service'>,
  points: readonly PointInput[],
): Promise<void> {
  const batch = toBatch(points);
  const packed = packPoints([{ serviceId, points: batch, from: 0, to: batch.length }]);
  await onStorePoints(runtime).run(packed, { jobId: newId('job'), attempt: 1, log: silentLog });
}

/** Events come out of the queue, and open the incidents of rules that wait for them. */
export async function eventsArrive(
  runtime: Omit<GroupingRuntime, 'onNewOrRegressed'>,
  service: { readonly orgId: Id<'org'>; readonly serviceId: Id<'service'> },
  events: readonly ExceptionEvent[],
): Promise<void> {
  const { orgId, serviceId } = service;
  const packed = packEvents(events.map((event) => ({ orgId, serviceId, event: serializeEvent(event) })));
  const handler = onGroupExceptions({ ...runtime, onNewOrRegressed: openExceptionIncidents });
  await handler.run(packed, { jobId: newId('job'), attempt: 1, log: silentLog });
}
