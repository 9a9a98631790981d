import { sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row } from '#storage/postgres/store.ts';
import { IncidentEntity } from '#storage/postgres/entities/incidents.ts';

const OPENED = ['id', 'number', 'title', 'severity', 'serviceId', 'triggeredAt', 'resolvedAt', 'isShadow'] as const;

export type OpenedIncident = Pick<Row<typeof IncidentEntity>, (typeof OPENED)[number]> & {
  readonly serviceName: string;
};

/** A step of an incident that paged people, or would have. */
export interface FiredStep {
  readonly incidentId: Id<'incident'>;
  readonly at: Temporal.Instant;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const FIRED = ['step_fired', 'step_in_shadow'];

/** Stores since when services and organizations are in shadow mode, and reads the incidents that were opened in it. */
export class ShadowStore extends PostgresStore {
  /** Returns those of the services that are in shadow mode, by themselves or with their organization. */
  async findServices(serviceIds: readonly Id<'service'>[]): Promise<Set<Id<'service'>>> {
    if (serviceIds.length === 0) return new Set();
    const services = await this.selectFrom('services as s')
      .innerJoin('organizations as o', 'o.id', 's.org_id')
      .select('s.id')
      .where('s.id', '=', anyOf([...new Set(serviceIds)]))
      .where(({ or, eb }) => or([eb('s.shadow_since', 'is not', null), eb('o.shadow_since', 'is not', null)]))
      .execute();
    return new Set(services.map(({ id }) => id));
  }

  /** Sets since when the organization is in shadow mode, null to end it; returns the value before. */
  async setOrganization(orgId: Id<'org'>, since: Temporal.Instant | null): Promise<Temporal.Instant | null> {
    const before = await this.selectFrom('organizations')
      .select('shadow_since as since')
      .where('id', '=', orgId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const { db } = this;
    await db.updateTable('organizations').set({ shadow_since: since }).where('id', '=', orgId).execute();
    return before.since;
  }

  /** Sets since when the service, which the caller has locked, is in shadow mode; null to end it. */
  async setService(serviceId: Id<'service'>, since: Temporal.Instant | null, now: Temporal.Instant): Promise<void> {
    await this.updateTable('services')
      .set({ shadow_since: since, updated_at: now })
      .where('id', '=', serviceId)
      .execute();
  }

  async findOrganization(orgId: Id<'org'>): Promise<Temporal.Instant | null> {
    const row = await this.selectFrom('organizations')
      .select('shadow_since as since')
      .where('id', '=', orgId)
      .executeTakeFirst();
    return row?.since ?? null;
  }

  /** Lists the services that are in shadow mode by themselves, by name. */
  async listServices(
    orgId: Id<'org'>,
    limit: number,
  ): Promise<{ readonly serviceId: Id<'service'>; readonly name: string; readonly since: Temporal.Instant }[]> {
    return await this.selectFrom('services as s')
      .select(({ ref }) => ['s.id as serviceId', 's.name', ref('s.shadow_since').$notNull().as('since')])
      .where('s.org_id', '=', orgId)
      .where('s.shadow_since', 'is not', null)
      .where('s.deleted_at', 'is', null)
      .orderBy('s.name')
      .orderBy('s.id')
      .limit(limit)
      .execute();
  }

  /** Counts the open incidents of the organization, or of one service, that were opened in shadow mode. */
  async countOpen(orgId: Id<'org'>, serviceId: Id<'service'> | null): Promise<number> {
    const { count } = await this.selectFrom('incidents')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('org_id', '=', orgId)
      .where('is_shadow', '=', true)
      .where('status', '<>', 'resolved')
      .where(({ eb, lit }) => (serviceId === null ? lit(true) : eb('service_id', '=', serviceId)))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Lists open incidents that were opened in shadow mode, of services that page again; oldest first. */
  async listLeft(limit: number): Promise<Id<'incident'>[]> {
    const left = await this.selectFrom('incidents as i')
      .innerJoin('services as s', 's.id', 'i.service_id')
      .innerJoin('organizations as o', 'o.id', 'i.org_id')
      .select('i.id')
      .where('i.is_shadow', '=', true)
      .where('i.status', '<>', 'resolved')
      .where('s.shadow_since', 'is', null)
      .where('s.deleted_at', 'is', null)
      .where('o.shadow_since', 'is', null)
      .orderBy('i.id')
      .limit(limit)
      .execute();
    return left.map(({ id }) => id);
  }

  /** Lists the incidents that opened in a period, of one service or all, oldest first. */
  async listOpened(
    orgId: Id<'org'>,
    {
      serviceId,
      from,
      to,
    }: { readonly serviceId: Id<'service'> | null; readonly from: Temporal.Instant; readonly to: Temporal.Instant },
    limit: number,
  ): Promise<OpenedIncident[]> {
    return await this.selectFrom('incidents as i')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'i.service_id').on('s.deleted_at', 'is', null))
      .select(columns(IncidentEntity, 'i', OPENED))
      .select('s.name as serviceName')
      .where('i.org_id', '=', orgId)
      .where('i.triggered_at', '>=', from)
      .where('i.triggered_at', '<=', to)
      .where(({ eb, lit }) => (serviceId === null ? lit(true) : eb('i.service_id', '=', serviceId)))
      .orderBy('i.triggered_at')
      .orderBy('i.id')
      .limit(limit)
      .execute();
  }

  /** Lists the first `perIncident` steps of each incident that paged people, or would have, in the order they fired. */
  async listFired(incidentIds: readonly Id<'incident'>[], perIncident: number): Promise<FiredStep[]> {
    if (incidentIds.length === 0) return [];
    const ranked = this.selectFrom('incident_timeline')
      .select(['incident_id as incidentId', 'id', 'at', 'event', 'data'])
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy('incident_id').orderBy('id'))
          .as('place'),
      )
      .where('incident_id', '=', anyOf(incidentIds))
      .where('event', '=', sql<string>`any(${FIRED}::text[])`);
    return await this.selectFrom(ranked.as('r'))
      .select(['r.incidentId', 'r.at', 'r.event', 'r.data'])
      .where('r.place', '<=', perIncident)
      .orderBy('r.id')
      .execute();
  }
}
