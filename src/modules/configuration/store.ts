import type { ManagedResource, OrganizationState } from '#modules/configuration/decide/present_state.ts';
import type { ManagedChanges } from '#modules/configuration/decide/managed_changes.ts';
import type { ResourceKind } from '#modules/configuration/decide/resource.ts';
import { readDetails, readSteps } from '#modules/policies/decide/stored_steps.ts';
import type { AlertRoute } from '#modules/alerts/decide/route.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, toColumns } from '#storage/postgres/store.ts';
import { AlertRouteEntity } from '#storage/postgres/entities/alerts.ts';
import { ManagedResourceEntity } from '#storage/postgres/entities/configuration.ts';
import { IngestKeyEntity } from '#storage/postgres/entities/credentials.ts';
import {
  AlertRuleEntity,
  HolidayCalendarEntity,
  MaintenanceEntity,
  PolicyEntity,
  ScheduleEntity,
  ScheduleOverrideEntity,
  TeamEntity,
} from '#storage/postgres/entities/oncall.ts';
import { DashboardEntity } from '#storage/postgres/entities/services.ts';
import { readLayers } from '#modules/schedules/decide/stored_layers.ts';
import { readSchedule } from '#modules/schedules/store/schedule_store.ts';
import { IngestKeyStore } from '#modules/services/store/ingest_key_store.ts';
import { ServiceStore } from '#modules/services/store/service_store.ts';
import { TeamStore } from '#modules/teams/store.ts';

const MANAGED = ['kind', 'key', 'resourceId', 'file', 'isMade'] as const;

export type ManagedMark = Pick<ManagedResource, 'kind' | 'key' | 'file' | 'resourceId'>;

/** Reads an organization as a configuration file sees it, and the keys that files have for its resources. */
export class ConfigurationStore extends PostgresStore {
  /** Reads all that a file can say. `dsnOf` opens the sealed keys of a service: its public key. */
  async read(
    orgId: Id<'org'>,
    now: Temporal.Instant,
    publicKeyOf: (secrets: Buffer) => string,
  ): Promise<OrganizationState> {
    const { db } = this;
    const people = await db
      .selectFrom('memberships as m')
      .innerJoin('users as u', 'u.id', 'm.user_id')
      .select(['u.id as userId', 'u.name', 'u.email', 'm.role'])
      .where('m.org_id', '=', orgId)
      .orderBy('u.id')
      .execute();
    const teams = await db
      .selectFrom('teams as t')
      .select(columns(TeamEntity, 't', ['id', 'name', 'updatedAt']))
      .where('t.org_id', '=', orgId)
      .orderBy('t.id')
      .execute();
    const teamIds = teams.map(({ id }) => id);
    const members = await new TeamStore(this.session).listMembers(orgId, teamIds);
    const schedules = await db
      .selectFrom('schedules as s')
      .select(columns(ScheduleEntity, 's'))
      .where('s.org_id', '=', orgId)
      .orderBy('s.id')
      .execute();
    const calendars = await db
      .selectFrom('holiday_calendars as c')
      .select(columns(HolidayCalendarEntity, 'c', ['id', 'name', 'url', 'dates', 'updatedAt']))
      .where('c.org_id', '=', orgId)
      .orderBy('c.id')
      .execute();
    const overrides = await db
      .selectFrom('schedule_overrides as o')
      .select(columns(ScheduleOverrideEntity, 'o', ['id', 'scheduleId', 'userId', 'startAt', 'endAt', 'layerId']))
      .where('o.org_id', '=', orgId)
      .where('o.end_at', '>', now)
      .orderBy('o.created_at')
      .orderBy('o.id')
      .execute();
    const policies = await db
      .selectFrom('escalation_policies as p')
      .select(columns(PolicyEntity, 'p', ['id', 'teamId', 'name', 'steps', 'details', 'updatedAt']))
      .where('p.org_id', '=', orgId)
      .orderBy('p.id')
      .execute();
    return {
      people,
      teams,
      members,
      schedules: schedules.map((row) => ({ ...row, layers: readLayers(readSchedule(row)) })),
      calendars,
      overrides,
      policies: policies.map((policy) => ({
        ...policy,
        steps: readSteps(policy.steps),
        details: readDetails(policy.details),
      })),
      ...(await this.#readServices(orgId, publicKeyOf)),
      managed: await this.listManaged(orgId),
    };
  }

  /** Whether the installation has this organization alone. */
  async isOnlyOrganization(orgId: Id<'org'>): Promise<boolean> {
    const { db } = this;
    const other = await db
      .selectFrom('organizations')
      .select('id')
      .where('id', '!=', orgId)
      .limit(1)
      .executeTakeFirst();
    return other === undefined;
  }

  async #readServices(
    orgId: Id<'org'>,
    publicKeyOf: (secrets: Buffer) => string,
  ): Promise<Pick<OrganizationState, 'services' | 'rules' | 'routes' | 'maintenance' | 'dashboards'>> {
    const { db } = this;
    const services = await new ServiceStore(this.session).list(orgId, SERVICES_MAX);
    const serviceIds = services.map(({ id }) => id);
    const keys = await db
      .selectFrom('ingest_keys as k')
      .select(columns(IngestKeyEntity, 'k', ['serviceId', 'secrets']))
      .where('k.service_id', '=', anyOf(serviceIds))
      .where('k.revoked_at', 'is', null)
      .where('k.is_further', '=', false)
      .execute();
    const further = await new IngestKeyStore(this.session).listFurther(serviceIds);
    const secretsOf = new Map(keys.map(({ serviceId, secrets }) => [serviceId, secrets]));
    const rules = await db
      .selectFrom('alert_rules as r')
      .select(columns(AlertRuleEntity, 'r'))
      .where('r.service_id', '=', anyOf(serviceIds))
      .orderBy('r.id')
      .execute();
    const routes = await db
      .selectFrom('alert_routes as r')
      .select(columns(AlertRouteEntity, 'r', ['serviceId', 'conditions', 'outcome', 'policyId', 'pagesOnRise']))
      .where('r.service_id', '=', anyOf(serviceIds))
      .orderBy('r.service_id')
      .orderBy('r.position')
      .execute();
    const maintenance = await db
      .selectFrom('maintenance_windows as m')
      .select(columns(MaintenanceEntity, 'm'))
      .where('m.org_id', '=', orgId)
      .orderBy('m.id')
      .execute();
    const dashboards = await db
      .selectFrom('dashboards as d')
      .select(columns(DashboardEntity, 'd'))
      .where('d.org_id', '=', orgId)
      .where((eb) => eb.or([eb('d.service_id', 'is', null), eb('d.service_id', '=', anyOf(serviceIds))]))
      .orderBy('d.id')
      .execute();
    // The windows of a deleted service go later than itself.
    const holders = new Set<string>([...serviceIds, ...rules.map(({ id }) => id)]);
    const isThere = (id: string | null) => id === null || holders.has(id);
    return {
      services: services.map((service) => {
        const secrets = secretsOf.get(service.id);
        const { keptProjectNumber, projectId } = service;
        const dsn = {
          publicKey: secrets === undefined ? '' : publicKeyOf(secrets),
          projectNumber: keptProjectNumber ?? projectId,
          furtherKeys: (further.get(service.id) ?? []).map(publicKeyOf).sort(),
          isKept: keptProjectNumber !== null,
        };
        return { ...service, dsn };
      }),
      rules,
      routes: [...Map.groupBy(routes, ({ serviceId }) => serviceId)].map(([serviceId, own]) => ({
        serviceId,
        routes: own.map(({ serviceId: _, ...route }): AlertRoute => route),
      })),
      maintenance: maintenance.filter(({ serviceId, ruleId }) => isThere(serviceId) && isThere(ruleId)),
      dashboards,
    };
  }

