import type { ArrivedEvent } from '#ingest/packing/pack_events.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { withTimeout } from '#kernel/promises.ts';
import { startSpan } from '#kernel/tracing.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import { deleteOrphans } from '#modules/delete_orphans.ts';
import { type Assignee, assigneeIdOf, findAssignees } from '#modules/exceptions/assignees.ts';
import { matchingRules } from '#modules/exceptions/decide/assignment.ts';
import {
  CheckedEvents,
  type ReopeningEvent,
  type SeenEvent,
  UncheckedEvents,
} from '#modules/exceptions/decide/seen_events.ts';
import { titleOf } from '#modules/exceptions/decide/title.ts';
import { type GroupingRuntime, readingOf, recordRefused } from '#modules/exceptions/grouping_runtime.ts';
import { groupEvents } from '#modules/exceptions/read_events.ts';
import {
  applyServiceRules,
  findServiceRules,
  type LeftOut,
  recordLeftOut,
  type ServiceRules,
  withoutSpike,
} from '#modules/exceptions/service_rules.ts';
import type { GroupedEvent } from '#modules/exceptions/store/exception_writer.ts';
import type { SeenGroup } from '#modules/exceptions/store/group_occurrences.ts';
import type { NewOrRegressed } from '#modules/incidents/open_exception_incidents.ts';
import type { MapToSource } from '#modules/releases/source_maps/source_maps.ts';
import { inUnitOfWork, storesOf, type UnitOfWork } from '#modules/stores.ts';
import { sendExceptionNotice } from '#storage/queue/jobs.ts';

/**
 * Adds events to their groups, then stores them with the ids of these groups. Runs safely twice. Events of deleted
 * services are left out. `map` maps them to their source; they are prepared here without it.
 */
export async function groupAndStore(
  runtime: GroupingRuntime,
  events: readonly ArrivedEvent[],
  token: string,
  map?: MapToSource,
): Promise<void> {
  await continueTraces(events, (handled) => store(runtime, handled, token, map));
}

async function store(
  runtime: GroupingRuntime,
  arrived: readonly ArrivedEvent[],
  token: string,
  prepared: MapToSource | undefined,
): Promise<void> {
  const rules = await findServiceRules(runtime.db, arrived);
  const { events: kept, filtered } = applyServiceRules(rules, arrived);
  const map = prepared ?? (await runtime.sourceMaps.prepare(kept, 'worker'));
  const events = kept.map((event) => map(event));
  const seen = await groupEvents(readingOf(runtime), events);
  await storeSeen(runtime, { rules, filtered, events, seen }, token);
}

/** Events whose groups are found. */
interface SeenEvents {
  readonly rules: ServiceRules;
  /** Events that the services of these events filtered out. */
  readonly filtered: readonly LeftOut[];
  readonly events: readonly ArrivedEvent[];
  /** Seen events, in the same order. */
  readonly seen: readonly SeenEvent[];
}

