import { type Fix, type KnownRelease, releaseToResolveIn } from '#modules/exceptions/decide/fix.ts';
import type { CheckedEvents, SeenEvent } from '#modules/exceptions/decide/seen_events.ts';
import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  allBut,
  anyOf,
  columns,
  daysBefore,
  PostgresStore,
  type Row,
  rowsChanged,
  timestamp,
  timestampOrNull,
  toColumns,
} from '#storage/postgres/store.ts';
import { ExceptionGroupEntity, GroupDecisionEntity } from '#storage/postgres/entities/exceptions.ts';
import { GroupReleaseStore } from '#modules/exceptions/store/group_release_store.ts';
import { GroupSnoozeStore } from '#modules/exceptions/store/group_snooze_store.ts';
import type { Snooze } from '#modules/exceptions/decide/snooze.ts';
import { GroupOccurrences, type SeenGroup } from '#modules/exceptions/store/group_occurrences.ts';

/** Time for which the service keeps events, in days. */
interface Retention {
  readonly retentionDays: number;
}

const GROUP = columns(ExceptionGroupEntity, 'g', allBut(ExceptionGroupEntity, 'key'));

/** A group as people see it. */
export type ExceptionGroupRow = Omit<Row<typeof ExceptionGroupEntity>, 'key'> & Retention;

export type WholeGroup = ExceptionGroupRow & { readonly mergedIds: readonly Id<'group'>[] };

/** Position of a group, with what says which of its events are still kept. */
export type GroupPlace = Pick<ExceptionGroupRow, 'id' | 'serviceId'> &
  Retention & { readonly mergedIds?: readonly Id<'group'>[] };

const LISTED = [
  'id',
  'serviceId',
  'title',
  'type',
  'culprit',
  'level',
  'status',
  'resolvedInRelease',
  'assignedUserId',
  'assignedTeamId',
] as const;

/**
 * A group as lists show it, with times as RFC 3339 texts: making instants of those of 1,000 groups, and texts of these,
 * held up the process for 20 ms.
 */
export interface ListedGroupRow extends Pick<ExceptionGroupRow, (typeof LISTED)[number]> {
  readonly statusChangedAt: string;
  readonly regressedAt: string | null;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A listed group with the counts of its events; null when they have to be counted, as some have come since. */
export interface CountedGroupRow extends ListedGroupRow, Retention {
  readonly events: number | null;
  readonly users: number | null;
}

/** Columns that a decision replaces. */
const REPLACED = ['status', 'statusChangedAt', 'resolvedInRelease', 'regressedAt'] as const;

interface StatusDecision {
  readonly status: GroupStatus;
  readonly fix?: Fix | null;
  /** End of the snooze, and who asked for it. */
  readonly snooze?: (Snooze & { readonly userId: Id<'user'> | null }) | null;
  readonly knownReleases?: readonly KnownRelease[];
}

export interface GroupFilter {
  readonly serviceId: Id<'service'> | null;
  readonly status: GroupStatus | null;
}

/** Deduplicated exceptions: what people see and decide of them. Their events are in ClickHouse. */
export class ExceptionGroupStore extends PostgresStore {
  /** Lists the groups of a page, last seen first, with what was counted of each, and their total. */
  async list(
    orgId: Id<'org'>,
    filter: GroupFilter,
    now: Temporal.Instant,
    limit: number,
  ): Promise<{ groups: CountedGroupRow[]; total: number }> {
    const page = this.#listed(orgId, filter, now)
      .select(['g.id', 's.retention_exceptions as retentionDays'])
      .orderBy('g.last_seen_at', 'desc')
      .orderBy('g.id', 'desc')
      .limit(limit);
    const [groups, { total }] = await Promise.all([
      this.#listedRows()
        .innerJoin(page.as('p'), 'p.id', 'g.id')
        .leftJoin('exception_group_counts as c', (join) =>
          join
            .onRef('c.group_id', '=', 'g.id')
            .on('c.counted_at', 'is not', null)
            .on(({ eb, or, and, ref }) =>
              or([
                eb('c.due_at', 'is', null),
                and([eb('c.due_at', '>', now), eb('c.due_at', '>', ref('c.rests_until'))]),
              ]),
            ),
        )
        .select(['p.retentionDays', 'c.events', 'c.users'])
        .orderBy('g.last_seen_at', 'desc')
        .orderBy('g.id', 'desc')
        .execute(),
      this.#listed(orgId, filter, now)
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow(),
    ]);
    return { groups, total: Math.max(groups.length, total) };
  }

