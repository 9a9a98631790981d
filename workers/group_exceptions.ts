import type { Cipher } from '#auth/cipher.ts';
import { groupEvent } from '#core/exceptions/grouping.ts';
import type { SeenEvent } from '#core/exceptions/seen_events.ts';
import { sightingOf } from '#core/exceptions/sighting.ts';
import { titleOf } from '#core/exceptions/title.ts';
import type { NewOrRegressed } from '#incidents/open_exception_incidents.ts';
import { Batcher } from '#ingest/batcher.ts';
import { type AcceptedEvent, type ArrivedEvent, type UnreadEvent, unpackEvents } from '#ingest/packing/pack_events.ts';
import type { NoEvent } from '#ingest/protocols/sentry/event.ts';
import { groupExceptions } from '#jobs/group_exceptions.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { retryWhileUnavailable } from '#kernel/retry.ts';
import type { ExceptionWriter, GroupedEvent } from '#storage/clickhouse/exception_writer.ts';
import type { SeenGroup } from '#storage/postgres/group_sightings.ts';
import { refusalHour } from '#storage/postgres/ingest_refusal_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';
import type { DurableJobHandler } from '#storage/queue/durable_job_runner.ts';
import { OUTAGE_RETRY } from '#storage/queue/job_workers.ts';
import { deduplicationToken } from '#workers/deduplication_token.ts';
import { deleteOrphans } from '#workers/delete_orphans.ts';
import { isolateFaults } from '#workers/isolate_faults.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#workers/run_with_time_limit.ts';
import { setAsideEvents } from '#workers/set_aside_events.ts';

export interface GroupingRuntime extends UnitOfWorkRuntime {
  /** Opens events that have waited. */
  readonly eventCipher: Pick<Cipher, 'open' | 'seal'>;
  /** Other than in production only where tests cannot wait. */
  readonly reading?: Partial<Reading>;
  readonly exceptionWriter: Pick<ExceptionWriter, 'insert' | 'deleteService'>;
  /** How many groups a service may begin a minute; Infinity for no limit. */
  readonly newGroupsPerMinute: number;
  /** Called in the transaction that made or reopened the groups; called once for each, also when jobs run twice. */
  readonly onNewOrRegressed: (unit: UnitOfWork, groups: readonly NewOrRegressed[]) => Promise<void>;
}

/** How long what senders wrote may be looked at before it is stopped, and what looks at it. */
interface Reading {
  /** All events of a job, and those of a batch of jobs: a hundred times what they take. */
  readonly jobMs: number;
  /** One event, once it is looked at by itself. */
  readonly eventMs: number;
  readonly group: typeof groupEvent;
}

const READING: Reading = { jobMs: 2_000, eventMs: 500, group: groupEvent };

/** The events of one job. */
interface Batch {
  readonly events: readonly ArrivedEvent[];
  readonly token: string;
}

/**
 * Both stores prefer few large batches: what several jobs bring within `EVERY_MS` becomes one. People are paged for
 * what is in here, so that only a line with much to do waits that long.
 */
const LINGER_MS = 5;
const EVERY_MS = 400;
const BUSY_FROM_EVENTS = 200;
const JOBS_MAX = 48;
const BATCH_EVENTS_MAX = 500;
/**
 * One batch of one organization at a time: whoever comes next waits for the one that is under way, and what is left is
 * for them.
 */
const CAPACITY = { items: 2 * BATCH_EVENTS_MAX, itemsOfOrg: BATCH_EVENTS_MAX, jobs: 2 * JOBS_MAX };

/**
 * Brings events to their groups and then into ClickHouse. Both may be done twice without harm. An event that the
 * stores refuse twice is dropped and logged, and holds up no other. One that takes too long to read is stopped, first
 * with its job and then by itself, and set aside for hours.
 */
export function onGroupExceptions(runtime: GroupingRuntime): DurableJobHandler {
  const batches = new Batcher<Batch>({
    lingerMs: LINGER_MS,
    everyMs: EVERY_MS,
    busyFrom: BUSY_FROM_EVENTS,
    itemsMax: JOBS_MAX,
    max: { bytes: Infinity, count: BATCH_EVENTS_MAX },
    commitsMax: 1,
    weigh: ({ events }) => ({ bytes: 0, count: events.length }),
    commit: (gathered) =>
      retryWhileUnavailable(
        () =>
          groupAndStore(
            runtime,
            gathered.flatMap(({ events }) => events),
            deduplicationToken(...gathered.map(({ token }) => token)),
          ),
        OUTAGE_RETRY,
      ),
  });
  return {
    job: groupExceptions,
    capacity: CAPACITY,
    async run(packed, { attempt, log }) {
      const unread = unpackEvents(packed, runtime.eventCipher);
      const token = deduplicationToken(packed);
      if (attempt === 1) {
        const read = runWithTimeLimit(readingOf(runtime).jobMs, () => unread.map(readNow));
        const malformed = unread.filter((_, index) => read[index] === 'malformed');
        if (malformed.length > 0) await countMalformed(runtime, malformed);
        return await batches.add({ events: read.filter(isEvent), token });
      }
      const slow = await groupOneByOne(runtime, unread, { token, attempt, log });
      if (slow.length > 0) await setAsideEvents(runtime, slow, log);
    },
  };
}

interface OneByOne {
  readonly token: string;
  readonly attempt: number;
  readonly log: Log;
}