  async listManaged(orgId: Id<'org'>): Promise<ManagedResource[]> {
    return await this.selectFrom('managed_resources as m')
      .select(columns(ManagedResourceEntity, 'm', MANAGED))
      .where('m.org_id', '=', orgId)
      .orderBy('m.kind')
      .orderBy('m.key')
      .execute();
  }

  /** Lists the files by name, with how many resources each manages and when a key of it was recorded last. */
  async listFiles(orgId: Id<'org'>): Promise<{ file: string; resources: number; changedAt: Temporal.Instant }[]> {
    return await this.selectFrom('managed_resources')
      .select(({ fn, cast }) => [
        'file',
        cast<number>(fn.countAll(), 'integer').as('resources'),
        fn.max('updated_at').as('changedAt'),
      ])
      .where('org_id', '=', orgId)
      .groupBy('file')
      .orderBy('file')
      .execute();
  }

  async listMarks(orgId: Id<'org'>, resourceIds: readonly string[]): Promise<ManagedMark[]> {
    return await this.selectFrom('managed_resources as m')
      .select(columns(ManagedResourceEntity, 'm', ['kind', 'key', 'file', 'resourceId']))
      .where('m.org_id', '=', orgId)
      .where('m.resource_id', '=', anyOf(resourceIds))
      .orderBy('m.kind')
      .execute();
  }

  async listByKeys(orgId: Id<'org'>, keys: readonly string[]): Promise<ManagedMark[]> {
    return await this.selectFrom('managed_resources as m')
      .select(columns(ManagedResourceEntity, 'm', ['kind', 'key', 'file', 'resourceId']))
      .where('m.org_id', '=', orgId)
      .where('m.key', '=', anyOf(keys))
      .execute();
  }

