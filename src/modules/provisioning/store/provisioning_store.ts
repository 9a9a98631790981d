import { type AliasedSelectQueryBuilder, expressionBuilder, sql } from 'kysely';

import type { KeptContact } from '#modules/provisioning/decide/suspended_membership.ts';
import { type Filter, requiredValue } from '#modules/provisioning/decide/scim_filter.ts';
import { type Compared, conditionOf, orderOf, type Page } from '#modules/provisioning/store/filter_condition.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, type Row, rowsChanged, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import type { Tables } from '#storage/postgres/tables.ts';
import { ScimUserEntity } from '#storage/postgres/entities/people.ts';
import type { ProvisionedRole } from '#modules/provisioning/decide/provisioned_role.ts';

export type ScimUserRow = Row<typeof ScimUserEntity>;

/** A person of the organization as the identity provider sees them: a member, or one who was deactivated. */
export interface ProvisionedUser extends Pick<ScimUserRow, 'externalId' | 'suspended'> {
  readonly userId: Id<'user'>;
  readonly userName: string;
  readonly email: string;
  readonly name: string;
  /** Null for a member whom the identity provider has not named. */
  readonly profile: ScimUserRow['profile'] | null;
  readonly isAccountMade: boolean | null;
  /** Role of a member; null for a person who is deactivated. */
  readonly role: Role | null;
  readonly createdAt: Temporal.Instant;
  readonly updatedAt: Temporal.Instant;
}

/** The token of an organization, as the console shows it. */
export interface ProvisioningToken {
  readonly apiKeyId: Id<'apikey'>;
  readonly hint: string;
  readonly createdAt: Temporal.Instant;
  readonly lastUsedAt: Temporal.Instant | null;
  readonly createdBy: string | null;
}

/** A person who is deactivated and whom a schedule still names. */
export interface StillNamed {
  readonly userId: Id<'user'>;
  readonly name: string;
  readonly scheduleId: Id<'schedule'>;
  readonly scheduleName: string;
}

const STILL_NAMED_MAX = 200;

