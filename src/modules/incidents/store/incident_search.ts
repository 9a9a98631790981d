import { type Expression, type Kysely, sql } from 'kysely';

import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, daysBefore, field, PostgresStore, prepared, type Values } from '#storage/postgres/store.ts';
import type { Tables } from '#storage/postgres/tables.ts';

/** Filter of an organization's incidents; absent fields do not narrow it. */
export interface IncidentFilter {
  readonly serviceId?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly severity?: string | undefined;
  /** Teams that own the services. */
  readonly ownedByTeams?: readonly Id<'team'>[] | undefined;
  /** Part of the title, of `#number` or of the service's name, in any case. */
  readonly text?: string | undefined;
  /** Person whose acknowledged incidents alone are included, of those that are acknowledged. */
  readonly acknowledgedBy?: Id<'user'> | undefined;
  readonly incidentIds?: readonly string[] | undefined;
  readonly triggeredUntil?: Temporal.Instant | undefined;
}

/** A place in the order of a list: open ones by their trigger, resolved ones by when they were resolved. */
export interface IncidentPlace {
  readonly status: IncidentStatus;
  readonly at: Temporal.Instant;
  readonly id: string;
}

/** The life of an incident, as charts mark it. */
export interface IncidentSpan {
  readonly id: Id<'incident'>;
  readonly number: number;
  readonly title: string;
  readonly status: IncidentStatus;
  readonly serviceId: Id<'service'>;
  readonly triggeredAt: Temporal.Instant;
  readonly resolvedAt: Temporal.Instant | null;
}

export type StatusCounts = Record<IncidentStatus, number>;

/** Open incidents of a service, at least one. */
export interface OpenCounts {
  readonly serviceId: Id<'service'>;
  readonly triggered: number;
  readonly acknowledged: number;
}

/** Number of incidents that a rule has opened; a rule that was deleted has no name. */
interface RuleCount {
  readonly ruleId: Id<'rule'> | null;
  readonly ruleName: string | null;
  readonly count: number;
}

interface OfOrganization {
  readonly orgId: Id<'org'>;
  readonly serviceId?: Id<'service'> | undefined;
}

/** Counts of each service and status. */
const COUNT_OPEN = prepared((db, { orgId, serviceId }: Values<OfOrganization>) => {
  let open = db.selectFrom('incidents as i').where('i.org_id', '=', orgId).where('i.status', '<>', 'resolved');
  if (serviceId !== undefined) open = open.where('i.service_id', '=', serviceId);
  const counted = open
    .select((eb) => ['i.service_id', 'i.status', eb.fn.countAll<number>().as('count')])
    .groupBy(['i.service_id', 'i.status']);
  return db
    .selectFrom(counted.as('o'))
    .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'o.service_id').on('s.deleted_at', 'is', null))
    .select(['o.service_id as serviceId', 'o.status', 'o.count']);
});

const COUNT_RESOLVED = prepared((db, { orgId, serviceId, now }: Values<OfOrganization & { now: Temporal.Instant }>) => {
  const resolved = keptIncidents(db, orgId, now).where('i.status', '=', 'resolved');
  return (serviceId === undefined ? resolved : resolved.where('i.service_id', '=', serviceId))
    .select((eb) => ['i.status', eb.fn.countAll<number>().as('count')])
    .groupBy('i.status');
});

interface Triggered extends OfOrganization {
  readonly ruleId?: Id<'rule'> | undefined;
  readonly since: Temporal.Instant;
  readonly limit: number;
}

const COUNT_BY_RULE = prepared((db, { orgId, serviceId, ruleId, since, limit }: Values<Triggered>) => {
  let triggered = db
    .selectFrom('incidents as i')
    .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'i.service_id').on('s.deleted_at', 'is', null))
    .where('i.org_id', '=', orgId)
    .where('i.triggered_at', '>=', since);
  if (serviceId !== undefined) triggered = triggered.where('i.service_id', '=', serviceId);
  if (ruleId !== undefined) triggered = triggered.where('i.rule_id', '=', ruleId);
  const noisiest = triggered
    .select((eb) => ['i.rule_id as ruleId', eb.fn.countAll<number>().as('count')])
    .groupBy('i.rule_id')
    .orderBy('count', 'desc')
    .orderBy('i.rule_id')
    .limit(limit);
  return db
    .selectFrom(noisiest.as('n'))
    .leftJoin('alert_rules as r', 'r.id', 'n.ruleId')
    .select(['n.ruleId', 'r.name as ruleName', 'n.count'])
    .orderBy('n.count', 'desc')
    .orderBy('n.ruleId');
});

