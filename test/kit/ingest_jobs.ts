import { createCipher } from '#auth/cipher.ts';
import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { type PointKind } from '#modules/metrics/decide/point.ts';
import { openExceptionIncidents } from '#modules/incidents/open_exception_incidents.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { packEvents } from '#ingest/packing/pack_events.ts';
import { packPoints } from '#ingest/packing/pack_points.ts';
import { AnnouncedSeries } from '#ingest/series/announced_series.ts';
import type { SentEvent } from '#ingest/protocols/sentry/event.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';
import { seriesKey } from '#test/kit/metrics/points.ts';
import type { GroupingRuntime } from '#modules/exceptions/grouping_runtime.ts';
import { onGroupExceptions } from '#workers/worker_role.ts';
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

/** The labels of a series go to the store again after minutes, as they do when the points are sent. */
const ANNOUNCED = new AnnouncedSeries();

/** Stores points as the worker does after they were accepted. */
export async function runStorePoints(
  runtime: Parameters<typeof onStorePoints>[0],
  serviceId: Id<'service'>,
  points: readonly PointInput[],
): Promise<void> {
  await runStoreTogether(runtime, [{ serviceId, points }]);
}

/** Stores the points of several services by one job. */
export async function runStoreTogether(
  runtime: Parameters<typeof onStorePoints>[0],
  sent: readonly { readonly serviceId: Id<'service'>; readonly points: readonly PointInput[] }[],
): Promise<void> {
  const parts = sent.map(({ serviceId, points }) => ({
    serviceId,
    points: toBatch(points),
    from: 0,
    to: points.length,
  }));
  const announcements = ANNOUNCED.begin();
  const packed = packPoints(parts, (serviceId, { key }, newestAt) => announcements.isDue(serviceId, key, newestAt));
  await onStorePoints(runtime).run(packed, { jobId: newId('job'), attempt: 1, log: silentLog });
  announcements.commit();
}

/** Groups events as the worker does, and opens the incidents of their rules. */
export async function runGroupExceptions(
  runtime: Omit<GroupingRuntime, 'onNewOrRegressed' | 'eventCipher'> & { readonly incidentLimit: IncidentLimit },
  service: { readonly orgId: Id<'org'>; readonly serviceId: Id<'service'> },
  events: readonly ExceptionEvent[],
): Promise<void> {
  const { orgId, serviceId } = service;
  const eventCipher = createCipher('a secret that is long enough');
  const packed = packEvents(
    events.map((event) => ({ orgId, serviceId, sent: asSent(event) })),
    eventCipher,
  );
  const handler = onGroupExceptions({
    ...runtime,
    eventCipher,
    onNewOrRegressed: (unit, groups) => openExceptionIncidents(unit, groups, runtime.incidentLimit),
  });
  await handler.run(packed, { jobId: newId('job'), attempt: 1, log: silentLog });
}

/** The event as a client would have sent what most tests look at. */
function asSent(event: ExceptionEvent): SentEvent {
  const { eventId, receivedAt, at, level, platform, environment, release, message, tags, user, fingerprint } = event;
  const exception = event.exceptions.map(({ type, value, module, frames }) => {
    return { type, value, module, stacktrace: { frames: frames.map(asSentFrame) } };
  });
  const timestamp = at.epochMilliseconds / 1_000;
  const payload = { timestamp, level, platform, environment, release, message, tags, user, fingerprint, exception };
  return {
    context: { eventId, receivedAt, clientIp: null, client: null },
    payload: Buffer.from(JSON.stringify(payload)),
  };
}

function asSentFrame(frame: Frame): object {
  const { module, filename, lineno, contextLine, inApp } = frame;
  return { function: frame.function, module, filename, lineno, context_line: contextLine, in_app: inApp };
}
