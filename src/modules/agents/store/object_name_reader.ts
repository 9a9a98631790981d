import { asId, type Id, type Kind } from '#kernel/ids.ts';
import { anyOf } from '#storage/postgres/store.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Name of an object; an incident is named by its number and its service, and has a title. */
export interface ObjectName {
  readonly id: string;
  readonly name: string;
  readonly number?: number;
  readonly title?: string;
}

type Find = (orgId: Id<'org'>, ids: readonly string[]) => Promise<readonly ObjectName[]>;

/** Reads what things of an organization are called, by their ids. */
export class ObjectNameReader {
  readonly #finders: Readonly<Record<string, Find>>;

  constructor({ db }: Session) {
    const idsOf = <K extends Kind>(kind: K, ids: readonly string[]) => anyOf(ids.map((id) => asId(kind, id)));
    this.#finders = {
      service: async (orgId, ids) =>
        await db
          .selectFrom('services')
          .select(['id', 'name'])
          .where('org_id', '=', orgId)
          .where('deleted_at', 'is', null)
          .where('id', '=', idsOf('service', ids))
          .execute(),
      team: async (orgId, ids) =>
        await db
          .selectFrom('teams')
          .select(['id', 'name'])
          .where('org_id', '=', orgId)
          .where('id', '=', idsOf('team', ids))
          .execute(),
      schedule: async (orgId, ids) =>
        await db
          .selectFrom('schedules')
          .select(['id', 'name'])
          .where('org_id', '=', orgId)
          .where('id', '=', idsOf('schedule', ids))
          .execute(),
      policy: async (orgId, ids) =>
        await db
          .selectFrom('escalation_policies')
          .select(['id', 'name'])
          .where('org_id', '=', orgId)
          .where('id', '=', idsOf('policy', ids))
          .execute(),
      rule: async (orgId, ids) =>
        await db
          .selectFrom('alert_rules')
          .select(['id', 'name'])
          .where('org_id', '=', orgId)
          .where('id', '=', idsOf('rule', ids))
          .execute(),
      dashboard: async (orgId, ids) =>
        await db
          .selectFrom('dashboards')
          .select(['id', 'name'])
          .where('org_id', '=', orgId)
          .where('id', '=', idsOf('dashboard', ids))
          .execute(),
      group: async (orgId, ids) =>
        await db
          .selectFrom('exception_groups')
          .select(['id', 'title as name'])
          .where('org_id', '=', orgId)
          .where('id', '=', idsOf('group', ids))
          .execute(),
      user: async (orgId, ids) =>
        await db
          .selectFrom('memberships as m')
          .innerJoin('users as u', 'u.id', 'm.user_id')
          .select(['u.id', 'u.name'])
          .where('m.org_id', '=', orgId)
          .where('u.id', '=', idsOf('user', ids))
          .execute(),
      member: async (orgId, ids) =>
        await db
          .selectFrom('team_members as t')
          .innerJoin('users as u', 'u.id', 't.user_id')
          .select(['t.id', 'u.name'])
          .where('t.org_id', '=', orgId)
          .where('t.id', '=', idsOf('member', ids))
          .execute(),
      incident: async (orgId, ids) =>
        await db
          .selectFrom('incidents as i')
          .innerJoin('services as s', 's.id', 'i.service_id')
          .select(['i.id', 's.name', 'i.number', 'i.title'])
          .where('i.org_id', '=', orgId)
          .where('i.id', '=', idsOf('incident', ids))
          .execute(),
    };
  }

  /** Returns names by id; objects that are gone or have no name are left out. */
  async find(orgId: Id<'org'>, ids: readonly string[]): Promise<Map<string, ObjectName>> {
    const byKind = [...Map.groupBy(ids, (id) => id.slice(0, id.indexOf('_')))];
    const objects = await Promise.all(
      byKind.map(async ([kind, ofKind]) => (await this.#finders[kind]?.(orgId, ofKind)) ?? []),
    );
    return new Map(objects.flat().map((object) => [object.id, object]));
  }
}