/**
 * Selects the incidents that are open or still kept. The retention of a service is computed once a service, not once an
 * incident.
 */
function keptIncidents(
  db: Kysely<Tables>,
  orgId: Id<'org'> | Expression<Id<'org'>>,
  now: Temporal.Instant | Expression<Temporal.Instant>,
  ownedByTeams?: readonly Id<'team'>[],
) {
  return db
    .with(
      (cte) => cte('kept').materialized(),
      (kept) =>
        kept
          .selectFrom('services')
          .select((eb) => ['id', 'name', daysBefore(now, eb.ref('retention_oncall')).as('since')])
          .where('org_id', '=', orgId)
          .where('deleted_at', 'is', null)
          .$if(ownedByTeams !== undefined, (services) => services.where('team_id', '=', anyOf(ownedByTeams ?? []))),
    )
    .selectFrom('incidents as i')
    .innerJoin('kept as s', (join) =>
      join
        .onRef('s.id', '=', 'i.service_id')
        .on((eb) => eb.or([eb('i.status', '<>', 'resolved'), eb('i.resolved_at', '>=', eb.ref('s.since'))])),
    )
    .where('i.org_id', '=', orgId);
}

function serviceOf(serviceId: string | undefined): Id<'service'> | undefined {
  return serviceId === undefined ? undefined : asId('service', serviceId);
}

/** Finds and counts incidents, page by page: nothing is out of reach, however many there are. */
export class IncidentSearch extends PostgresStore {
  /** Lists incidents by status in the order given, the newest of each first, at most `limit` after `after`. */
  async listPlaces(
    orgId: Id<'org'>,
    filter: IncidentFilter,
    statuses: readonly IncidentStatus[],
    page: { readonly after: IncidentPlace | null; readonly limit: number },
    now: Temporal.Instant,
  ): Promise<IncidentPlace[]> {
    const places: IncidentPlace[] = [];
    const first = page.after === null ? 0 : statuses.indexOf(page.after.status);
    for (const status of statuses.slice(Math.max(0, first))) {
      const left = page.limit - places.length;
      if (left <= 0) break;
      const after = page.after?.status === status ? page.after : null;
      const at = status === 'resolved' ? 'i.resolved_at' : 'i.triggered_at';
      let query = this.#matching(orgId, filter, now).where('i.status', '=', status);
      if (after !== null) {
        query = query.where((eb) => eb(eb.refTuple(at, 'i.id'), '<', eb.tuple(after.at, asId('incident', after.id))));
      }
      const rows = await query
        .select((eb) => ['i.id', eb.ref(at).$notNull().as('at')])
        .orderBy(at, 'desc')
        .orderBy('i.id', 'desc')
        .limit(left)
        .execute();
      places.push(...rows.map(({ id, at: since }) => ({ status, at: since, id })));
    }
    return places;
  }

