import { type InferEntity, LockMode } from '@mikro-orm/postgresql';
import { type Kysely, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';

import type { Capability } from '#modules/capabilities/decide/capability.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, prepared, rowsChanged, type Values } from '#storage/postgres/store.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { ServiceEntity } from '#storage/postgres/entities/services.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';
import type { Tables } from '#storage/postgres/tables.ts';

export type ServiceRow = InferEntity<typeof ServiceEntity>;

/** A service with its enabled capabilities, sorted. */
export type ServiceWithCapabilities = ServiceRow & {
  readonly capabilities: readonly Capability[];
  /** Name of the team that owns it; null for none. */
  readonly teamName: string | null;
};

export interface NewService {
  readonly name: string;
  readonly environment: string | null;
  readonly scmOwner: string | null;
  readonly scmRepo: string | null;
  readonly retentionDays: Record<Capability, number>;
}

/** Filter of services; absent fields do not narrow it. */
export interface ServiceNameFilter {
  readonly text: string | undefined;
  readonly ownedByTeams?: readonly Id<'team'>[] | undefined;
}

/** A place in the order of services by name. */
export interface ServicePlace {
  readonly name: string;
  readonly id: string;
}

const LIST = prepared((db, { orgId, limit }: Values<{ orgId: Id<'org'>; limit: number }>) =>
  servicesIn(db).where('s.org_id', '=', orgId).orderBy('s.id').limit(limit),
);

interface ListedRule {
  readonly ruleId: Id<'rule'>;
  readonly name: string;
  readonly kind: RuleKind;
  readonly enabled: boolean;
}

interface RulesOfAll {
  readonly orgId: Id<'org'>;
  readonly limit: number;
  readonly rulesMax: number;
}

/**
 * Statement that lists services with their rules: a round trip to the server takes as much processor time as reading
 * them.
 */
const LIST_WITH_RULES = prepared((db, { orgId, limit, rulesMax }: Values<RulesOfAll>) => {
  const rules = db.selectFrom('alert_rules as r').selectAll().where('r.org_id', '=', orgId).orderBy('r.id');
  const rulesOf = db
    .selectFrom(rules.limit(rulesMax).as('r'))
    .select(({ fn, ref }) => [
      'r.service_id',
      fn
        .agg<ListedRule[]>('json_agg', [
          jsonBuildObject({ ruleId: ref('r.id'), name: ref('r.name'), kind: ref('r.kind'), enabled: ref('r.enabled') }),
        ])
        .orderBy('r.id')
        .as('listed'),
    ])
    .groupBy('r.service_id');
  const openOf = db
    .selectFrom('incidents as i')
    .select(({ fn }) => [
      'i.service_id',
      fn.countAll<number>().filterWhere('i.status', '=', 'triggered').as('triggered'),
      fn.countAll<number>().filterWhere('i.status', '=', 'acknowledged').as('acknowledged'),
    ])
    .where('i.org_id', '=', orgId)
    .where('i.status', '<>', 'resolved')
    .groupBy('i.service_id');
  return servicesIn(db)
    .leftJoin(rulesOf.as('of_rules'), 'of_rules.service_id', 's.id')
    .leftJoin(openOf.as('of_incidents'), 'of_incidents.service_id', 's.id')
    .select(['of_rules.listed as rules', 'of_incidents.triggered', 'of_incidents.acknowledged'])
    .where('s.org_id', '=', orgId)
    .orderBy('s.id')
    .limit(limit);
});

const FIND = prepared((db, { orgId, serviceId }: Values<{ orgId: Id<'org'>; serviceId: Id<'service'> }>) =>
  servicesIn(db).where('s.org_id', '=', orgId).where('s.id', '=', serviceId),
);

function servicesIn(db: Kysely<Tables>) {
  return db
    .selectFrom('services as s')
    .select(columns(ServiceEntity, 's'))
    .select(({ selectFrom }) => {
      const enabled = selectFrom('service_capabilities as c')
        .select('c.capability')
        .whereRef('c.service_id', '=', 's.id')
        .where('c.is_enabled', '=', true)
        .orderBy('c.capability');
      return sql<Capability[]>`array(${enabled})`.as('capabilities');
    })
    .leftJoin('teams as o', 'o.id', 's.team_id')
    .select('o.name as teamName')
    .where('s.deleted_at', 'is', null);
}

/** Monitored services. No method finds a deleted one, though a worker may still be removing its data. */
export class ServiceStore extends PostgresStore {
  async list(orgId: Id<'org'>, limit: number): Promise<ServiceWithCapabilities[]> {
    return await LIST.rows(this.session, { orgId, limit });
  }

  /** The same with the rules of each, oldest first, at most `rulesMax` in all, and with its open incidents; null for none. */
  async listWithRules(orgId: Id<'org'>, limit: number, rulesMax: number) {
    return await LIST_WITH_RULES.rows(this.session, { orgId, limit, rulesMax });
  }

  /** The oldest first; all of them without a limit. */
  async listIds(orgId: Id<'org'>, limit: number | null): Promise<Id<'service'>[]> {
    const rows = await this.selectFrom('services as s')
      .select('s.id')
      .where('s.org_id', '=', orgId)
      .where('s.deleted_at', 'is', null)
      .orderBy('s.id')
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Lists services by name, at most `limit` after `after`. */
  async search(
    orgId: Id<'org'>,
    filter: ServiceNameFilter & { readonly serviceIds: readonly string[] | undefined },
    page: { readonly after: ServicePlace | null; readonly limit: number },
  ): Promise<ServiceWithCapabilities[]> {
    const { text, ownedByTeams, serviceIds } = filter;
    const { after } = page;
    return await servicesIn(this.db)
      .where('s.org_id', '=', orgId)
      .$if(text !== undefined, (query) =>
        query.where(
          ({ ref }) =>
            sql<boolean>`strpos(lower(concat_ws(' ', ${ref('s.name')}, ${ref('s.environment')})), lower(${text})) > 0`,
        ),
      )
      .$if(ownedByTeams !== undefined, (query) => query.where('s.team_id', '=', anyOf(ownedByTeams ?? [])))
      .$if(serviceIds !== undefined, (query) =>
        query.where('s.id', '=', anyOf((serviceIds ?? []).map((serviceId) => asId('service', serviceId)))),
      )
      .$if(after !== null, (query) =>
        query.where(
          ({ ref }) => sql<boolean>`(lower(${ref('s.name')}), ${ref('s.id')}) > (lower(${after?.name}), ${after?.id})`,
        ),
      )
      .orderBy(({ fn }) => fn('lower', ['s.name']))
      .orderBy('s.id')
      .limit(page.limit)
      .execute();
  }

  async count(orgId: Id<'org'>, { text, ownedByTeams }: ServiceNameFilter): Promise<number> {
    const { count } = await this.selectFrom('services as s')
      .select(({ fn, cast }) => cast<number>(fn.countAll(), 'integer').as('count'))
      .where('s.org_id', '=', orgId)
      .where('s.deleted_at', 'is', null)
      .$if(ownedByTeams !== undefined, (query) => query.where('s.team_id', '=', anyOf(ownedByTeams ?? [])))
      .$if(text !== undefined, (query) =>
        query.where(
          ({ ref }) =>
            sql<boolean>`strpos(lower(concat_ws(' ', ${ref('s.name')}, ${ref('s.environment')})), lower(${text})) > 0`,
        ),
      )
      .executeTakeFirstOrThrow();
    return count;
  }

  async find(orgId: Id<'org'>, serviceId: string): Promise<ServiceWithCapabilities | null> {
    return await FIND.row(this.session, { orgId, serviceId: asId('service', serviceId) });
  }

  /** Throws `not_found` with the path of the field that named it. */
  async get(orgId: Id<'org'>, serviceId: string, path = 'serviceId'): Promise<ServiceWithCapabilities> {
    const service = await this.find(orgId, serviceId);
    if (service === null) throw notFound(path, 'service');
    return service;
  }

  async findNames(orgId: Id<'org'>, serviceIds: readonly Id<'service'>[]): Promise<Map<Id<'service'>, string>> {
    const rows = await this.selectFrom('services')
      .select(['id', 'name'])
      .where('org_id', '=', orgId)
      .where('deleted_at', 'is', null)
      .where('id', '=', anyOf(serviceIds))
      .execute();
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** The entity, locked until the transaction ends, so that concurrent changes queue up instead of losing one. */
  async lock(orgId: Id<'org'>, serviceId: string, path = 'serviceId'): Promise<ServiceRow> {
    const service = await this.findLocked(orgId, serviceId);
    if (service === null) throw notFound(path, 'service');
    return service;
  }

  /** The organization of the service; null when there is none. */
  async findOrganization(serviceId: string): Promise<Id<'org'> | null> {
    const service = await this.selectFrom('services')
      .select('org_id')
      .where('id', '=', asId('service', serviceId))
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    return service?.org_id ?? null;
  }

  async findLocked(orgId: Id<'org'>, serviceId: string): Promise<ServiceRow | null> {
    return await this.em.findOne(
      ServiceEntity,
      { orgId, id: asId('service', serviceId), deletedAt: null },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
  }

  /** Deleted services whose data is not all removed yet. */
  async listDeleted(limit: number): Promise<Id<'service'>[]> {
    const services = await this.selectFrom('services')
      .select('id')
      .where('deleted_at', 'is not', null)
      .orderBy('deleted_at')
      .limit(limit)
      .execute();
    return services.map(({ id }) => id);
  }

  async isDeleted(serviceId: Id<'service'>): Promise<boolean> {
    const row = await this.selectFrom('services')
      .select('id')
      .where('id', '=', serviceId)
      .where('deleted_at', 'is not', null)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Returns the ids that name no service, or a deleted one. */
  async listGone(serviceIds: readonly Id<'service'>[]): Promise<Id<'service'>[]> {
    const present = await this.selectFrom('services')
      .select('id')
      .where('id', '=', anyOf(serviceIds))
      .where('deleted_at', 'is', null)
      .execute();
    return [...new Set(serviceIds).difference(new Set(present.map(({ id }) => id)))];
  }

  /**
   * Removes a deleted service, `batch` rows a statement: first incidents and groups, of which there may be many, then
   * its own row and, by cascade, the rest. Call it again when it was stopped halfway.
   */
  async removeDeleted(serviceId: Id<'service'>, batch: number): Promise<void> {
    if (!(await this.isDeleted(serviceId))) return;
    const { db } = this;
    const incidents = db
      .deleteFrom('incidents')
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('incidents').select('id').where('service_id', '=', serviceId).limit(batch),
      );
    while (rowsChanged(await incidents.execute()) > 0);
    const groups = db
      .deleteFrom('exception_groups')
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('exception_groups').select('id').where('service_id', '=', serviceId).limit(batch),
      );
    while (rowsChanged(await groups.execute()) > 0);
    await db.deleteFrom('services').where('id', '=', serviceId).where('deleted_at', 'is not', null).execute();
  }

  /** The services that are there, by how many days they keep the capability's data. */
  async listRetentionTiers(capability: Capability): Promise<{ days: number; serviceIds: Id<'service'>[] }[]> {
    const column = `retention_${capability}` as const;
    return await this.selectFrom('services')
      .select(({ fn, ref }) => [ref(column).as('days'), fn.agg<Id<'service'>[]>('array_agg', ['id']).as('serviceIds')])
      .where('deleted_at', 'is', null)
      .groupBy(column)
      .orderBy(column)
      .execute();
  }

  async save(service: ServiceRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.em, service, now);
  }

  async insert(orgId: Id<'org'>, service: NewService, now: Temporal.Instant): Promise<ServiceWithCapabilities> {
    const { em } = this.session;
    const { retentionDays, ...fields } = service;
    const row = em.create(ServiceEntity, {
      id: newId('service'),
      orgId,
      ...fields,
      retentionMetrics: retentionDays.metrics,
      retentionExceptions: retentionDays.exceptions,
      retentionOncall: retentionDays.oncall,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    });
    await em.persist(row).flush();
    return { ...row, capabilities: [], teamName: null };
  }
}