  /** Returns listed groups by id; a group that is gone is absent. */
  async findListed(ids: readonly Id<'group'>[]): Promise<Map<Id<'group'>, ListedGroupRow>> {
    const groups = await this.#listedRows().where('g.id', '=', anyOf(ids)).execute();
    return new Map(groups.map((group) => [group.id, group]));
  }

  /** Throws `not_found`. */
  async get(orgId: Id<'org'>, groupId: string, now: Temporal.Instant): Promise<WholeGroup> {
    const [group, merged] = await Promise.all([
      this.#visible(orgId, groupId, now).executeTakeFirst(),
      this.selectFrom('exception_groups')
        .select('id')
        .where('org_id', '=', orgId)
        .where('merged_into_id', '=', asId('group', groupId))
        .orderBy('id')
        .execute(),
    ]);
    return { ...found(group), mergedIds: merged.map(({ id }) => id) };
  }

  /**
   * The one way in which a person's decision reaches a group; any status may follow any. The row is locked from here
   * to the end of the transaction. A resolved group remembers when, in which release (see `releaseToResolveIn`), and
   * where people say that it is fixed. A snoozed one remembers until when. The same status again is no decision, unless
   * they say one of the two, or ignore for good what was snoozed.
   */
  async setStatus(
    orgId: Id<'org'>,
    groupId: string,
    { status, fix = null, snooze = null, knownReleases = [] }: StatusDecision,
    now: Temporal.Instant,
  ): Promise<{ before: ExceptionGroupRow; after: ExceptionGroupRow }> {
    const before = found(await this.#visible(orgId, groupId, now).forUpdate('g').executeTakeFirst());
    const snoozes = new GroupSnoozeStore(this.session);
    const endsSnooze = status === 'ignored' && (await snoozes.find([before.id])).size > 0;
    if (before.status === status && fix === null && snooze === null && !endsSnooze) return { before, after: before };
    const resolvedInRelease = status === 'resolved' ? releaseToResolveIn(before.lastRelease, knownReleases) : null;
    const change = { status, statusChangedAt: now, resolvedInRelease, regressedAt: null, updatedAt: now };
    await this.updateTable('exception_groups')
      .set(toColumns(ExceptionGroupEntity, change))
      .where('id', '=', before.id)
      .execute();
    await this.#rememberReplaced(before, now);
    const times = { decidedAt: now, replacedAt: before.statusChangedAt };
    if (fix !== null) await new GroupReleaseStore(this.session).saveFix(before.id, fix, times);
    if (snooze !== null) await snoozes.save(before.id, snooze, times);
    return { before, after: { ...before, ...change } };
  }

  /**
   * Gives a group back what the decision of that time has replaced; null when anybody or an event has changed its status
   * since. The row is locked from here to the end of the transaction.
   */
  async undoStatus(
    orgId: Id<'org'>,
    groupId: string,
    decidedAt: Temporal.Instant,
    now: Temporal.Instant,
  ): Promise<{ before: ExceptionGroupRow; after: ExceptionGroupRow } | null> {
    const before = found(await this.#visible(orgId, groupId, now).forUpdate('g').executeTakeFirst());
    if (!before.statusChangedAt.equals(decidedAt)) return null;
    const replaced = await this.deleteFrom('group_decisions as d')
      .where('d.group_id', '=', before.id)
      .where('d.decided_at', '=', decidedAt)
      .returning(columns(GroupDecisionEntity, 'd', REPLACED))
      .executeTakeFirst();
    if (replaced === undefined) return null;
    const change = { ...replaced, updatedAt: now };
    await this.updateTable('exception_groups')
      .set(toColumns(ExceptionGroupEntity, change))
      .where('id', '=', before.id)
      .execute();
    return { before, after: { ...before, ...change } };
  }

  async #rememberReplaced(
    { id: groupId, status, statusChangedAt, resolvedInRelease, regressedAt }: ExceptionGroupRow,
    decidedAt: Temporal.Instant,
  ): Promise<void> {
    const replaced = { decidedAt, status, statusChangedAt, resolvedInRelease, regressedAt };
    await this.insertInto('group_decisions')
      .values(toColumns(GroupDecisionEntity, { groupId, ...replaced }))
      .onConflict((conflict) => conflict.column('group_id').doUpdateSet(toColumns(GroupDecisionEntity, replaced)))
      .execute();
  }

  /** The service of each group, by the group's id; a group that is not of the organization is absent. */
  async findServices(orgId: Id<'org'>, groupIds: readonly string[]): Promise<Map<string, Id<'service'>>> {
    const groups = await this.selectFrom('exception_groups as g')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'g.service_id').on('s.deleted_at', 'is', null))
      .select(['g.id', 'g.service_id as serviceId'])
      .where('g.org_id', '=', orgId)
      .where('g.id', '=', anyOf(groupIds.map((id) => asId('group', id))))
      .execute();
    return new Map(groups.map(({ id, serviceId }) => [id, serviceId]));
  }

