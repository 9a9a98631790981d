import type { IncidentActor, IncidentStatus } from '#core/incidents/incident.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';

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

/** Another incident of the organization. */
export interface NeighbourIncident {
  readonly incidentId: Id<'incident'>;
  readonly number: number;
  readonly title: string;
  readonly status: IncidentStatus;
  readonly serviceName: string;
  readonly triggeredAt: Temporal.Instant;
}

/** An exception group that was new then. */
export interface NewGroup {
  readonly groupId: Id<'group'>;
  readonly title: string;
  readonly level: string;
  readonly serviceName: string;
  readonly release: string | null;
  readonly createdAt: Temporal.Instant;
}

interface Span {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
}

/** Of a busy service, this many incidents are looked through for similar ones. */
const LOOKED_THROUGH_MAX = 5_000;

/** What else is known around an incident. Each query is bounded by an index and a time. */
export class IncidentContextReader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Of the same service since then: of the same exception group, of the same metric rule, or with the same title. Newest first. */
  async listSimilar(
    { id, serviceId, ruleId, exceptionGroupId, title }: IncidentRow,
    { since, keptSince }: { readonly since: Temporal.Instant; readonly keptSince: Temporal.Instant },
    limit: number,
  ): Promise<SimilarIncident[]> {
    const recent = this.#session.db
      .selectFrom('incidents')
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
    return await this.#session.db
      .selectFrom(recent.as('i'))
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

  /** The other incidents of the organization that opened then, oldest first. */
  async listNeighbours({ id, orgId }: IncidentRow, { from, to }: Span, limit: number): Promise<NeighbourIncident[]> {
    return await this.#session.db
      .selectFrom('incidents as i')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'i.service_id').on('s.deleted_at', 'is', null))
      .select([
        'i.id as incidentId',
        'i.number',
        'i.title',
        'i.status',
        's.name as serviceName',
        'i.triggered_at as triggeredAt',
      ])
      .where('i.org_id', '=', orgId)
      .where('i.triggered_at', '>=', from)
      .where('i.triggered_at', '<=', to)
      .where('i.id', '<>', id)
      .orderBy('i.triggered_at')
      .orderBy('i.id')
      .limit(limit)
      .execute();
  }

  /** The exception groups of the organization that were new then, oldest first. */
  async listNewGroups(orgId: Id<'org'>, { from, to }: Span, limit: number): Promise<NewGroup[]> {
    return await this.#session.db
      .selectFrom('services as s')
      .innerJoin('exception_groups as g', 'g.service_id', 's.id')
      .select([
        'g.id as groupId',
        'g.title',
        'g.level',
        's.name as serviceName',
        'g.first_release as release',
        'g.created_at as createdAt',
      ])
      .where('s.org_id', '=', orgId)
      .where('s.deleted_at', 'is', null)
      .where('g.created_at', '>=', from)
      .where('g.created_at', '<=', to)
      .orderBy('g.created_at')
      .orderBy('g.id')
      .limit(limit)
      .execute();
  }
}
