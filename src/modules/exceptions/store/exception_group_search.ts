import { type Expression, type RawBuilder, sql } from 'kysely';

import type { Level } from '#modules/exceptions/decide/level.ts';
import type { GroupSort, GroupStatus } from '#modules/exceptions/decide/group_status.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, daysBefore, PostgresStore } from '#storage/postgres/store.ts';
import type { ExceptionGroupRow, GroupPlace } from '#modules/exceptions/store/exception_group_store.ts';

/** Filter of an organization's groups; absent fields do not narrow it. */
export interface GroupSearchFilter {
  readonly serviceId?: Id<'service'> | undefined;
  readonly status?: GroupStatus | undefined;
  readonly severity?: Level | undefined;
  /** Part of the title, the type or the place in the code, in any case. */
  readonly text?: string | undefined;
  readonly groupIds?: readonly Id<'group'>[] | undefined;
  readonly firstRelease?: string | undefined;
  /** Ids of people and teams, any of which works on the group; an empty list for nobody. */
  readonly assignedTo?: readonly string[] | undefined;
  /** Teams whose services' groups are meant as well while nobody works on them, with `assignedTo`. */
  readonly ownedByTeams?: readonly Id<'team'>[] | undefined;
  /** Any of them. */
  readonly statuses?: readonly GroupStatus[] | undefined;
  /** Time at which the listed groups existed already. */
  readonly createdUntil?: Temporal.Instant | undefined;
}

/** A place in the order of a list: the number that it is sorted by, times in epoch milliseconds. */
export interface SortedPlace {
  readonly value: number;
  readonly id: string;
}

export type FoundGroup = GroupPlace & SortedPlace & { readonly id: Id<'group'>; readonly serviceName: string };

export type GroupStatusCounts = Record<GroupStatus, number>;

/** Finds and counts groups, page by page: nothing is out of reach, however many there are. */
export class ExceptionGroupSearch extends PostgresStore {
  /** Lists groups after `after`, at most `limit`. */
  async list(
    orgId: Id<'org'>,
    filter: GroupSearchFilter,
    page: { readonly sort: GroupSort; readonly after: SortedPlace | null; readonly limit: number },
    now: Temporal.Instant,
  ): Promise<FoundGroup[]> {
    const { sort, after, limit } = page;
    let query = this.#matching(orgId, filter, now);
    if (after !== null) query = query.where(({ ref }) => isBehind(sort, after, ref));
    return await query
      .select(['g.id', 'g.service_id as serviceId', 's.retention_exceptions as retentionDays', 's.name as serviceName'])
      .select(({ ref }) => numberOf(sort, ref).as('value'))
      .orderBy(({ ref }) => orderOf(sort, ref), 'desc')
      .orderBy('g.id', 'desc')
      .limit(limit)
      .execute();
  }

  async countByStatus(orgId: Id<'org'>, filter: GroupSearchFilter, now: Temporal.Instant): Promise<GroupStatusCounts> {
    const rows = await this.#matching(orgId, { ...filter, status: undefined }, now)
      .select((eb) => ['g.status', eb.fn.countAll<number>().as('count')])
      .groupBy('g.status')
      .execute();
    const counts = new Map(rows.map(({ status, count }) => [status, count]));
    const countOf = (status: GroupStatus) => counts.get(status) ?? 0;
    return { unresolved: countOf('unresolved'), resolved: countOf('resolved'), ignored: countOf('ignored') };
  }

  /** The services whose events are meant, by how long they keep them; all of the organization's for null. */
  async listServices(
    orgId: Id<'org'>,
    serviceId: Id<'service'> | null,
    now: Temporal.Instant,
  ): Promise<{ serviceIds: Id<'service'>[]; keptSince: Temporal.Instant }[]> {
    let services = this.selectFrom('services')
      .select(({ fn }) => ['retention_exceptions', fn.agg<Id<'service'>[]>('array_agg', ['id']).as('serviceIds')])
      .where('org_id', '=', orgId)
      .where('deleted_at', 'is', null)
      .groupBy('retention_exceptions');
    if (serviceId !== null) services = services.where('id', '=', serviceId);
    const rows = await services.execute();
    return rows.map(({ serviceIds, retention_exceptions: days }) => {
      return { serviceIds, keptSince: now.subtract({ hours: 24 * days }) };
    });
  }

  /** Lists the incidents that the group has opened, newest first, with their total; storms that it is part of, too. */
  async listIncidents(orgId: Id<'org'>, groupId: Id<'group'>, limit: number) {
    return await this.selectFrom('incidents as i')
      .select((eb) => [
        'i.id as incidentId',
        eb.ref('i.number').$notNull().as('number'),
        'i.title',
        'i.status',
        'i.triggered_at as triggeredAt',
        'i.resolved_at as resolvedAt',
        eb.fn.countAll<number>().over().as('total'),
      ])
      .where('i.org_id', '=', orgId)
      .where(({ eb, or, selectFrom }) =>
        or([
          eb('i.exception_group_id', '=', groupId),
          eb(
            'i.id',
            'in',
            selectFrom('incident_members as m').select('m.incident_id').where('m.exception_group_id', '=', groupId),
          ),
        ]),
      )
      .orderBy('i.triggered_at', 'desc')
      .orderBy('i.id', 'desc')
      .limit(limit)
      .execute();
  }