  /** Locks several groups in the order in which workers do, so that neither waits for the other for ever. */
  async lockInOrder(orgId: Id<'org'>, groupIds: readonly string[]): Promise<void> {
    await this.selectFrom('exception_groups as g')
      .select('g.id')
      .where('g.org_id', '=', orgId)
      .where('g.id', '=', anyOf(groupIds.map((id) => asId('group', id))))
      .orderBy('g.service_id')
      .orderBy('g.key')
      .forUpdate()
      .execute();
  }

  async findByKey(
    serviceId: Id<'service'>,
    key: string,
  ): Promise<{ readonly id: Id<'group'>; readonly mergedIntoId: Id<'group'> | null } | null> {
    const group = await this.selectFrom('exception_groups')
      .select(['id', 'merged_into_id as mergedIntoId'])
      .where('service_id', '=', serviceId)
      .where('key', '=', key)
      .executeTakeFirst();
    return group ?? null;
  }

  /** Locks the status of a group: nobody else changes it until the transaction ends. Null when the group is gone. */
  async lockStatus(groupId: Id<'group'>): Promise<GroupStatus | null> {
    const group = await this.selectFrom('exception_groups')
      .select('status')
      .where('id', '=', groupId)
      .forShare()
      .executeTakeFirst();
    return group?.status ?? null;
  }