/** Stores seen events like `groupAndStore`. */
export async function storeSeen(
  runtime: GroupingRuntime,
  { rules, filtered, events, seen }: SeenEvents,
  token: string,
): Promise<void> {
  const { exceptionWriter } = runtime;
  /** The groups whose own the events are: those of merged groups can be split off with them. */
  let ownIds: readonly (Id<'group'> | null)[] = [];
  const groups = await withCheckedEvents(runtime, async (unit, checked) => {
    await recordLeftOut(unit, filtered);
    const { exceptionGroups, groupKeys } = unit.stores;
    const placed = await groupKeys.place(seen, unit.now);
    const groups = await exceptionGroups.upsertSeen(
      placed.map(({ event }) => event),
      unit.now,
      runtime.newGroupsPerMinute,
      checked,
    );
    await groupKeys.touchMerged(placed);
    const overflowing = groups.flatMap((group) => (group?.isOverflow === true ? [group] : []));
    for (const { serviceId } of overflowing) unit.limitReached('newGroupsPerMinute', serviceId);
    await recordRefused(
      unit.stores,
      'too_many_new_groups',
      overflowing.map(({ serviceId }) => ({ serviceId, count: 1 })),
      unit.now,
    );
    await assignNew(unit, rules, events, groups);
    const changed = newOrRegressed(events, seen, groups);
    if (changed.length > 0) await openIncidentsOf(runtime, unit, changed);
    await recordRegressions(unit, changed);
    ownIds = placed.map(({ ownGroupId }) => ownGroupId);
    return await withoutSpike(unit, rules, groups);
  });
  const grouped = events.flatMap(({ serviceId, event }, index): GroupedEvent[] => {
    const group = groups[index];
    return group == null ? [] : [{ serviceId, groupId: ownIds[index] ?? group.groupId, event }];
  });
  await exceptionWriter.insert(grouped, token);
  const storedMs = runtime.clock.now().epochMilliseconds;
  for (const { event } of grouped) {
    runtime.latencies?.observe('group', (storedMs - event.receivedAt.epochMilliseconds) / 1_000);
  }
  const groupIds = [...new Set(groups.flatMap((group) => group?.groupId ?? []))];
  await storesOf(runtime.db.session()).exceptionCounts.markDue(groupIds, runtime.clock.now());
  const serviceIds = events.map(({ serviceId }) => serviceId);
  await deleteOrphans(runtime.db, serviceIds, (serviceId) => exceptionWriter.deleteService(serviceId));
}

const LOOKUP_MS_MAX = 5_000;

/**
 * Does the work in a transaction, and again once it is known of events that reopen groups whether they are stored
 * already: ClickHouse is never waited for within a transaction. Each event is looked up once.
 */
async function withCheckedEvents<Result>(
  runtime: GroupingRuntime,
  work: (unit: UnitOfWork, checked: CheckedEvents) => Promise<Result>,
): Promise<Result> {
  const checked = new CheckedEvents();
  for (;;) {
    try {
      return await inUnitOfWork(runtime, (unit) => work(unit, checked));
    } catch (error) {
      if (!(error instanceof UncheckedEvents)) throw error;
      const stored = await findStored(runtime, error.reopening);
      for (const { event } of error.reopening) {
        checked.set(event, stored.has(`${event.serviceId} ${event.occurrence.eventId}`));
      }
    }
  }
}

