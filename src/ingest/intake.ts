import type { Cipher } from '#auth/cipher.ts';
import type { PointBatch } from '#core/metrics/point.ts';
import { nextTurn } from '#ingest/event_loop_turns.ts';
import { Gatherer } from '#ingest/gatherer.ts';
import { type AcceptedEvent, packEvents } from '#ingest/packing/packed_events.ts';
import { packPoints, type PointSlice } from '#ingest/packing/packed_points.ts';
import { fromSpooled, toSpooled } from '#ingest/packing/spooled_job.ts';
import { ToldSeries } from '#ingest/told_series.ts';
import { IntakeBudget } from '#ingest/intake_budget.ts';
import type { SentEvent } from '#ingest/protocols/sentry/event.ts';
import type { DiskSpace } from '#ingest/disk_space.ts';
import { QueueDepth } from '#ingest/queue_depth.ts';
import { QueueDoor } from '#ingest/queue_door.ts';
import { Replayer } from '#ingest/replayer.ts';
import { Spool } from '#ingest/spool.ts';
import { groupExceptions } from '#jobs/group_exceptions.ts';
import { storePoints } from '#jobs/store_points.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { settleAll } from '#kernel/settle_all.ts';
import type { Temporal } from '#kernel/time.ts';
import type { NewDurableJob, DurableQueue } from '#storage/queue/durable_queue.ts';

/** Whose data it is. */
export interface Owner {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
}

/** Where accepted data enters: what these promise to have taken is stored durably. */
export interface Intake {
  /** Throws `unavailable` when too much waits in memory or in the queue already, and when the queue is away. */
  takePoints(owner: Owner, points: PointBatch): Promise<void>;
  /**
   * As `takePoints`, but the senders never try again: what the queue cannot take waits on disk, as far as that goes.
   */
  takeEvents(owner: Owner, events: readonly SentEvent[]): Promise<void>;
  /** Stores what waits; takes nothing more. */
  close(): Promise<void>;
}

interface IntakeOptions {
  readonly queue: Pick<DurableQueue, 'addDurable' | 'ping' | 'durableBytes'>;
  /** What may wait in the queue; Infinity for no bound. */
  readonly queueBytesMax?: number;
  /** Where data waits. */
  readonly disk?: Pick<DiskSpace, 'requireRoom'>;
  readonly log: Log;
  /** For events that wait. */
  readonly cipher: Pick<Cipher, 'seal'>;
  /** Where events wait while the queue is away or full. */
  readonly spoolFolder: string;
  readonly spoolBytesMax?: number;
  /** Hears since when events have been waiting there; null when none are. */
  readonly tellSpooled?: (oldestAt: Temporal.Instant | null) => Promise<void>;
}

const LINGER_MS = 2;
/** Clients wait for the answer to an event; those who send points do not mind. */
const EVENTS_EVERY_MS = 8;
const POINTS_EVERY_MS = 25;
const COMMITS_MAX = 2;
/** Of events of one job, before they are packed. */
const JOB_BYTES_MAX = 1024 * 1024;
/** Some hundred kilobytes once packed, and four times as much where all series are new. */
const JOB_POINTS_MAX = 20_000;
const JOB_EVENTS_MAX = 200;
/** Roughly, in memory and before packing. */
const POINT_BYTES = 21;
const SERIES_BYTES = 150;

const SPOOL_BYTES_MAX = 256 * 1024 * 1024;
/** How often the spool is looked through for what a process that died has left. */
const LOOK_THROUGH_MS = 30_000;