/** Stores the people whom an identity provider has named, and the token by which it comes. */
export class ProvisioningStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async findToken(orgId: Id<'org'>): Promise<ProvisioningToken | null> {
    const token = await this.#session.db
      .selectFrom('api_keys as k')
      .leftJoin('users as u', 'u.id', 'k.created_by')
      .select(['k.id as apiKeyId', 'k.hint', 'k.created_at as createdAt', 'k.last_used_at as lastUsedAt'])
      .select('u.name as createdBy')
      .where('k.org_id', '=', orgId)
      .where('k.is_provisioning', '=', true)
      .where('k.revoked_at', 'is', null)
      .executeTakeFirst();
    return token ?? null;
  }

  async findProvisionedRole(orgId: Id<'org'>): Promise<ProvisionedRole> {
    const { role } = await this.#session.db
      .selectFrom('organizations')
      .select('provisioned_role as role')
      .where('id', '=', orgId)
      .executeTakeFirstOrThrow();
    return role;
  }

  /** Returns the same, and locks the memberships of the organization until the transaction ends. */
  async lockProvisionedRole(orgId: Id<'org'>): Promise<ProvisionedRole> {
    const { role } = await this.#session.db
      .selectFrom('organizations')
      .select('provisioned_role as role')
      .where('id', '=', orgId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    return role;
  }

  async setProvisionedRole(orgId: Id<'org'>, role: ProvisionedRole): Promise<void> {
    await this.#session.db
      .updateTable('organizations')
      .set({ provisioned_role: role })
      .where('id', '=', orgId)
      .execute();
  }

  /** Lists a page, by id if no other order is wanted, which is the order in which accounts were made. */
  async list(orgId: Id<'org'>, filter: Filter | null, { sorting, offset, limit }: Page): Promise<ProvisionedUser[]> {
    const users = this.#found(orgId, filter);
    const sorted = sorting === null ? users : users.orderBy(orderOf(sorting, USER_ATTRIBUTES));
    return await sorted.orderBy('u.id').offset(offset).limit(limit).execute();
  }

  async count(orgId: Id<'org'>, filter: Filter | null): Promise<number> {
    const { count } = await this.#found(orgId, filter)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  async find(orgId: Id<'org'>, userId: string): Promise<ProvisionedUser | null> {
    const id = asId('user', userId);
    const { selectFrom } = expressionBuilder<Tables>();
    const member = selectFrom('memberships').select('user_id as userId').where('org_id', '=', orgId);
    const named = selectFrom('scim_users').select('user_id as userId').where('org_id', '=', orgId);
    const ids = member.where('user_id', '=', id).union(named.where('user_id', '=', id));
    const user = await this.#people(orgId, ids).executeTakeFirst();
    return user ?? null;
  }

  /** Counts the people whom the identity provider has named. */
  async countNamed(orgId: Id<'org'>): Promise<number> {
    const { count } = await this.#session.db
      .selectFrom('scim_users')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Returns the people who have this user name; a member whom the identity provider has not named has the address. */
  async listNamed(orgId: Id<'org'>, userName: string): Promise<Id<'user'>[]> {
    const named = await this.#people(orgId, idsOf(orgId, { userName, externalId: null }))
      .where(
        ({ fn, ref, val }) =>
          sql<boolean>`lower(coalesce(${ref('s.user_name')}, ${ref('u.email')})) = ${fn('lower', [val(userName)])}`,
      )
      .execute();
    return named.map(({ userId }) => userId);
  }

  /** Returns those of the ids that are of people of the organization. */
  async listKnown(orgId: Id<'org'>, userIds: readonly string[]): Promise<Id<'user'>[]> {
    if (userIds.length === 0) return [];
    const ids = userIds.map((userId) => asId('user', userId));
    const people = await this.#session.db
      .selectFrom('memberships')
      .select('user_id as userId')
      .where('org_id', '=', orgId)
      .where('user_id', '=', anyOf(ids))
      .union(({ selectFrom }) =>
        selectFrom('scim_users')
          .select('user_id as userId')
          .where('org_id', '=', orgId)
          .where('user_id', '=', anyOf(ids)),
      )
      .execute();
    return people.map(({ userId }) => userId);
  }

  async insert(row: ScimUserRow): Promise<void> {
    await this.#session.db.insertInto('scim_users').values(toColumns(ScimUserEntity, row)).execute();
  }

  /** Stores what the identity provider says of a person, whom it may not have named before. */
  async save(row: ScimUserRow): Promise<void> {
    const { userName, externalId, profile, suspended, updatedAt } = row;
    const changed = toColumns(ScimUserEntity, { userName, externalId, profile, suspended, updatedAt });
    await this.#session.db
      .insertInto('scim_users')
      .values(toColumns(ScimUserEntity, row))
      .onConflict((conflict) => conflict.columns(['org_id', 'user_id']).doUpdateSet(changed))
      .execute();
  }

  async delete(orgId: Id<'org'>, userId: Id<'user'>): Promise<void> {
    await this.#session.db.deleteFrom('scim_users').where('org_id', '=', orgId).where('user_id', '=', userId).execute();
  }

  /** Counts the organizations that know the account, without this one. Locks the account until the transaction ends. */
  async countElsewhere(orgId: Id<'org'>, userId: Id<'user'>): Promise<number> {
    await this.#session.db.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute();
    const { db } = this.#session;
    const { count } = await db
      .selectFrom(({ selectFrom }) =>
        selectFrom('memberships')
          .select('org_id as orgId')
          .where('user_id', '=', userId)
          .union(selectFrom('scim_users').select('org_id as orgId').where('user_id', '=', userId))
          .as('o'),
      )
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('o.orgId', '<>', orgId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Gives an account another address, which nobody has proven yet. Unused links to set a password end. */
  async saveEmail(userId: Id<'user'>, email: string, now: Temporal.Instant): Promise<void> {
    await this.#session.db.deleteFrom('password_resets').where('user_id', '=', userId).execute();
    await this.#session.db
      .updateTable('users')
      .set({ email, address_proven_at: null, updated_at: now })
      .where('id', '=', userId)
      .execute();
  }

  async restoreContact(orgId: Id<'org'>, userId: Id<'user'>, contact: KeptContact): Promise<void> {
    await this.#session.db
      .updateTable('memberships')
      .set({
        phone: contact.phone,
        sms_enabled: contact.smsEnabled,
        call_enabled: contact.callEnabled,
        push_enabled: contact.pushEnabled,
        email_enabled: contact.emailEnabled,
      })
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .execute();
  }

  /** Lists people who are deactivated and whom schedules name in their turns, or in overrides to come, by name. */
  async listStillNamed(orgId: Id<'org'>, now: Temporal.Instant): Promise<StillNamed[]> {
    const named = new Map<string, StillNamed>();
    for (const row of [...(await this.#listInTurns(orgId)), ...(await this.#listInOverrides(orgId, now))]) {
      named.set(`${row.userId} ${row.scheduleId}`, row);
    }
    return [...named.values()].toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, STILL_NAMED_MAX);
  }

  async #listInOverrides(orgId: Id<'org'>, now: Temporal.Instant): Promise<StillNamed[]> {
    return await this.#session.db
      .selectFrom('schedule_overrides as o')
      .innerJoin('schedules as s', 's.id', 'o.schedule_id')
      .innerJoin('scim_users as x', (join) =>
        join.onRef('x.org_id', '=', 'o.org_id').onRef('x.user_id', '=', 'o.user_id'),
      )
      .innerJoin('users as u', 'u.id', 'x.user_id')
      .leftJoin('memberships as m', (join) =>
        join.onRef('m.org_id', '=', 'x.org_id').onRef('m.user_id', '=', 'x.user_id'),
      )
      .select(['u.id as userId', 'u.name', 's.id as scheduleId', 's.name as scheduleName'])
      .distinct()
      .where('o.org_id', '=', orgId)
      .where('o.end_at', '>', now)
      .where('m.user_id', 'is', null)
      .limit(STILL_NAMED_MAX)
      .execute();
  }

  async #listInTurns(orgId: Id<'org'>): Promise<StillNamed[]> {
    return await this.#session.db
      .selectFrom('schedules as s')
      .innerJoinLateral(
        sql<{ user_id: Id<'user'> }>`(
          select distinct (regexp_matches(
            concat_ws(' ', ${sql.ref('s.rotation_config')}::text, ${sql.ref('s.layers')}::text), 'user_[0-9a-z]{26}', 'g'
          ))[1] as user_id)`.as('n'),
        (join) => join.onTrue(),
      )
      .innerJoin('scim_users as x', (join) =>
        join.onRef('x.org_id', '=', 's.org_id').onRef('x.user_id', '=', 'n.user_id'),
      )
      .innerJoin('users as u', 'u.id', 'x.user_id')
      .leftJoin('memberships as m', (join) =>
        join.onRef('m.org_id', '=', 'x.org_id').onRef('m.user_id', '=', 'x.user_id'),
      )
      .select(['u.id as userId', 'u.name', 's.id as scheduleId', 's.name as scheduleName'])
      .where('s.org_id', '=', orgId)
      .where('m.user_id', 'is', null)
      .orderBy('u.name')
      .orderBy('s.id')
      .limit(STILL_NAMED_MAX)
      .execute();
  }

  /** Whether the account is a member of any organization. */
  async hasMembership(userId: Id<'user'>): Promise<boolean> {
    const any = await this.#session.db
      .selectFrom('memberships')
      .select('org_id')
      .where('user_id', '=', userId)
      .limit(1)
      .executeTakeFirst();
    return any !== undefined;
  }

  async revokeToken(orgId: Id<'org'>, now: Temporal.Instant): Promise<boolean> {
    const revoked = await this.#session.db
      .updateTable('api_keys')
      .set({ revoked_at: now })
      .where('org_id', '=', orgId)
      .where('is_provisioning', '=', true)
      .where('revoked_at', 'is', null)
      .execute();
    return rowsChanged(revoked) > 0;
  }

  #found(orgId: Id<'org'>, filter: Filter | null) {
    const userName = filter === null ? null : requiredValue(filter, ['username']);
    const externalId = filter === null ? null : requiredValue(filter, ['externalid']);
    const people = this.#people(orgId, idsOf(orgId, { userName, externalId }));
    return filter === null ? people : people.where(conditionOf(filter, USER_ATTRIBUTES));
  }

  #people(orgId: Id<'org'>, ids: UserIds) {
    return this.#session.db
      .selectFrom(ids.as('p'))
      .innerJoin('users as u', 'u.id', 'p.userId')
      .leftJoin('memberships as m', (join) => join.onRef('m.user_id', '=', 'p.userId').on('m.org_id', '=', orgId))
      .leftJoin('scim_users as s', (join) => join.onRef('s.user_id', '=', 'p.userId').on('s.org_id', '=', orgId))
      .select(['u.id as userId', 'u.email', 'u.name', 'm.role'])
      .select(['s.external_id as externalId', 's.profile', 's.suspended', 's.is_account_made as isAccountMade'])
      .select(({ fn, ref }) => [
        fn.coalesce('s.user_name', 'u.email').as('userName'),
        fn.coalesce('s.created_at', 'u.created_at').as('createdAt'),
        sql<Temporal.Instant>`greatest(${ref('s.updated_at')}, ${ref('u.updated_at')})`.as('updatedAt'),
      ]);
  }
}