  /** Others of the service of the same type or from the same place, last seen first. */
  async listAkin(
    { id, serviceId, type, culprit }: Pick<ExceptionGroupRow, 'id' | 'serviceId' | 'type' | 'culprit'>,
    limit: number,
  ) {
    return await this.selectFrom('exception_groups as g')
      .select(['g.id', 'g.title', 'g.type', 'g.culprit', 'g.status', 'g.grouping_parts as groupingParts'])
      .select('g.last_seen_at as lastSeenAt')
      .where('g.service_id', '=', serviceId)
      .where('g.id', '<>', id)
      .where('g.merged_into_id', 'is', null)
      .where(({ eb, or }) => or([eb('g.type', '=', type), eb('g.culprit', '=', culprit)]))
      .orderBy('g.last_seen_at', 'desc')
      .limit(limit)
      .execute();
  }

  /** Selects the groups. The retention of a service is computed once a service, not once a group. */
  #matching(orgId: Id<'org'>, filter: GroupSearchFilter, now: Temporal.Instant) {
    const {
      serviceId,
      status,
      statuses,
      severity,
      text,
      groupIds,
      createdUntil,
      assignedTo,
      ownedByTeams,
      firstRelease,
    } = filter;
    let query = this.db
      .with(
        (cte) => cte('kept').materialized(),
        (db) =>
          db
            .selectFrom('services')
            .select(['id', 'name', 'team_id', 'retention_exceptions'])
            .select((eb) => daysBefore(now, eb.ref('retention_exceptions')).as('since'))
            .where('org_id', '=', orgId)
            .where('deleted_at', 'is', null),
      )
      .selectFrom('exception_groups as g')
      .innerJoin('kept as s', (join) =>
        join.onRef('s.id', '=', 'g.service_id').onRef('g.last_seen_at', '>=', 's.since'),
      )
      .leftJoin('exception_group_counts as c', 'c.group_id', 'g.id')
      .where('g.org_id', '=', orgId)
      .where('g.merged_into_id', 'is', null);
    if (serviceId !== undefined) query = query.where('g.service_id', '=', serviceId);
    if (status !== undefined) query = query.where('g.status', '=', status);
    if (statuses !== undefined) query = query.where('g.status', '=', anyOf(statuses));
    if (createdUntil !== undefined) query = query.where('g.created_at', '<=', createdUntil);
    if (severity !== undefined) query = query.where('g.level', '=', severity);
    if (firstRelease !== undefined) query = query.where('g.first_release', '=', firstRelease);
    if (groupIds !== undefined) query = query.where('g.id', '=', anyOf(groupIds));
    if (assignedTo !== undefined) {
      query = query.where(({ eb, and, or }) => {
        const isFree = and([eb('g.assigned_user_id', 'is', null), eb('g.assigned_team_id', 'is', null)]);
        return assignedTo.length === 0
          ? isFree
          : or([
              and([isFree, eb('s.team_id', '=', anyOf(ownedByTeams ?? []))]),
              eb('g.assigned_user_id', '=', anyOf(assignedTo.map((id) => asId('user', id)))),
              eb('g.assigned_team_id', '=', anyOf(assignedTo.map((id) => asId('team', id)))),
            ]);
      });
    }
    if (text !== undefined) {
      query = query.where(({ ref }) => {
        const said = sql`${ref('g.title')} || ' ' || coalesce(${ref('g.type')}, '') || ' ' || coalesce(${ref('g.culprit')}, '')`;
        return sql<boolean>`strpos(lower(${said}), lower(${text})) > 0`;
      });
    }
    return query;
  }
}

/** The columns that rows are ordered by, in the query that finds them. */
type Ref = (column: 'g.last_seen_at' | 'g.first_seen_at' | 'g.id' | 'c.events' | 'c.users') => Expression<unknown>;

/** Returns the expression that rows are ordered by, so that an index serves it where there is one. */
function orderOf(sort: GroupSort, ref: Ref): Expression<unknown> {
  switch (sort) {
    case 'last':
      return ref('g.last_seen_at');
    case 'first':
      return ref('g.first_seen_at');
    case 'events':
    case 'users':
      return sql`coalesce(${ref(`c.${sort}`)}, 0)`;
  }
}

const isTime = (sort: GroupSort): boolean => sort === 'last' || sort === 'first';

/** Returns the expression of `orderOf` as a number. */
function numberOf(sort: GroupSort, ref: Ref): RawBuilder<number> {
  const order = orderOf(sort, ref);
  return isTime(sort) ? sql<number>`(extract(epoch from ${order}) * 1000)::bigint` : sql<number>`${order}`;
}

function isBehind(sort: GroupSort, { value, id }: SortedPlace, ref: Ref): RawBuilder<boolean> {
  const than = isTime(sort)
    ? sql`to_timestamp(${value}::double precision / 1000)::timestamptz(3)`
    : sql`${value}::bigint`;
  return sql<boolean>`(${orderOf(sort, ref)}, ${ref('g.id')}) < (${than}, ${asId('group', id)})`;
}