/** Returns which of the events are stored; none if ClickHouse does not say: people are rather paged twice than not. */
async function findStored(
  { db, exceptions, log }: GroupingRuntime,
  reopening: readonly ReopeningEvent[],
): Promise<ReadonlySet<string>> {
  const groupIds = [...new Set(reopening.map(({ groupId }) => groupId))];
  const merged = await storesOf(db.session()).groupMerges.withMerged(groupIds.map((id) => ({ id })));
  const partsOf = new Map(merged.map(({ id, mergedIds }) => [id, [id, ...mergedIds]]));
  const places = reopening.map(({ groupId, event: { serviceId, occurrence } }) => {
    const { eventId, at } = occurrence;
    return { serviceId, groupIds: partsOf.get(groupId) ?? [groupId], eventId, at };
  });
  try {
    return await withTimeout(exceptions.listStored(places), LOOKUP_MS_MAX, () => NONE);
  } catch (error) {
    log.warn({ err: error }, 'whether events that reopen groups are stored already cannot be found out');
    return NONE;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Writes into the histories of groups that they came back, and tells who asked to hear of it, once each. */
async function recordRegressions(unit: UnitOfWork, groups: readonly NewOrRegressed[]): Promise<void> {
  const { stores, now } = unit;
  for (const { orgId, groupId, outcome, release } of groups) {
    if (outcome !== 'regression') continue;
    const facts = { kind: 'regressed', release } as const;
    const entry = { orgId, groupId, actor: { system: true, via: 'rule' }, facts } as const;
    const activityId = await stores.groupActivity.add(entry, now);
    for (const userId of await stores.groupWatchers.take(groupId)) {
      unit.enqueue(sendExceptionNotice, { orgId, groupId, activityId, userId });
    }
  }
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

/** Returns one entry per group, with the fields of the event that began it or brought it back. */
function newOrRegressed(
  events: readonly ArrivedEvent[],
  seen: readonly SeenEvent[],
  groups: readonly (SeenGroup | null)[],
): NewOrRegressed[] {
  const listed = new Set<SeenGroup>();
  return groups.flatMap((group, index): NewOrRegressed[] => {
    const [arrived, sighted] = [events[index], seen[index]];
    if (group === null || arrived === undefined || sighted === undefined || listed.has(group)) return [];
    const { groupId, outcome, level, decidingEventId } = group;
    if (outcome !== 'new' && outcome !== 'regression') return [];
    const { orgId, serviceId, event } = arrived;
    const { eventId, environment, release, tags } = event;
    if (eventId !== decidingEventId) return [];
    listed.add(group);
    const title = titleOf(sighted.occurrence.headline);
    const traceparent = arrived.traceparent ?? null;
    return [{ orgId, serviceId, groupId, outcome, level, title, eventId, environment, release, tags, traceparent }];
  });
}

/**
 * Assigns groups that these events began to whom the rules of their services name. The first rule that matches the first
 * event, and whose person or team is still there, decides.
 */
async function assignNew(
  unit: UnitOfWork,
  rules: ServiceRules,
  events: readonly ArrivedEvent[],
  groups: readonly (SeenGroup | null)[],
): Promise<void> {
  const assigned = new Set<Id<'group'>>();
  for (const [index, group] of groups.entries()) {
    const arrived = events[index];
    if (group === null || arrived === undefined || group.outcome !== 'new' || group.isOverflow) continue;
    const assignmentRules = rules.get(group.serviceId)?.assignmentRules ?? [];
    if (assignmentRules.length === 0 || assigned.has(group.groupId)) continue;
    assigned.add(group.groupId);
    const matches = matchingRules(assignmentRules, arrived.event);
    const ids = matches.map(({ assigneeId }) => assigneeId);
    const assignees = await findAssignees(unit.stores, arrived.orgId, ids);
    const first = matches.find(({ assigneeId }) => assignees.has(assigneeId));
    const assignee = first === undefined ? undefined : assignees.get(first.assigneeId);
    if (first === undefined || assignee === undefined) continue;
    await assign(unit, { orgId: arrived.orgId, groupId: group.groupId }, assignee, first.position);
  }
}

async function assign(
  unit: UnitOfWork,
  { orgId, groupId }: { readonly orgId: Id<'org'>; readonly groupId: Id<'group'> },
  assignee: Assignee,
  rule: number,
): Promise<void> {
  const { stores, now } = unit;
  const { name, ...assignment } = assignee;
  await stores.groupAssignments.assign([groupId], assignment, now);
  const facts = { kind: 'assigned', assigneeId: assigneeIdOf(assignee), name, rule } as const;
  await stores.groupActivity.add({ orgId, groupId, actor: { system: true, via: 'rule' }, facts }, now);
  await recordSystemChange(unit, {
    orgId,
    action: 'assign_exceptions',
    via: 'rule',
    target: groupId,
    before: { assignedUserId: null, assignedTeamId: null },
    after: { ...assignment, rule },
  });
}

/** Requests whose traces a batch continues; of more, the rest is handled without. */
const TRACED_MAX = 50;

/**
 * Opens a span for each traced request for the batch in which its events are handled; the events refer to it from then
 * on.
 */
export async function continueTraces(
  events: readonly ArrivedEvent[],
  work: (handled: readonly ArrivedEvent[]) => Promise<void>,
): Promise<void> {
  const parents = [...new Set(events.flatMap(({ traceparent }) => traceparent ?? []))].slice(0, TRACED_MAX);
  if (parents.length === 0) return await work(events);
  const attributes = { 'tocsin.batch_events': events.length };
  const spans = new Map(
    parents.map((parent) => [parent, startSpan('group_exceptions', { kind: 'consumer', attributes, parent })]),
  );
  try {
    await work(events.map((event) => ({ ...event, traceparent: spans.get(event.traceparent ?? '')?.traceparent })));
    for (const span of spans.values()) span?.end();
  } catch (error) {
    for (const span of spans.values()) span?.end(error);
    throw error;
  }
}
