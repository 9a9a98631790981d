import type { Cipher } from '#auth/cipher.ts';
import { POINT_BYTES, type PointBatch } from '#ingest/admission/point_batch.ts';
import { Batcher } from '#ingest/batcher.ts';
import type { DiskSpace } from '#ingest/disk_space.ts';
import { type AcceptedEvent, packEvents } from '#ingest/packing/pack_events.ts';
import { packPoints, type PointSlice } from '#ingest/packing/pack_points.ts';
import { fromSpooled, toSpooled } from '#ingest/packing/spooled_job.ts';
import type { SentEvent } from '#ingest/protocols/sentry/event.ts';
import { QueueCircuitBreaker } from '#ingest/queue_circuit_breaker.ts';
import { QueueDepth } from '#ingest/queue_depth.ts';
import { Replayer } from '#ingest/replayer.ts';
import { AnnouncedSeries } from '#ingest/series/announced_series.ts';
import { Spool } from '#ingest/spool.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import { inSpan, type TracedSpan } from '#kernel/tracing.ts';
import { waitForAll } from '#kernel/promises.ts';
import type { DurableQueue, NewDurableJob } from '#storage/queue/durable_queue.ts';
import { groupExceptions, storePoints } from '#storage/queue/jobs.ts';

export interface Owner {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
}

/** Accepts data for the workers. A method returns once the data is stored durably. */
export interface Intake {
  /** Throws `unavailable` when too much waits in memory or in the queue, and when the queue does not answer. */
  acceptPoints(owner: Owner, points: PointBatch): Promise<void>;
  /**
   * Accepts events like `acceptPoints`, but Sentry's clients never retry, so events wait on disk while the queue
   * refuses them.
   */
  acceptEvents(owner: Owner, events: readonly SentEvent[]): Promise<void>;
  /** Stores what waits in memory; accepts nothing more. */
  close(): Promise<void>;
}

interface IntakeOptions {
  readonly queue: Pick<DurableQueue, 'addDurable' | 'pingStore' | 'durableBytes'>;
  /** Limit on the bytes that wait in the queue; Infinity for no limit. */
  readonly queueBytesMax?: number;
  /** The disk on which data waits. */
  readonly disk?: Pick<DiskSpace, 'requireCapacity'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Encrypts events that wait. */
  readonly cipher: Pick<Cipher, 'seal'>;
  /** Folder in which events wait while the queue is unavailable or full. */
  readonly spoolFolder: string;
  readonly spoolBytesMax?: number;
  /** Returns the number of ingesting processes, including this one. */
  readonly processes?: () => number;
  /** Called with the time since which events wait there; null when none do. */
  readonly reportSpooled?: (oldestAt: Temporal.Instant | null) => Promise<void>;
  /** Called with how many series this process did not know, each time it has taken points in. */
  readonly onNewSeries?: (count: number) => void;
}

const LINGER_MS = 2;
/**
 * Intervals between jobs of events and of points, with their maxima. Clients wait for the response to an event; senders
 * of points tolerate more. With several processes each receives a share of the data, and batches it for longer, so that
 * they do not make many small jobs of it.
 */
const EVENTS_EVERY_MS = 8;
const EVENTS_EVERY_MS_MAX = 64;
const POINTS_EVERY_MS = 25;
const POINTS_EVERY_MS_MAX = 200;
const COMMITS_MAX = 2;
/** The events of one job, before they are packed. */
const JOB_BYTES_MAX = 1024 * 1024;
/** A few hundred kilobytes once packed, and four times as much if all series are new. */
const JOB_POINTS_MAX = 20_000;
const JOB_EVENTS_MAX = 200;
/** Approximate memory that a series takes before packing. */
const SERIES_BYTES = 150;

const SPOOL_BYTES_MAX = 256 * 1024 * 1024;
/** Interval at which the spool is checked for entries of a process that has died. */
const SPOOL_CHECK_MS = 30_000;