  /** Returns the time of the service's newest event; null when no group is left. */
  async lastSeenAt(serviceId: Id<'service'>): Promise<Temporal.Instant | null> {
    const group = await this.selectFrom('exception_groups')
      .select('last_seen_at')
      .where('service_id', '=', serviceId)
      .orderBy('last_seen_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    return group?.last_seen_at ?? null;
  }

  /** Returns those of some services that have a group, whatever its status. */
  async listServicesWithGroups(serviceIds: readonly Id<'service'>[]): Promise<Id<'service'>[]> {
    const services = await this.selectFrom('services as s')
      .select('s.id')
      .where('s.id', '=', anyOf([...serviceIds]))
      .where(({ exists, selectFrom }) =>
        exists(selectFrom('exception_groups as g').select('g.id').whereRef('g.service_id', '=', 's.id')),
      )
      .execute();
    return services.map(({ id }) => id);
  }

  /** The incident that is open because of the group, if any. */
  async findOpenIncidentId(orgId: Id<'org'>, groupId: Id<'group'>): Promise<Id<'incident'> | null> {
    const incident = await this.selectFrom('incidents as i')
      .select('i.id')
      .where('i.org_id', '=', orgId)
      .where('i.status', '<>', 'resolved')
      .where((eb) =>
        eb.or([
          eb('i.exception_group_id', '=', groupId),
          eb(
            'i.id',
            'in',
            eb
              .selectFrom('incident_members as m')
              .select('m.incident_id')
              .where('m.exception_group_id', '=', groupId)
              .where('m.ended_at', 'is', null),
          ),
        ]),
      )
      .orderBy('i.triggered_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    return incident?.id ?? null;
  }

  /**
   * Removes up to `limit` groups whose last event is older than their service keeps; returns how many. One that an
   * event is just coming to is left alone.
   */
  async removeOutdated(now: Temporal.Instant, limit: number): Promise<number> {
    const removed = await this.deleteFrom('exception_groups')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('services as s')
          .innerJoinLateral(
            (lateral) =>
              lateral
                .selectFrom('exception_groups as g')
                .select('g.id')
                .whereRef('g.service_id', '=', 's.id')
                .where('g.last_seen_at', '<', daysBefore(now, lateral.ref('s.retention_exceptions')))
                .limit(limit)
                .forUpdate()
                .skipLocked()
                .as('outdated'),
            (join) => join.onTrue(),
          )
          .select('outdated.id')
          .limit(limit),
      )
      .execute();
    return rowsChanged(removed);
  }

  /** See `GroupOccurrences.upsert`. */
  async upsertSeen(
    events: readonly SeenEvent[],
    now: Temporal.Instant,
    newPerMinute: number,
    checked: CheckedEvents | null = null,
  ): Promise<(SeenGroup | null)[]> {
    return await new GroupOccurrences(this.session, newPerMinute, checked).upsert(events, now);
  }

  /** Groups are hidden with their service, and once their last event is older than the service keeps. */
  #visible(orgId: Id<'org'>, groupId: string, now: Temporal.Instant) {
    return this.selectFrom('exception_groups as g')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'g.service_id').on('s.deleted_at', 'is', null))
      .select(GROUP)
      .select('s.retention_exceptions as retentionDays')
      .where('g.org_id', '=', orgId)
      .where('g.id', '=', asId('group', groupId))
      .where((eb) => eb('g.last_seen_at', '>=', daysBefore(now, eb.ref('s.retention_exceptions'))));
  }

  #listedRows() {
    return this.selectFrom('exception_groups as g')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'g.service_id').on('s.deleted_at', 'is', null))
      .select(columns(ExceptionGroupEntity, 'g', LISTED))
      .select(({ ref }) => [
        timestamp(ref('g.status_changed_at')).as('statusChangedAt'),
        timestampOrNull(ref('g.regressed_at')).as('regressedAt'),
        timestamp(ref('g.first_seen_at')).as('firstSeenAt'),
        timestamp(ref('g.last_seen_at')).as('lastSeenAt'),
        timestamp(ref('g.created_at')).as('createdAt'),
        timestamp(ref('g.updated_at')).as('updatedAt'),
      ]);
  }

  /** The same for lists: what a service keeps is computed once a service, which took most of the time of a long list. */
  #listed(orgId: Id<'org'>, { serviceId, status }: GroupFilter, now: Temporal.Instant) {
    let listed = this.db
      .with(
        (cte) => cte('kept').materialized(),
        (db) =>
          db
            .selectFrom('services')
            .select(['id', 'retention_exceptions'])
            .select((eb) => daysBefore(now, eb.ref('retention_exceptions')).as('since'))
            .where('org_id', '=', orgId)
            .where('deleted_at', 'is', null),
      )
      .selectFrom('exception_groups as g')
      .innerJoin('kept as s', (join) =>
        join.onRef('s.id', '=', 'g.service_id').onRef('g.last_seen_at', '>=', 's.since'),
      )
      .where('g.org_id', '=', orgId)
      .where('g.merged_into_id', 'is', null);
    if (serviceId !== null) listed = listed.where('g.service_id', '=', serviceId);
    if (status !== null) listed = listed.where('g.status', '=', status);
    return listed;
  }
}

function found(group: ExceptionGroupRow | undefined): ExceptionGroupRow {
  if (group === undefined) throw notFound('groupId', 'exception group');
  return group;
}