/** Each event by itself, so that none holds up another. Resolves to those that took too long to read. */
export async function groupOneByOne(
  runtime: GroupingRuntime,
  unread: readonly UnreadEvent[],
  { token, attempt, log }: OneByOne,
): Promise<readonly AcceptedEvent[]> {
  const slow: AcceptedEvent[] = [];
  const others = unread.filter((event) => {
    if (event.accepted === null || isReadInTime(runtime, event)) return true;
    slow.push(event.accepted());
    return false;
  });
  const work = async (part: readonly UnreadEvent[]): Promise<void> => {
    const events = part.map(readNow).filter(isEvent);
    await groupAndStore(runtime, events, deduplicationToken(token, ...part.map(({ eventId }) => eventId)));
  };
  for (const { item, error } of await isolateFaults(others, attempt, work)) {
    const { serviceId, eventId } = item;
    log.error({ serviceId, eventId, err: error }, 'event dropped: it can be stored in no way');
  }
  return slow;
}

/** What else is wrong with it is found out where that is dealt with. */
function isReadInTime(runtime: GroupingRuntime, unread: UnreadEvent): boolean {
  try {
    runWithTimeLimit(readingOf(runtime).eventMs, () => {
      const event = unread.read();
      if (isEvent(event)) toSeen(runtime, event);
    });
  } catch (error) {
    return !(error instanceof TimeLimitExceeded);
  }
  return true;
}

function readingOf({ reading }: GroupingRuntime): Reading {
  return { ...READING, ...reading };
}

/** What was sent as an event and is none is shown with what else was refused of its service. */
async function countMalformed({ db, clock }: GroupingRuntime, malformed: readonly UnreadEvent[]): Promise<void> {
  const now = clock.now();
  const hour = refusalHour(now);
  const counts = Map.groupBy(malformed, ({ serviceId }) => serviceId);
  await storesOf(db.session()).ingestRefusals.add(
    [...counts].map(([serviceId, { length: count }]) => {
      return { serviceId, kind: 'events', reason: 'faulty', hour, count, lastAt: now };
    }),
  );
}

function isEvent(read: ArrivedEvent | NoEvent): read is ArrivedEvent {
  return typeof read !== 'string';
}

function readNow({ eventId, read }: UnreadEvent): ArrivedEvent | NoEvent {
  try {
    return read();
  } catch (cause) {
    throw new AppError('invalid_input', `event ${eventId} cannot be read`, { cause });
  }
}

/** The groups first, since an event is stored with the id of its own. Events of services that are gone are left out. */
async function groupAndStore(runtime: GroupingRuntime, events: readonly ArrivedEvent[], token: string): Promise<void> {
  const { exceptionWriter } = runtime;
  const seen = runWithTimeLimit(readingOf(runtime).jobMs, () => events.map((event) => toSeen(runtime, event)));
  const groups = await inUnitOfWork(runtime, async (unit) => {
    const found = await unit.stores.exceptionGroups.upsertSeen(seen, unit.now, runtime.newGroupsPerMinute);
    await noteOverflow(unit, found);
    const telling = newOrRegressed(events, seen, found);
    if (telling.length > 0) await tell(runtime, unit, telling);
    return found;
  });
  const grouped = events.flatMap(({ serviceId, event }, index): GroupedEvent[] => {
    const group = groups[index];
    return group == null ? [] : [{ serviceId, groupId: group.groupId, event }];
  });
  await exceptionWriter.insert(grouped, token);
  const serviceIds = events.map(({ serviceId }) => serviceId);
  await deleteOrphans(runtime.db, serviceIds, (serviceId) => exceptionWriter.deleteService(serviceId));
}

/** People see in the service's ingest status that a limit was met. */
async function noteOverflow({ stores, now }: UnitOfWork, groups: readonly (SeenGroup | null)[]): Promise<void> {
  const overflowing = groups.flatMap((group) => (group?.isOverflow === true ? [group.serviceId] : []));
  if (overflowing.length === 0) return;
  const hour = refusalHour(now);
  await stores.ingestRefusals.add(
    [...Map.groupBy(overflowing, (serviceId) => serviceId)].map(([serviceId, { length: count }]) => {
      return { serviceId, kind: 'events', reason: 'too_many_new_groups', hour, count, lastAt: now };
    }),
  );
}

/** What goes wrong here is never the fault of the events. */
async function tell(runtime: GroupingRuntime, unit: UnitOfWork, groups: readonly NewOrRegressed[]): Promise<void> {
  try {
    await runtime.onNewOrRegressed(unit, groups);
  } catch (cause) {
    if (isUnavailable(cause)) throw cause;
    throw new Error('new groups could not be told of', { cause });
  }
}

function toSeen(runtime: GroupingRuntime, { orgId, serviceId, event }: ArrivedEvent): SeenEvent {
  try {
    return { orgId, serviceId, grouping: readingOf(runtime).group(event), sighting: sightingOf(event) };
  } catch (cause) {
    throw new AppError('invalid_input', `no group can be found for event ${event.eventId}`, { cause });
  }
}

/** One entry a group, with what its first event says. */
function newOrRegressed(
  events: readonly ArrivedEvent[],
  seen: readonly SeenEvent[],
  groups: readonly (SeenGroup | null)[],
): NewOrRegressed[] {
  const told = new Set<SeenGroup>();
  return groups.flatMap((group, index): NewOrRegressed[] => {
    const [arrived, sighted] = [events[index], seen[index]];
    if (group === null || arrived === undefined || sighted === undefined || told.has(group)) return [];
    const { groupId, outcome, level } = group;
    if (outcome !== 'new' && outcome !== 'regression') return [];
    told.add(group);
    const { orgId, serviceId, event } = arrived;
    const { eventId, environment, release } = event;
    const title = titleOf(sighted.sighting.headline);
    return [{ orgId, serviceId, groupId, outcome, level, title, eventId, environment, release }];
  });
}