export function openIntake(options: IntakeOptions): Intake {
  const {
    queue,
    queueBytesMax = Infinity,
    disk,
    clock,
    log,
    cipher,
    spoolFolder,
    spoolBytesMax = SPOOL_BYTES_MAX,
  } = options;
  const { reportSpooled = async () => {}, processes = () => 1, onNewSeries = () => {} } = options;
  const budget = new IntakeBudget();
  const spool = new Spool({ folder: spoolFolder, bytesMax: spoolBytesMax });
  const depth = new QueueDepth({
    bytesMax: queueBytesMax,
    measure: (bytesOfInterest) => queue.durableBytes(bytesOfInterest),
    log,
    onCapacity: () => replayer.run(),
  });
  const breaker = new QueueCircuitBreaker({ queue, depth, clock, log, onRecovery: () => replayer.run() });
  const addEvents = (jobs: readonly NewDurableJob[]): Promise<void> => breaker.addDurable(groupExceptions, jobs);
  const replayer = new Replayer(spool, {
    add: (spooled) => addEvents([fromSpooled(spooled)]),
    reportOldest: reportSpooled,
    log,
  });
  const announced = new AnnouncedSeries();
  const points = new Batcher<OwnedSlice>({
    lingerMs: LINGER_MS,
    everyMs: () => Math.min(POINTS_EVERY_MS * processes(), POINTS_EVERY_MS_MAX),
    itemsMax: Infinity,
    max: { bytes: Infinity, count: JOB_POINTS_MAX },
    commitsMax: COMMITS_MAX,
    weigh: (slice) => ({ bytes: 0, count: weightOf(slice) }),
    commit: async (slices) => {
      // Packing many points takes milliseconds, so other requests that have just arrived go first.
      if (slices.some((slice) => weightOf(slice) > JOB_POINTS_MAX / 4)) await nextTurn();
      const announcements = announced.begin();
      const jobs = byService(slices).map(({ orgId, serviceId, ofService }) => {
        const items = ofService.reduce((sum, { from, to }) => sum + to - from, 0);
        const bytes = packPoints(ofService, (_, { key }, newestAt) => announcements.isDue(serviceId, key, newestAt));
        return { orgId, serviceId, items, bytes };
      });
      await breaker.addDurable(storePoints, jobs);
      for (const { bytes } of jobs) freeBytes(bytes);
      onNewSeries(announcements.commit());
    },
  });
  const events = new Batcher<AcceptedEvent>({
    lingerMs: LINGER_MS,
    everyMs: () => Math.min(EVENTS_EVERY_MS * processes(), EVENTS_EVERY_MS_MAX),
    itemsMax: Infinity,
    max: { bytes: JOB_BYTES_MAX, count: JOB_EVENTS_MAX },
    commitsMax: COMMITS_MAX,
    weigh: ({ sent }) => ({ bytes: sent.payload.length, count: 1 }),
    commit: async (accepted) => {
      const jobs = byService(accepted).map(({ orgId, serviceId, ofService }) => {
        return { orgId, serviceId, items: ofService.length, bytes: packEvents(ofService, cipher) };
      });
      try {
        await addEvents(jobs);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        for (const job of jobs) await spool.write(toSpooled(job));
      }
    },
  });
  const spoolCheck = setInterval(() => replayer.run(), SPOOL_CHECK_MS);
  replayer.run();
  return {
    async acceptPoints({ orgId, serviceId }, batch) {
      disk?.requireCapacity();
      const slices = slicesOf({ orgId, serviceId }, batch);
      const bytes = slices.reduce((sum, slice) => sum + bytesOf(slice), 0);
      await budget.hold(serviceId, bytes, () => waitForAll(slices.map((slice) => points.add(slice))));
    },
    async acceptEvents({ orgId, serviceId }, sentEvents) {
      disk?.requireCapacity();
      const bytes = sentEvents.reduce((sum, { payload }) => sum + payload.length, 0);
      await inSpan(`enqueue ${groupExceptions.name}`, { kind: 'producer' }, async (span) => {
        const accepted = sentEvents.map((sent) => ({ orgId, serviceId, sent: traced(sent, span) }));
        await budget.hold(serviceId, bytes, () => waitForAll(accepted.map((event) => events.add(event))));
      });
    },
    async close() {
      clearInterval(spoolCheck);
      await Promise.all([points.drain(), events.drain(), replayer.stop()]);
      breaker.close();
      await depth.close();
    },
  };
}