/**
 * Builds the query for the ids of an organization's people. An identity provider asks for a user name or an id of its
 * own before each change: these are found by their indices.
 */
function idsOf(
  orgId: Id<'org'>,
  { userName, externalId }: { readonly userName: string | null; readonly externalId: string | null },
): UserIds {
  const { selectFrom } = expressionBuilder<Tables>();
  const members = selectFrom('memberships as m').select('m.user_id as userId').where('m.org_id', '=', orgId);
  const named = selectFrom('scim_users as s').select('s.user_id as userId').where('s.org_id', '=', orgId);
  if (externalId !== null) return named.where('s.external_id', '=', externalId);
  if (userName === null) return members.union(named);
  return members
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .where(({ eb, fn, val }) => eb(fn('lower', ['u.email']), '=', fn('lower', [val(userName)])))
    .union(named.where(({ eb, fn, val }) => eb(fn('lower', ['s.user_name']), '=', fn('lower', [val(userName)]))));
}

/** Query for ids of people. */
interface UserIds {
  as(alias: 'p'): AliasedSelectQueryBuilder<{ userId: Id<'user'> }, 'p'>;
}

const text = (value: Compared['value']): Compared => ({ type: 'text', value });
const profile = (name: string): Compared => text(sql`${sql.ref('s.profile')}->>${sql.lit(name)}`);

