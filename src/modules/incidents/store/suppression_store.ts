import { type Expression, sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import type { Acknowledgement } from '#modules/policies/decide/rounds.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, field, json, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { IncidentEntity } from '#storage/postgres/entities/incidents.ts';

const PARENT = ['id', 'title', 'escalationPolicyId', 'severity', 'triggeredAt', 'status'] as const;

/** Columns that say whether an incident may page for others. */
const BINDING = ['steps', 'suppressedUntil', 'parentId', 'stormUntil'] as const;

type Parent = Pick<Row<typeof IncidentEntity>, (typeof PARENT)[number]> & {
  readonly steps: number;
  readonly isBound: boolean;
};

const LINKED = ['id', 'number', 'title', 'status', 'triggeredAt'] as const;

/** An incident that another one is linked to. */
export type LinkedIncident = Pick<Row<typeof IncidentEntity>, (typeof LINKED)[number]>;

type Paging = Pick<Row<typeof IncidentEntity>, 'steps' | 'suppressedUntil' | 'parentId'>;

/**
 * Stores which incidents wait before they page: for the end of a maintenance, or for another incident that pages for
 * them.
 */
export class SuppressionStore extends PostgresStore {
  /** Open incidents of the organization whose pages wait, also those that somebody has acknowledged, oldest first; their ids. */
  async listSuppressed(orgId: Id<'org'>, now: Temporal.Instant, limit: number): Promise<Id<'incident'>[]> {
    const quiet = await this.selectFrom('incidents')
      .select('id')
      .where('org_id', '=', orgId)
      .where('suppressed_until', '>', now)
      .where('status', '<>', 'resolved')
      .orderBy('id')
      .limit(limit)
      .execute();
    return quiet.map(({ id }) => id);
  }

  /** Sets from when on the incident's steps count, which incident pages for it, and until when its pages wait. */
  async setPaging(incidentId: Id<'incident'>, paging: Paging, now: Temporal.Instant): Promise<void> {
    await this.updateTable('incidents')
      .set(toColumns(IncidentEntity, { ...paging, updatedAt: now }))
      .where('id', '=', incidentId)
      .execute();
  }

  /** Stores who has acknowledged while others still must; an empty list for nobody. */
  async setAcknowledgements(
    incidentId: Id<'incident'>,
    acknowledgements: readonly Acknowledgement[],
    now: Temporal.Instant,
  ): Promise<void> {
    await this.updateTable('incidents')
      .set({ acknowledgements: acknowledgements.length === 0 ? null : json(acknowledgements), updated_at: now })
      .where('id', '=', incidentId)
      .execute();
  }

  /**
   * Open incidents of the service that began after this, in shadow mode or not, locked until the transaction ends: none of
   * them ends meanwhile.
   */
  async lockParents(serviceId: Id<'service'>, since: Temporal.Instant, isShadow: boolean): Promise<Parent[]> {
    const rows = await this.selectFrom('incidents as i')
      .select(columns(IncidentEntity, 'i', [...PARENT, ...BINDING]))
      .where('i.service_id', '=', serviceId)
      .where('i.triggered_at', '>=', since)
      .where('i.status', '<>', 'resolved')
      .where('i.is_shadow', '=', isShadow)
      .orderBy('i.id')
      .limit(PARENTS_MAX)
      .forUpdate()
      .execute();
    return rows.map(toParent);
  }

  /** Lists the ids of open incidents for which this incident pages, oldest first. */
  async listChildren(parentId: Id<'incident'>): Promise<Id<'incident'>[]> {
    const children = await this.selectFrom('incidents')
      .select('id')
      .where('parent_id', '=', parentId)
      .where('status', '<>', 'resolved')
      .orderBy('id')
      .execute();
    return children.map(({ id }) => id);
  }

  /** These, or those that follow this one, also when they are over: open ones first, then the newest. */
  async listLinked(
    orgId: Id<'org'>,
    { ids, parentId }: { readonly ids?: readonly Id<'incident'>[]; readonly parentId?: Id<'incident'> },
    limit: number,
  ): Promise<LinkedIncident[]> {
    return await this.selectFrom('incidents as i')
      .select(columns(IncidentEntity, 'i', LINKED))
      .where('i.org_id', '=', orgId)
      .$if(ids !== undefined, (query) => query.where('i.id', '=', anyOf(ids ?? [])))
      .$if(parentId !== undefined, (query) => query.where('i.parent_id', '=', parentId ?? null))
      .orderBy((eb) => eb('i.status', '=', 'resolved'))
      .orderBy('i.triggered_at', 'desc')
      .orderBy('i.id', 'desc')
      .limit(limit)
      .execute();
  }

  async countChildren(parentId: Id<'incident'>): Promise<number> {
    const row = await this.selectFrom('incidents')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('parent_id', '=', parentId)
      .executeTakeFirst();
    return row?.count ?? 0;
  }

  /** Incidents of the service that were open at some time of this span and not of this rule; newest first. */
  async listDuring(
    serviceId: Id<'service'>,
    {
      from,
      to,
      exceptRuleId,
    }: { readonly from: Temporal.Instant; readonly to: Temporal.Instant; readonly exceptRuleId: Id<'rule'> | null },
    limit: number,
  ): Promise<(Parent & Pick<Row<typeof IncidentEntity>, 'serviceId' | 'resolvedAt' | 'number'>)[]> {
    const rows = await this.selectFrom('incidents as i')
      .select(columns(IncidentEntity, 'i', [...PARENT, ...BINDING, 'serviceId', 'resolvedAt', 'number']))
      .where('i.service_id', '=', serviceId)
      .where('i.triggered_at', '>=', from)
      .where('i.triggered_at', '<=', to)
      .$if(exceptRuleId !== null, (query) =>
        query.where((eb) => eb.or([eb('i.rule_id', 'is', null), eb('i.rule_id', '<>', exceptRuleId)])),
      )
      .orderBy('i.triggered_at', 'desc')
      .orderBy('i.id')
      .limit(limit)
      .execute();
    return rows.map(toParent);
  }

  async link(incidentIds: readonly Id<'incident'>[], parentId: Id<'incident'>): Promise<void> {
    if (incidentIds.length === 0) return;
    await this.updateTable('incidents').set({ parent_id: parentId }).where('id', '=', anyOf(incidentIds)).execute();
  }

  /**
   * Acknowledged incidents that have steps, whose rule or source of alerts pages again by now, except those that wait for
   * a maintenance and of which no step has fired or was replaced; oldest first.
   */
  async listStale(now: Temporal.Instant, limit: number): Promise<Id<'incident'>[]> {
    const stale = await this.selectFrom('incidents as i')
      .leftJoin('alert_rules as r', 'r.id', 'i.rule_id')
      .select('i.id')
      .where('i.status', '=', 'acknowledged')
      .where((eb) => {
        const begun = eb
          .selectFrom('incident_steps as s')
          .select('s.incident_id')
          .whereRef('s.incident_id', '=', 'i.id')
          .where((of) => of.or([of('s.state', 'not in', ['pending', 'cancelled']), of('s.reason', '=', 'reassigned')]));
        return eb.or([eb('i.suppressed_until', 'is', null), eb('i.suppressed_until', '<=', now), eb.exists(begun)]);
      })
      .where((eb) => {
        const acknowledgedAt = eb.ref('i.acknowledged_at');
        const sources = eb
          .selectFrom('alerts as a')
          .innerJoin('alert_sources as s', 's.id', 'a.source_id')
          .select('a.id')
          .whereRef('a.incident_id', '=', 'i.id')
          .where((of) => isStale(of.ref('s.settings'), acknowledgedAt, now));
        return eb.or([isStale(eb.ref('r.settings'), acknowledgedAt, now), eb.exists(sources)]);
      })
      .where((eb) => sql<boolean>`json_array_length(${eb.ref('i.steps')}) > 0`)
      .orderBy('i.acknowledged_at')
      .limit(limit)
      .execute();
    return stale.map(({ id }) => id);
  }

  /** Returns the shortest acknowledgement timeout of the sources whose alerts the incident stands for; null for none. */
  async findRepageMinutes(incidentId: Id<'incident'>): Promise<number | null> {
    const row = await this.selectFrom('alerts as a')
      .innerJoin('alert_sources as s', 's.id', 'a.source_id')
      .select(({ ref }) => sql<number | null>`min((${field(ref('s.settings'), 'repageMinutes')})::int)`.as('minutes'))
      .where('a.incident_id', '=', incidentId)
      .executeTakeFirst();
    return row?.minutes ?? null;
  }
}

const PARENTS_MAX = 100;

function toParent<Found extends Pick<Row<typeof IncidentEntity>, (typeof BINDING)[number]>>({
  steps,
  suppressedUntil,
  parentId,
  stormUntil,
  ...parent
}: Found) {
  return {
    ...parent,
    steps: steps.length,
    isBound: suppressedUntil !== null || parentId !== null || stormUntil !== null,
  };
}

/** Returns whether an acknowledgement is older than `repageMinutes` of the settings; null without that setting. */
function isStale(settings: Expression<object | null>, acknowledgedAt: Expression<unknown>, now: Temporal.Instant) {
  const minutes = sql<number>`(${field(settings, 'repageMinutes')})::int`;
  return sql<boolean>`${acknowledgedAt} + make_interval(mins => ${minutes}) <= ${now}::timestamptz`;
}