/** The event on its way carries the trace of its request. */
function traced({ context, payload }: SentEvent, span: TracedSpan | null): SentEvent {
  return { context: span === null ? context : { ...context, traceparent: span.traceparent }, payload };
}

interface OwnedSlice extends PointSlice {
  readonly orgId: Id<'org'>;
}

/** Groups items into one job per service, so that workers can schedule services fairly. */
function byService<Item extends Owner>(
  items: readonly Item[],
): readonly (Owner & { readonly ofService: readonly Item[] })[] {
  return [...Map.groupBy(items, ({ serviceId }) => serviceId).values()].flatMap((ofService) => {
    const [first] = ofService;
    return first === undefined ? [] : [{ orgId: first.orgId, serviceId: first.serviceId, ofService }];
  });
}

/** A request of many points becomes several jobs. */
function slicesOf(owner: Owner, points: PointBatch): OwnedSlice[] {
  const pointsMax = isOfManySeries(points) ? JOB_POINTS_MAX / SERIES_WEIGHT : JOB_POINTS_MAX;
  const count = Math.ceil(points.length / pointsMax);
  return Array.from({ length: count }, (_, index) => ({
    ...owner,
    points,
    from: index * pointsMax,
    to: Math.min(points.length, (index + 1) * pointsMax),
  }));
}

/** Weight of a point whose series may be announced: packing it takes as long as packing this many others. */
const SERIES_WEIGHT = 5;

function isOfManySeries(points: PointBatch): boolean {
  return points.length > JOB_POINTS_MAX / SERIES_WEIGHT && points.series.length * 2 > points.length;
}

function weightOf({ points, from, to }: PointSlice): number {
  return (to - from) * (isOfManySeries(points) ? SERIES_WEIGHT : 1);
}

function bytesOf({ points, from, to }: PointSlice): number {
  return (to - from) * POINT_BYTES + Math.min(to - from, points.series.length) * SERIES_BYTES;
}

const TOTAL_BYTES_MAX = 96 * 1024 * 1024;
/** A service that floods leaves space for the others. */
const SERVICE_BYTES_MAX = 48 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 2;

/** Limits the data that waits in memory to be stored. */
class IntakeBudget {
  #total = 0;
  readonly #services = new Map<Id<'service'>, number>();

  /**
   * Reserves `bytes` for the service until the work is done. Throws `unavailable` if there is no space: it is this process
   * that is too slow, and every sender of metrics retries after 503, but Prometheus does not after 429.
   */
  async hold(serviceId: Id<'service'>, bytes: number, work: () => Promise<void>): Promise<void> {
    this.#add(serviceId, bytes);
    try {
      await work();
    } finally {
      this.#release(serviceId, bytes);
    }
  }

  #add(serviceId: Id<'service'>, bytes: number): void {
    const held = this.#services.get(serviceId) ?? 0;
    if (held + bytes > SERVICE_BYTES_MAX || this.#total + bytes > TOTAL_BYTES_MAX) {
      throw new AppError('unavailable', 'more is arriving than can be stored; send again shortly', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#total += bytes;
    this.#services.set(serviceId, held + bytes);
  }

  #release(serviceId: Id<'service'>, bytes: number): void {
    const left = (this.#services.get(serviceId) ?? 0) - bytes;
    this.#total -= bytes;
    if (left > 0) this.#services.set(serviceId, left);
    else this.#services.delete(serviceId);
  }
}
