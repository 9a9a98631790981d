import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely';

import type { IncidentActor, IncidentStatus } from '#modules/incidents/decide/incident.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { PostgresStore } from '#storage/postgres/store.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';

/** An earlier or later incident of the same cause. */
export interface SimilarIncident {
  readonly incidentId: Id<'incident'>;
  readonly number: number;
  readonly title: string;
  readonly status: IncidentStatus;
  readonly triggeredAt: Temporal.Instant;
  readonly acknowledgedAt: Temporal.Instant | null;
  readonly resolvedAt: Temporal.Instant | null;
  readonly resolvedBy: IncidentActor | null;
}

export interface NeighbourIncident {
  readonly incidentId: Id<'incident'>;
  readonly number: number;
  readonly title: string;
  readonly status: IncidentStatus;
  readonly serviceId: Id<'service'>;
  readonly serviceName: string;
  readonly exceptionGroupId: Id<'group'> | null;
  readonly triggeredAt: Temporal.Instant;
}

export interface NewGroup {
  readonly groupId: Id<'group'>;
  readonly title: string;
  readonly level: string;
  readonly serviceId: Id<'service'>;
  readonly serviceName: string;
  readonly release: string | null;
  readonly createdAt: Temporal.Instant;
}

export interface LaterIncident {
  readonly id: Id<'incident'>;
  readonly number: number;
  readonly title: string;
  readonly status: IncidentStatus;
  readonly triggeredAt: Temporal.Instant;
  /** Number of later incidents of the cause, this one included. */
  readonly count: number;
}

interface Span {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
}

/** Events near an incident that are shown, and totals, counted up to 1,000. */
interface Nearby<Item> {
  readonly items: readonly Item[];
  readonly totals: { readonly ofService: number; readonly elsewhere: number };
}

const COUNTED_MAX = 1_000;

/** Most incidents of a service that are looked through for similar ones. */
const LOOKED_THROUGH_MAX = 5_000;

/** Reads what else is known around an incident. Each query is bounded by an index and a time. */
export class IncidentContextReader extends PostgresStore {
  /**
   * Lists incidents of the same service since then with the same exception group, metric rule or title, newest first.
   */
  async listSimilar(
    { id, serviceId, ruleId, exceptionGroupId, title }: IncidentRow,
    { since, keptSince }: { readonly since: Temporal.Instant; readonly keptSince: Temporal.Instant },
    limit: number,
  ): Promise<SimilarIncident[]> {
    const recent = this.selectFrom('incidents')
      .select([
        'id as incidentId',
        'number',
        'title',
        'status',
        'rule_id',
        'exception_group_id',
        'triggered_at as triggeredAt',
        'acknowledged_at as acknowledgedAt',
        'resolved_at as resolvedAt',
        'resolved_by as resolvedBy',
      ])
      .where('service_id', '=', serviceId)
      .where('triggered_at', '>', since)
      .orderBy('triggered_at', 'desc')
      .limit(LOOKED_THROUGH_MAX);
    return await this.selectFrom(recent.as('i'))
      .select([
        'i.incidentId',
        'i.number',
        'i.title',
        'i.status',
        'i.triggeredAt',
        'i.acknowledgedAt',
        'i.resolvedAt',
        'i.resolvedBy',
      ])
      .where('i.incidentId', '<>', id)
      .where((eb) => eb.or([eb('i.status', '<>', 'resolved'), eb('i.resolvedAt', '>=', keptSince)]))
      .where((eb) =>
        eb.or([
          eb('i.title', '=', title),
          ...(exceptionGroupId === null ? [] : [eb('i.exception_group_id', '=', exceptionGroupId)]),
          ...(exceptionGroupId !== null || ruleId === null
            ? []
            : [eb.and([eb('i.rule_id', '=', ruleId), eb('i.exception_group_id', 'is', null)])]),
        ]),
      )
      .orderBy('i.triggeredAt', 'desc')
      .orderBy('i.incidentId', 'desc')
      .limit(limit)
      .execute();
  }

