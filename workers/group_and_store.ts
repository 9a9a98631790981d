import type { Cipher } from '#auth/cipher.ts';
import type { SeenEvent } from '#core/exceptions/seen_events.ts';
import { titleOf } from '#core/exceptions/title.ts';
import type { NewOrRegressed } from '#incidents/open_exception_incidents.ts';
import type { AcceptedEvent, ArrivedEvent, UnreadEvent } from '#ingest/packing/pack_events.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { ExceptionWriter, GroupedEvent } from '#storage/clickhouse/exception_writer.ts';
import type { SeenGroup } from '#storage/postgres/group_occurrences.ts';
import { refusalHour } from '#storage/postgres/ingest_refusal_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';
import { deduplicationToken } from '#workers/deduplication_token.ts';
import { deleteOrphans } from '#workers/delete_orphans.ts';
import { isolateFaults } from '#workers/isolate_faults.ts';
import { groupEvents, isEvent, isReadInTime, readEvent, READING, type Reading } from '#workers/read_events.ts';

export interface GroupingRuntime extends UnitOfWorkRuntime {
  /** Opens events that have waited. */
  readonly eventCipher: Pick<Cipher, 'open' | 'seal'>;
  /** Differs from the default only in tests. */
  readonly reading?: Partial<Reading>;
  readonly exceptionWriter: Pick<ExceptionWriter, 'insert' | 'deleteService'>;
  /** How many groups a service may open a minute; Infinity for no limit. */
  readonly newGroupsPerMinute: number;
  /** Called in the transaction that made or reopened the groups; once for each group, even if a job runs twice. */
  readonly onNewOrRegressed: (unit: UnitOfWork, groups: readonly NewOrRegressed[]) => Promise<void>;
}

export function readingOf({ reading }: GroupingRuntime): Reading {
  return { ...READING, ...reading };
}

/**
 * Adds events to their groups, then stores them with the ids of these groups. Runs safely twice. Events of deleted
 * services are left out.
 */
export async function groupAndStore(
  runtime: GroupingRuntime,
  events: readonly ArrivedEvent[],
  token: string,
): Promise<void> {
  const { exceptionWriter } = runtime;
  const seen = groupEvents(readingOf(runtime), events);
  const groups = await inUnitOfWork(runtime, async (unit) => {
    const found = await unit.stores.exceptionGroups.upsertSeen(seen, unit.now, runtime.newGroupsPerMinute);
    await recordOverflow(unit, found);
    const changed = newOrRegressed(events, seen, found);
    if (changed.length > 0) await openIncidentsOf(runtime, unit, changed);
    return found;
  });
  const grouped = events.flatMap(({ serviceId, event }, index): GroupedEvent[] => {
    const group = groups[index];
    return group == null ? [] : [{ serviceId, groupId: group.groupId, event }];
  });
  await exceptionWriter.insert(grouped, token);
  const groupIds = [...new Set(grouped.map(({ groupId }) => groupId))];
  await storesOf(runtime.db.session()).exceptionCounts.markDue(groupIds, runtime.clock.now());
  const serviceIds = events.map(({ serviceId }) => serviceId);
  await deleteOrphans(runtime.db, serviceIds, (serviceId) => exceptionWriter.deleteService(serviceId));
}

/**
 * Groups and stores events separately, so that one that fails does not block the others. An event that the stores
 * permanently reject is dropped and logged. Returns those that took too long to read.
 */
export async function groupOneByOne(
  runtime: GroupingRuntime,
  unread: readonly UnreadEvent[],
  { token, attempt, log }: { readonly token: string; readonly attempt: number; readonly log: Log },
): Promise<readonly AcceptedEvent[]> {
  const slow: AcceptedEvent[] = [];
  const others = unread.filter((event) => {
    if (event.accepted === null || isReadInTime(readingOf(runtime), event)) return true;
    slow.push(event.accepted());
    return false;
  });
  const work = async (part: readonly UnreadEvent[]): Promise<void> => {
    const events = part.map(readEvent).filter(isEvent);
    await groupAndStore(runtime, events, deduplicationToken(token, ...part.map(({ eventId }) => eventId)));
  };
  for (const { item, error } of await isolateFaults(others, attempt, work)) {
    const { serviceId, eventId } = item;
    log.error({ serviceId, eventId, err: error }, 'event dropped: the stores permanently reject it');
  }
  return slow;
}

/** The ingest status of the service shows that the limit was reached. */
async function recordOverflow({ stores, now }: UnitOfWork, groups: readonly (SeenGroup | null)[]): Promise<void> {
  const overflowing = groups.flatMap((group) => (group?.isOverflow === true ? [group.serviceId] : []));
  if (overflowing.length === 0) return;
  const hour = refusalHour(now);
  await stores.ingestRefusals.add(
    [...Map.groupBy(overflowing, (serviceId) => serviceId)].map(([serviceId, { length: count }]) => {
      return { serviceId, kind: 'events', reason: 'too_many_new_groups', hour, count, lastAt: now };
    }),
  );
}

/** A fault here is not caused by the events, so it must not count as theirs. */
async function openIncidentsOf(
  runtime: GroupingRuntime,
  unit: UnitOfWork,
  groups: readonly NewOrRegressed[],
): Promise<void> {
  try {
    await runtime.onNewOrRegressed(unit, groups);
  } catch (cause) {
    if (isUnavailable(cause)) throw cause;
    throw new Error('failed to open incidents for new groups', { cause });
  }
}

/** One entry per group, with the fields of its first event. */
function newOrRegressed(
  events: readonly ArrivedEvent[],
  seen: readonly SeenEvent[],
  groups: readonly (SeenGroup | null)[],
): NewOrRegressed[] {
  const listed = new Set<SeenGroup>();
  return groups.flatMap((group, index): NewOrRegressed[] => {
    const [arrived, sighted] = [events[index], seen[index]];
    if (group === null || arrived === undefined || sighted === undefined || listed.has(group)) return [];
    const { groupId, outcome, level } = group;
    if (outcome !== 'new' && outcome !== 'regression') return [];
    listed.add(group);
    const { orgId, serviceId, event } = arrived;
    const { eventId, environment, release } = event;
    const title = titleOf(sighted.occurrence.headline);
    return [{ orgId, serviceId, groupId, outcome, level, title, eventId, environment, release }];
  });
}