  /** Returns one of these resources that only a file may change; null for none. */
  async findRefused(orgId: Id<'org'>, resourceIds: readonly string[]): Promise<ManagedMark | null> {
    const refused = await this.selectFrom('managed_resources as m')
      .innerJoin('organizations as o', 'o.id', 'm.org_id')
      .select(columns(ManagedResourceEntity, 'm', ['kind', 'key', 'file', 'resourceId']))
      .where('m.org_id', '=', orgId)
      .where('m.resource_id', '=', anyOf(resourceIds))
      .where('o.managed_changes', '=', 'refused')
      .limit(1)
      .executeTakeFirst();
    return refused ?? null;
  }

  /** Returns the resources among these that belong to the organization. */
  async filterOwn<Resource extends Pick<ManagedResource, 'kind' | 'resourceId'>>(
    orgId: Id<'org'>,
    resources: readonly Resource[],
  ): Promise<Resource[]> {
    const { db } = this;
    const ids = resources.map(({ resourceId }) => resourceId);
    const tables = new Set(resources.flatMap(({ kind }) => (kind === 'person' ? [] : [TABLES[kind]])));
    const members = await db
      .selectFrom('memberships')
      .select('user_id as id')
      .where('org_id', '=', orgId)
      .where('user_id', '=', anyOf(ids.map((id) => asId('user', id))))
      .execute();
    const present = new Set<string>(members.map(({ id }) => id));
    for (const table of tables) {
      // Each of them has these two columns.
      const rows = await db
        .selectFrom(table as 'teams')
        .select('id')
        .where('org_id', '=', orgId)
        .where('id', '=', anyOf(ids.map((id) => asId('team', id))))
        .execute();
      for (const { id } of rows) present.add(id);
    }
    return resources.filter(({ resourceId }) => present.has(resourceId));
  }

  /** Records the key of a resource, in place of any other that it had. */
  async record(orgId: Id<'org'>, resources: readonly ManagedResource[], now: Temporal.Instant): Promise<void> {
    const { db } = this;
    for (const { kind, key, resourceId, file, isMade } of resources) {
      await db
        .deleteFrom('managed_resources')
        .where('org_id', '=', orgId)
        .where('kind', '=', kind)
        .where('resource_id', '=', resourceId)
        .where('key', '<>', key)
        .execute();
      await db
        .insertInto('managed_resources')
        .values(
          toColumns(ManagedResourceEntity, {
            orgId,
            kind,
            key,
            resourceId,
            file,
            isMade,
            createdAt: now,
            updatedAt: now,
          }),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['org_id', 'kind', 'key'])
            .doUpdateSet({ resource_id: resourceId, file, is_made: isMade, updated_at: now }),
        )
        .execute();
    }
  }

  /** Records the key of a resource that was just made. Returns false if somebody else has recorded it meanwhile. */
  async recordMade(
    orgId: Id<'org'>,
    { kind, key, resourceId, file }: Omit<ManagedResource, 'isMade'>,
    replaces: string | null,
    now: Temporal.Instant,
  ): Promise<boolean> {
    const { db } = this;
    if (replaces !== null) {
      await db
        .deleteFrom('managed_resources')
        .where('org_id', '=', orgId)
        .where('kind', '=', kind)
        .where('key', '=', key)
        .where('resource_id', '=', replaces)
        .execute();
    }
    const row = { orgId, kind, key, resourceId, file, isMade: true, createdAt: now, updatedAt: now };
    const inserted = await db
      .insertInto('managed_resources')
      .values(toColumns(ManagedResourceEntity, row))
      .onConflict((conflict) => conflict.columns(['org_id', 'kind', 'key']).doNothing())
      .returning('key')
      .execute();
    return inserted.length > 0;
  }

  async forget(orgId: Id<'org'>, records: readonly Pick<ManagedResource, 'kind' | 'key'>[]): Promise<void> {
    for (const { kind, key } of records) {
      await this.deleteFrom('managed_resources')
        .where('org_id', '=', orgId)
        .where('kind', '=', kind)
        .where('key', '=', key)
        .execute();
    }
  }

  async getManagedChanges(orgId: Id<'org'>): Promise<ManagedChanges> {
    const row = await this.selectFrom('organizations')
      .select('managed_changes')
      .where('id', '=', orgId)
      .executeTakeFirstOrThrow();
    return row.managed_changes;
  }

  /** Returns what was chosen before. */
  async setManagedChanges(orgId: Id<'org'>, choice: ManagedChanges): Promise<ManagedChanges> {
    const before = await this.getManagedChanges(orgId);
    await this.updateTable('organizations').set({ managed_changes: choice }).where('id', '=', orgId).execute();
    return before;
  }
}

/** Tables that hold the resources of each kind. */
const TABLES = {
  team: 'teams',
  member: 'team_members',
  calendar: 'holiday_calendars',
  schedule: 'schedules',
  override: 'schedule_overrides',
  policy: 'escalation_policies',
  service: 'services',
  rule: 'alert_rules',
  routes: 'services',
  maintenance: 'maintenance_windows',
  dashboard: 'dashboards',
} as const satisfies Record<Exclude<ResourceKind, 'person'>, string>;

/** Limit on the services that are read: more than any organization has. */
const SERVICES_MAX = 1_000_000;