/** Attributes of a user by which lists are filtered. Everybody has one address, which is primary and of type work. */
const USER_ATTRIBUTES = {
  id: { type: 'exact', value: sql.ref('u.id') },
  username: text(sql`coalesce(${sql.ref('s.user_name')}, ${sql.ref('u.email')})`),
  externalid: { type: 'exact', value: sql.ref('s.external_id') },
  active: { type: 'boolean', value: sql`(${sql.ref('m.role')} is not null)` },
  displayname: text(sql.ref('u.name')),
  'name.formatted': text(sql.ref('u.name')),
  'name.givenname': profile('givenName'),
  'name.familyname': profile('familyName'),
  emails: text(sql.ref('u.email')),
  'emails.value': text(sql.ref('u.email')),
  'emails.type': text(sql`'work'`),
  'emails.primary': { type: 'boolean', value: sql`true` },
  'meta.resourcetype': text(sql`'User'`),
  'meta.created': { type: 'instant', value: sql`coalesce(${sql.ref('s.created_at')}, ${sql.ref('u.created_at')})` },
  'meta.lastmodified': {
    type: 'instant',
    value: sql`greatest(${sql.ref('s.updated_at')}, ${sql.ref('u.updated_at')})`,
  },
} as const satisfies Readonly<Record<string, Compared>>;