  /** Returns the newest incident that the same cause has opened since; null for none. */
  async findLater({ id, serviceId, triggeredAt }: IncidentRow): Promise<LaterIncident | null> {
    const since = this.selectFrom('incidents')
      .select(['id', 'number', 'title', 'status', 'triggered_at as triggeredAt', 'dedup_key as dedupKey'])
      .where('service_id', '=', serviceId)
      .where('triggered_at', '>', triggeredAt)
      .orderBy('triggered_at', 'desc')
      .limit(LOOKED_THROUGH_MAX);
    const later = await this.selectFrom(since.as('l'))
      .innerJoin('incidents as i', 'i.dedup_key', 'l.dedupKey')
      .select(['l.id', 'l.number', 'l.title', 'l.status', 'l.triggeredAt'])
      .select((eb) => eb.fn.countAll<number>().over().as('count'))
      .where('i.id', '=', id)
      .orderBy('l.triggeredAt', 'desc')
      .orderBy('l.id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return later ?? null;
  }

  /**
   * The other incidents of the organization that opened then: those of its own service first, there what opened before it, and
   * there the nearest.
   */
  async listNeighbours(
    { id, orgId, serviceId, triggeredAt }: IncidentRow,
    { from, to }: Span,
    limit: number,
  ): Promise<Nearby<NeighbourIncident>> {
    const all = this.selectFrom('incidents as i')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'i.service_id').on('s.deleted_at', 'is', null))
      .select([
        'i.id as incidentId',
        'i.number',
        'i.title',
        'i.status',
        's.id as serviceId',
        's.name as serviceName',
        'i.exception_group_id as exceptionGroupId',
        'i.triggered_at as triggeredAt',
      ])
      .where('i.org_id', '=', orgId)
      .where('i.triggered_at', '>=', from)
      .where('i.triggered_at', '<=', to)
      .where('i.id', '<>', id)
      .orderBy((eb) => eb('s.id', '=', serviceId), 'desc')
      .orderBy((eb) => eb('i.triggered_at', '<=', triggeredAt), 'desc')
      .orderBy(distanceOf('i.triggered_at', triggeredAt))
      .orderBy('i.id')
      .limit(COUNTED_MAX);
    const rows = await this.selectFrom(all.as('nearby'))
      .selectAll()
      .select((eb) => countsOf(eb, serviceId))
      .limit(limit)
      .execute();
    return toNearby(rows);
  }

  /** The exception groups of the organization that were new then, without its own; in the same order. */
  async listNewGroups(
    { orgId, serviceId, exceptionGroupId, triggeredAt }: IncidentRow,
    { from, to }: Span,
    limit: number,
  ): Promise<Nearby<NewGroup>> {
    const all = this.selectFrom('services as s')
      .innerJoin('exception_groups as g', 'g.service_id', 's.id')
      .select([
        'g.id as groupId',
        'g.title',
        'g.level',
        's.id as serviceId',
        's.name as serviceName',
        'g.first_release as release',
        'g.created_at as createdAt',
      ])
      .where('s.org_id', '=', orgId)
      .where('s.deleted_at', 'is', null)
      .where('g.created_at', '>=', from)
      .where('g.created_at', '<=', to)
      .$if(exceptionGroupId !== null, (query) => query.where('g.id', '<>', exceptionGroupId))
      .orderBy((eb) => eb('s.id', '=', serviceId), 'desc')
      .orderBy((eb) => eb('g.created_at', '<=', triggeredAt), 'desc')
      .orderBy(distanceOf('g.created_at', triggeredAt))
      .orderBy('g.id')
      .limit(COUNTED_MAX);
    const rows = await this.selectFrom(all.as('nearby'))
      .selectAll()
      .select((eb) => countsOf(eb, serviceId))
      .limit(limit)
      .execute();
    return toNearby(rows);
  }
}

function distanceOf(column: string, at: Temporal.Instant): RawBuilder<number> {
  return sql<number>`abs(extract(epoch from ${sql.ref(column)} - ${at}::timestamptz))`;
}

function countsOf(eb: ExpressionBuilder<{ nearby: { serviceId: Id<'service'> } }, 'nearby'>, serviceId: Id<'service'>) {
  return [
    eb.fn.countAll().over().as('count'),
    eb.fn.countAll().filterWhere('nearby.serviceId', '=', serviceId).over().as('ofService'),
  ] as const;
}

function toNearby<Row extends { readonly count: unknown; readonly ofService: unknown }>(rows: readonly Row[]) {
  const ofService = Number(rows[0]?.ofService ?? 0);
  const elsewhere = Number(rows[0]?.count ?? 0) - ofService;
  return { items: rows.map(({ count: _, ofService: __, ...item }) => item), totals: { ofService, elsewhere } };
}