export function openIntake(options: IntakeOptions): Intake {
  const { queue, queueBytesMax = Infinity, disk, log, cipher, spoolFolder, spoolBytesMax = SPOOL_BYTES_MAX } = options;
  const { tellSpooled = async () => {} } = options;
  const budget = new IntakeBudget();
  const spool = new Spool({ folder: spoolFolder, bytesMax: spoolBytesMax });
  const depth = new QueueDepth({
    bytesMax: queueBytesMax,
    measure: (bytesOfInterest) => queue.durableBytes(bytesOfInterest),
    log,
    onRoom: () => replayer.run(),
  });
  const door = new QueueDoor({ queue, depth, log, onOpen: () => replayer.run() });
  const keepEvents = (jobs: readonly NewDurableJob[]): Promise<void> => door.keep(groupExceptions, jobs);
  const replayer = new Replayer(spool, {
    add: (spooled) => keepEvents([fromSpooled(spooled)]),
    tellOldest: tellSpooled,
    log,
  });
  const told = new ToldSeries();
  const points = new Gatherer<OwnedSlice>({
    lingerMs: LINGER_MS,
    everyMs: POINTS_EVERY_MS,
    itemsMax: Infinity,
    max: { bytes: Infinity, count: JOB_POINTS_MAX },
    commitsMax: COMMITS_MAX,
    weigh: (slice) => ({ bytes: 0, count: weightOf(slice) }),
    commit: async (slices) => {
      // Packing takes a while where there are many, and what else has just arrived should not wait for several.
      if (slices.some((slice) => weightOf(slice) > JOB_POINTS_MAX / 4)) await nextTurn();
      const telling = told.begin();
      const jobs = byService(slices).map(({ orgId, serviceId, own }) => {
        const items = own.reduce((sum, { from, to }) => sum + to - from, 0);
        const bytes = packPoints(own, (_, { key }, newestAt) => telling.isDue(serviceId, key, newestAt));
        return { orgId, serviceId, items, bytes };
      });
      await door.keep(storePoints, jobs);
      telling.done();
    },
  });
  const events = new Gatherer<AcceptedEvent>({
    lingerMs: LINGER_MS,
    everyMs: EVENTS_EVERY_MS,
    itemsMax: Infinity,
    max: { bytes: JOB_BYTES_MAX, count: JOB_EVENTS_MAX },
    commitsMax: COMMITS_MAX,
    weigh: ({ sent }) => ({ bytes: sent.payload.length, count: 1 }),
    commit: async (accepted) => {
      const jobs = byService(accepted).map(({ orgId, serviceId, own }) => {
        return { orgId, serviceId, items: own.length, bytes: packEvents(own, cipher) };
      });
      try {
        await keepEvents(jobs);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        for (const job of jobs) await spool.write(toSpooled(job));
      }
    },
  });
  const lookThrough = setInterval(() => replayer.run(), LOOK_THROUGH_MS);
  replayer.run();
  return {
    async takePoints({ orgId, serviceId }, batch) {
      disk?.requireRoom();
      const slices = slicesOf({ orgId, serviceId }, batch);
      const bytes = slices.reduce((sum, slice) => sum + bytesOf(slice), 0);
      await budget.hold(serviceId, bytes, () => settleAll(slices.map((slice) => points.add(slice))));
    },
    async takeEvents({ orgId, serviceId }, taken) {
      disk?.requireRoom();
      const accepted = taken.map((sent) => ({ orgId, serviceId, sent }));
      const bytes = taken.reduce((sum, { payload }) => sum + payload.length, 0);
      await budget.hold(serviceId, bytes, () => settleAll(accepted.map((event) => events.add(event))));
    },
    async close() {
      clearInterval(lookThrough);
      await Promise.all([points.settle(), events.settle(), replayer.stop()]);
      door.close();
      await depth.close();
    },
  };
}

interface OwnedSlice extends PointSlice {
  readonly orgId: Id<'org'>;
}

/** What is of one service is one job, so that services can have their turns. */
function byService<Item extends Owner>(items: readonly Item[]): readonly (Owner & { readonly own: readonly Item[] })[] {
  return [...Map.groupBy(items, ({ serviceId }) => serviceId).values()].flatMap((own) => {
    const [first] = own;
    return first === undefined ? [] : [{ orgId: first.orgId, serviceId: first.serviceId, own }];
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

/** To pack a point whose series may have to be told takes as long as to pack so many others. */
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