  /** Lists incidents of the services that were open at some time of the period, newest first. */
  async listDuring(
    orgId: Id<'org'>,
    serviceIds: readonly Id<'service'>[],
    { from, to }: { readonly from: Temporal.Instant; readonly to: Temporal.Instant },
    limit: number,
    now: Temporal.Instant,
  ): Promise<IncidentSpan[]> {
    const rows = await this.#matching(orgId, {}, now)
      .where('i.service_id', '=', anyOf(serviceIds))
      .where('i.triggered_at', '<', to)
      .where((eb) => eb.or([eb('i.resolved_at', 'is', null), eb('i.resolved_at', '>=', from)]))
      .select(['i.id', 'i.number', 'i.title', 'i.status', 'i.service_id', 'i.triggered_at', 'i.resolved_at'])
      .orderBy('i.triggered_at', 'desc')
      .orderBy('i.id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ service_id: serviceId, triggered_at: triggeredAt, resolved_at: resolvedAt, ...row }) => ({
      ...row,
      serviceId,
      triggeredAt,
      resolvedAt,
    }));
  }

  async countByStatus(orgId: Id<'org'>, filter: IncidentFilter, now: Temporal.Instant): Promise<StatusCounts> {
    const { serviceId, ...others } = filter;
    const isOfAll = Object.values(others).every((value) => value === undefined);
    // Open incidents are counted in an index, however many there are.
    const counted = isOfAll
      ? await Promise.all([
          this.#countOpen(orgId, serviceId),
          COUNT_RESOLVED.rows(this.session, { orgId, serviceId: serviceOf(serviceId), now }),
        ])
      : [await this.#countMatching(orgId, filter, now)];
    const counts = new Map<IncidentStatus, number>();
    for (const { status, count } of counted.flat()) {
      counts.set(status, (counts.get(status) ?? 0) + count);
    }
    const countOf = (status: IncidentStatus) => counts.get(status) ?? 0;
    return { triggered: countOf('triggered'), acknowledged: countOf('acknowledged'), resolved: countOf('resolved') };
  }

  /** Counts the incidents that each rule has opened since then, the noisiest first. */
  async countByRule(
    orgId: Id<'org'>,
    {
      serviceId,
      ruleId,
      since,
    }: {
      readonly serviceId?: string | undefined;
      readonly ruleId?: Id<'rule'> | undefined;
      readonly since: Temporal.Instant;
    },
    limit: number,
  ): Promise<RuleCount[]> {
    return await COUNT_BY_RULE.rows(this.session, { orgId, serviceId: serviceOf(serviceId), ruleId, since, limit });
  }

  /** A service without any is absent. */
  async countOpenByService(orgId: Id<'org'>): Promise<OpenCounts[]> {
    const counted = Map.groupBy(await this.#countOpen(orgId), ({ serviceId }) => serviceId);
    return [...counted].map(([serviceId, ofService]) => {
      const countOf = (wanted: IncidentStatus) => ofService.find(({ status }) => status === wanted)?.count ?? 0;
      return { serviceId, triggered: countOf('triggered'), acknowledged: countOf('acknowledged') };
    });
  }

  /** Counts open incidents by service and status; combinations without any are absent. */
  async #countOpen(orgId: Id<'org'>, serviceId?: string) {
    return await COUNT_OPEN.rows(this.session, { orgId, serviceId: serviceOf(serviceId) });
  }

  async #countMatching(orgId: Id<'org'>, filter: IncidentFilter, now: Temporal.Instant) {
    return await this.#matching(orgId, filter, now)
      .select((eb) => ['i.status', eb.fn.countAll<number>().as('count')])
      .groupBy('i.status')
      .execute();
  }

  #matching(
    orgId: Id<'org'>,
    { serviceId, ruleId, severity, ownedByTeams, text, acknowledgedBy, incidentIds, triggeredUntil }: IncidentFilter,
    now: Temporal.Instant,
  ) {
    let query = keptIncidents(this.db, orgId, now, ownedByTeams);
    if (serviceId !== undefined) query = query.where('i.service_id', '=', asId('service', serviceId));
    if (ruleId !== undefined) {
      const id = asId('rule', ruleId);
      query = query.where((eb) =>
        eb.or([
          eb('i.rule_id', '=', id),
          eb.exists(
            eb
              .selectFrom('incident_members as m')
              .select('m.rule_id')
              .whereRef('m.incident_id', '=', 'i.id')
              .where('m.rule_id', '=', id),
          ),
        ]),
      );
    }
    if (severity !== undefined) query = query.where('i.severity', '=', severity);
    if (text !== undefined) {
      query = query.where(({ ref }) => {
        const searched = sql`lower(${ref('i.title')} || ' #' || ${ref('i.number')} || ' ' || ${ref('s.name')})`;
        return sql<boolean>`strpos(${searched}, lower(${text})) > 0`;
      });
    }
    if (acknowledgedBy !== undefined) {
      query = query.where((eb) =>
        eb.or([
          eb('i.status', '<>', 'acknowledged'),
          eb(field(eb.ref('i.acknowledged_by'), 'userId'), '=', acknowledgedBy),
        ]),
      );
    }
    if (triggeredUntil !== undefined) query = query.where('i.triggered_at', '<=', triggeredUntil);
    if (incidentIds !== undefined) {
      query = query.where('i.id', '=', anyOf(incidentIds.map((id) => asId('incident', id))));
    }
    return query;
  }
}
