import { expressionBuilder, type QueryCreator, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';

import type { KeptContact } from '#modules/provisioning/decide/suspended_membership.ts';
import { type Filter, requiredValue } from '#modules/provisioning/decide/scim_filter.ts';
import {
  conditionOf,
  idsOf,
  orderOf,
  type Page,
  USER_ATTRIBUTES,
  type UserIds,
} from '#modules/provisioning/store/filter_condition.ts';
import type { ScimGroupRow } from '#modules/provisioning/store/scim_group_store.ts';
import { AppError } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import type { Tables } from '#storage/postgres/tables.ts';
import { MembershipEntity, ScimUserEntity, UserEntity } from '#storage/postgres/entities/people.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';
import type { ProvisionedRole } from '#modules/provisioning/decide/provisioned_role.ts';

export type ScimUserRow = Row<typeof ScimUserEntity>;
type UserRow = Row<typeof UserEntity>;

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

export interface FoundUser extends ProvisionedUser {
  readonly groups: readonly Pick<ScimGroupRow, 'id' | 'displayName' | 'teamId'>[];
}

/** Account of an address that the identity provider names. */
interface TakenAccount extends Pick<UserRow, 'email' | 'name' | 'passwordHash' | 'addressProvenAt'> {
  readonly userId: Id<'user'>;
  /** Whether the organization has this person already. */
  readonly isKnown: boolean;
}

/** Account and role that a new person is given; null for an account that exists, and for no membership. */
interface MadeWith {
  readonly account: Pick<UserRow, 'email' | 'name'> | null;
  readonly role: Role | null;
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
export class ProvisioningStore extends PostgresStore {
  async findToken(orgId: Id<'org'>): Promise<ProvisioningToken | null> {
    const token = await this.selectFrom('api_keys as k')
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
    const { role } = await this.selectFrom('organizations')
      .select('provisioned_role as role')
      .where('id', '=', orgId)
      .executeTakeFirstOrThrow();
    return role;
  }

  /** Returns the same, and locks the memberships of the organization until the transaction ends. */
  async lockProvisionedRole(orgId: Id<'org'>): Promise<ProvisionedRole> {
    const { role } = await this.selectFrom('organizations')
      .select('provisioned_role as role')
      .where('id', '=', orgId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    return role;
  }

  async setProvisionedRole(orgId: Id<'org'>, role: ProvisionedRole): Promise<void> {
    await this.updateTable('organizations').set({ provisioned_role: role }).where('id', '=', orgId).execute();
  }

  /** Lists a page, by id if no other order is wanted, which is the order in which accounts were made. */
  async list(orgId: Id<'org'>, filter: Filter | null, { sorting, offset, limit }: Page): Promise<ProvisionedUser[]> {
    const users = this.#matching(orgId, filter);
    const sorted = sorting === null ? users : users.orderBy(orderOf(sorting, USER_ATTRIBUTES));
    return await sorted.orderBy('u.id').offset(offset).limit(limit).execute();
  }

  async count(orgId: Id<'org'>, filter: Filter | null): Promise<number> {
    const { count } = await this.#matching(orgId, filter)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Returns the person with their groups, by name. */
  async find(orgId: Id<'org'>, userId: string): Promise<FoundUser | null> {
    const id = asId('user', userId);
    const { selectFrom } = expressionBuilder<Tables>();
    const member = selectFrom('memberships').select('user_id as userId').where('org_id', '=', orgId);
    const named = selectFrom('scim_users').select('user_id as userId').where('org_id', '=', orgId);
    const ids = member.where('user_id', '=', id).union(named.where('user_id', '=', id));
    const groups = selectFrom('scim_group_members as c')
      .innerJoin('scim_groups as g', 'g.id', 'c.group_id')
      .select(['g.id', 'g.display_name as displayName', 'g.team_id as teamId'])
      .where('g.org_id', '=', orgId)
      .where('c.user_id', '=', id)
      .orderBy('g.display_name')
      .orderBy('g.id');
    const user = await this.#people(orgId, ids).select(jsonArrayFrom(groups).as('groups')).executeTakeFirst();
    return user ?? null;
  }

  /** Returns who has this user name in the organization, and the account of this address. */
  async findTaken(
    orgId: Id<'org'>,
    { userName, email }: { readonly userName: string; readonly email: string },
  ): Promise<{ readonly holder: Id<'user'> | null; readonly account: TakenAccount | null }> {
    const { db } = this;
    const holding = this.#named(orgId, userName).limit(1).$asScalar();
    const { holder, userId, name, passwordHash, addressProvenAt, ...found } = await db
      .selectFrom(db.selectNoFrom(holding.as('holder')).as('n'))
      .leftJoin('users as u', (join) =>
        join.on(({ eb, fn, val }) => eb(fn('lower', ['u.email']), '=', fn('lower', [val(email)]))),
      )
      .leftJoin('memberships as m', (join) => join.onRef('m.user_id', '=', 'u.id').on('m.org_id', '=', orgId))
      .leftJoin('scim_users as s', (join) => join.onRef('s.user_id', '=', 'u.id').on('s.org_id', '=', orgId))
      .select(['n.holder', 'u.id as userId', 'u.email', 'u.name', 'u.password_hash as passwordHash'])
      .select(['u.address_proven_at as addressProvenAt', 'm.user_id as memberId', 's.user_id as namedId'])
      .executeTakeFirstOrThrow();
    if (userId === null || found.email === null || name === null) return { holder, account: null };
    const isKnown = found.memberId !== null || found.namedId !== null;
    return { holder, account: { userId, email: found.email, name, passwordHash, addressProvenAt, isKnown } };
  }

  /** Counts the people whom the identity provider has named. */
  async countNamed(orgId: Id<'org'>): Promise<number> {
    const { count } = await this.selectFrom('scim_users')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Returns those of the ids that are of people of the organization. */
  async listKnown(orgId: Id<'org'>, userIds: readonly string[]): Promise<Id<'user'>[]> {
    if (userIds.length === 0) return [];
    const ids = userIds.map((userId) => asId('user', userId));
    const people = await this.selectFrom('memberships')
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

  async findNamed(orgId: Id<'org'>, userName: string): Promise<Id<'user'> | null> {
    return (await this.#named(orgId, userName).executeTakeFirst())?.id ?? null;
  }

  /** Stores a person with the membership, and with the account if that is to be made. Throws `conflict` if it is there by now. */
  async insert(row: ScimUserRow, { account, role }: MadeWith): Promise<void> {
    const { orgId, userId, createdAt, updatedAt } = row;
    let db = creatorOf(this.session.db);
    if (account !== null) {
      const made = { id: userId, ...account, passwordHash: null, addressProvenAt: null, createdAt, updatedAt };
      db = creatorOf(db.with('account', (cte) => cte.insertInto('users').values(toColumns(UserEntity, made))));
    }
    if (role !== null) {
      const made = toColumns(MembershipEntity, { orgId, userId, role, createdAt });
      db = creatorOf(db.with('membership', (cte) => cte.insertInto('memberships').values(made)));
    }
    try {
      await db.insertInto('scim_users').values(toColumns(ScimUserEntity, row)).execute();
    } catch (error) {
      if (isUniqueViolation(error)) throw new AppError('conflict', 'another change has made this user; ask again');
      throw error;
    }
  }

  /**
   * Stores what the identity provider says of a person, whom it may not have named before, and the name of the account
   * where that changes.
   */
  async save(row: ScimUserRow, accountName: string | null): Promise<void> {
    const { userId, userName, externalId, profile, suspended, updatedAt } = row;
    const changed = toColumns(ScimUserEntity, { userName, externalId, profile, suspended, updatedAt });
    let db = creatorOf(this.session.db);
    if (accountName !== null) {
      const named = { name: accountName, updated_at: updatedAt };
      db = creatorOf(db.with('account', (cte) => cte.updateTable('users').set(named).where('id', '=', userId)));
    }
    await db
      .insertInto('scim_users')
      .values(toColumns(ScimUserEntity, row))
      .onConflict((conflict) => conflict.columns(['org_id', 'user_id']).doUpdateSet(changed))
      .execute();
  }

  async delete(orgId: Id<'org'>, userId: Id<'user'>): Promise<void> {
    await this.deleteFrom('scim_users').where('org_id', '=', orgId).where('user_id', '=', userId).execute();
  }

  /** Counts the organizations that know the account, without this one. Locks the account until the transaction ends. */
  async countElsewhere(orgId: Id<'org'>, userId: Id<'user'>): Promise<number> {
    await this.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute();
    const { db } = this;
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
    await this.deleteFrom('password_resets').where('user_id', '=', userId).execute();
    await this.updateTable('users')
      .set({ email, address_proven_at: null, updated_at: now })
      .where('id', '=', userId)
      .execute();
  }

  /** Makes a person a member, with the contact that they had as one before. */
  async restoreMembership(
    { orgId, userId }: Pick<ScimUserRow, 'orgId' | 'userId'>,
    role: Role,
    contact: KeptContact | null,
    createdAt: Temporal.Instant,
  ): Promise<void> {
    const membership = toColumns(MembershipEntity, { orgId, userId, role, createdAt, ...contact });
    await this.insertInto('memberships').values(membership).execute();
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
    return await this.selectFrom('schedule_overrides as o')
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
    return await this.selectFrom('schedules as s')
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

  async revokeToken(orgId: Id<'org'>, now: Temporal.Instant): Promise<boolean> {
    const revoked = await this.updateTable('api_keys')
      .set({ revoked_at: now })
      .where('org_id', '=', orgId)
      .where('is_provisioning', '=', true)
      .where('revoked_at', 'is', null)
      .execute();
    return rowsChanged(revoked) > 0;
  }

  #matching(orgId: Id<'org'>, filter: Filter | null) {
    const userName = filter === null ? null : requiredValue(filter, ['username']);
    const externalId = filter === null ? null : requiredValue(filter, ['externalid']);
    const people = this.#people(orgId, idsOf(orgId, { userName, externalId }));
    return filter === null ? people : people.where(conditionOf(filter, USER_ATTRIBUTES));
  }

  /** The ids of those who have this user name; a member whom the identity provider has not named has the address. */
  #named(orgId: Id<'org'>, userName: string) {
    return this.#people(orgId, idsOf(orgId, { userName, externalId: null }))
      .clearSelect()
      .select('u.id')
      .where(
        ({ fn, ref, val }) =>
          sql<boolean>`lower(coalesce(${ref('s.user_name')}, ${ref('u.email')})) = ${fn('lower', [val(userName)])}`,
      );
  }

  #people(orgId: Id<'org'>, ids: UserIds) {
    return this.selectFrom(ids.as('p'))
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

/** Returns what begins a statement, whatever writes are part of it. (To compare two takes the checker of types seconds.) */
function creatorOf(db: unknown): QueryCreator<Tables> {
  return db as QueryCreator<Tables>;
}
