import type { InferEntity } from '@mikro-orm/postgresql';

import { AppError } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';
import { OrganizationEntity, UserEntity } from '#storage/postgres/entities/people.ts';

export type OrganizationRow = InferEntity<typeof OrganizationEntity>;
export type UserRow = InferEntity<typeof UserEntity>;

/** Someone of an organization, as far as paging and lists need it. */
export interface Person {
  readonly userId: Id<'user'>;
  readonly name: string;
  readonly email: string;
}

/** A member as lists show one. */
export interface MemberOfOrganization extends Person {
  readonly role: Role;
  readonly joinedAt: Temporal.Instant;
}

/** One place of one user, as the operator's lists show it; without a place there is neither organization nor role. */
export interface PlaceOfUser extends Person {
  readonly orgId: Id<'org'> | null;
  readonly role: Role | null;
}

/** One organization of a user. */
export interface MembershipOfUser {
  readonly orgId: Id<'org'>;
  readonly name: string;
  readonly role: Role;
  /** Whether the organization asks owners and admins for a second factor. */
  readonly secondFactorRequired: boolean;
}

const USER_COLUMNS = `id, email, name, password_hash as "passwordHash", created_at as "createdAt",
  updated_at as "updatedAt"`;

/** Organizations, users and who belongs where. */
export class PeopleStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** True once any organization exists: the first run is over. */
  async hasAnyOrganization(): Promise<boolean> {
    return (await this.#session.sql.row('select 1 from organizations limit 1')) !== null;
  }

  async insertOrganization(name: string, now: Temporal.Instant): Promise<OrganizationRow> {
    const { em } = this.#session;
    const organization = em.create(OrganizationEntity, { id: newId('org'), name, createdAt: now });
    await em.persist(organization).flush();
    return organization;
  }

  /** All of the installation, oldest first. */
  async listOrganizations(): Promise<OrganizationRow[]> {
    return await this.#session.em.find(OrganizationEntity, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
  }

  async findOrganization(orgId: Id<'org'>): Promise<OrganizationRow | null> {
    return await this.#session.em.findOne(OrganizationEntity, { id: orgId });
  }

  /** Throws `conflict` when another user has the address; letter case does not make it another. */
  async insertUser(
    person: { email: string; name: string; passwordHash: string | null },
    now: Temporal.Instant,
  ): Promise<UserRow> {
    const { em } = this.#session;
    const user = em.create(UserEntity, { id: newId('user'), ...person, createdAt: now, updatedAt: now });
    try {
      await em.persist(user).flush();
    } catch (error) {
      if (isUniqueViolation(error)) throw new AppError('conflict', `a user with the address ${person.email} exists`);
      throw error;
    }
    return user;
  }

  /** Letter case does not matter. */
  async findUserByEmail(email: string): Promise<UserRow | null> {
    return await this.#session.sql.row(`select ${USER_COLUMNS} from users where lower(email) = lower($1)`, [email]);
  }

  async findUser(userId: Id<'user'>): Promise<UserRow | null> {
    return await this.#session.sql.row(`select ${USER_COLUMNS} from users where id = $1`, [userId]);
  }

  /** The same, locked until the transaction ends: what is read of the password is what it is when this commits. */
  async lockUser(userId: Id<'user'>): Promise<UserRow | null> {
    return await this.#session.sql.row(`select ${USER_COLUMNS} from users where id = $1 for update`, [userId]);
  }

  async saveName(userId: Id<'user'>, name: string, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('update users set name = $2, updated_at = $3 where id = $1', [
      userId,
      name,
      now.toString(),
    ]);
  }

  async savePasswordHash(userId: Id<'user'>, passwordHash: string, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('update users set password_hash = $2, updated_at = $3 where id = $1', [
      userId,
      passwordHash,
      now.toString(),
    ]);
  }

  /** Where the user belongs, by name of the organization. */
  async listMemberships(userId: Id<'user'>): Promise<MembershipOfUser[]> {
    return await this.#session.sql.rows(
      `select o.id as "orgId", o.name, m.role, o.second_factor_required as "secondFactorRequired" from memberships m join organizations o on o.id = m.org_id
       where m.user_id = $1 order by o.name, o.id`,
      [userId],
    );
  }

  /** Adds the user to the organization, or changes the role there. */
  async setMembership(orgId: Id<'org'>, userId: Id<'user'>, role: Role, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `insert into memberships (org_id, user_id, role, created_at) values ($1, $2, $3, $4)
       on conflict (org_id, user_id) do update set role = excluded.role`,
      [orgId, userId, role, now.toString()],
    );
  }

  async findRole(orgId: Id<'org'>, userId: Id<'user'>): Promise<Role | null> {
    const row = await this.#session.sql.row<{ role: Role }>(
      'select role from memberships where org_id = $1 and user_id = $2',
      [orgId, userId],
    );
    return row?.role ?? null;
  }

  /** The role of a member, and whether the organization asks owners and admins for a second factor; null for others. */
  async findPlace(
    orgId: Id<'org'>,
    userId: Id<'user'>,
  ): Promise<{ readonly role: Role; readonly secondFactorRequired: boolean } | null> {
    return await this.#session.sql.row(
      `select m.role, o.second_factor_required as "secondFactorRequired" from memberships m
       join organizations o on o.id = m.org_id where m.org_id = $1 and m.user_id = $2`,
      [orgId, userId],
    );
  }

  async setSecondFactorRequired(orgId: Id<'org'>, isRequired: boolean): Promise<void> {
    await this.#session.sql.run('update organizations set second_factor_required = $2 where id = $1', [
      orgId,
      isRequired,
    ]);
  }

  /** Everybody of the organization, by name. */
  async listMembers(orgId: Id<'org'>, limit: number): Promise<MemberOfOrganization[]> {
    return await this.#session.sql.rows(
      `select u.id as "userId", u.name, u.email, m.role, m.created_at as "joinedAt"
       from memberships m join users u on u.id = m.user_id where m.org_id = $1 order by u.name, u.id limit $2`,
      [orgId, limit],
    );
  }

  /** Every user with each place they have, by name; only those of one organization when it is given. */
  async listPlaces(orgId: Id<'org'> | null): Promise<PlaceOfUser[]> {
    return await this.#session.sql.rows(
      `select u.id as "userId", u.name, u.email, m.org_id as "orgId", m.role
       from users u left join memberships m on m.user_id = u.id
       where $1::text is null or m.org_id = $1 order by u.name, u.id, m.org_id`,
      [orgId],
    );
  }

  /** Owners and admins, longest-standing first. */
  async listManagers(orgId: Id<'org'>, limit: number): Promise<{ userId: Id<'user'>; email: string }[]> {
    return await this.#session.sql.rows(
      `select u.id as "userId", u.email from memberships m join users u on u.id = m.user_id
       where m.org_id = $1 and m.role in ('owner', 'admin') order by m.created_at, u.id limit $2`,
      [orgId, limit],
    );
  }

  /** Until the transaction ends, nobody else changes who belongs to the organization with which role. */
  async lockMemberships(orgId: Id<'org'>): Promise<void> {
    await this.#session.sql.run('select 1 from organizations where id = $1 for no key update', [orgId]);
  }

  async countOwners(orgId: Id<'org'>): Promise<number> {
    const row = await this.#session.sql.row<{ count: number }>(
      `select count(*)::int as count from memberships where org_id = $1 and role = 'owner'`,
      [orgId],
    );
    return row?.count ?? 0;
  }

  async removeMembership(orgId: Id<'org'>, userId: Id<'user'>): Promise<boolean> {
    return (
      (await this.#session.sql.run('delete from memberships where org_id = $1 and user_id = $2', [orgId, userId])) > 0
    );
  }

  /** Those of the given users who belong to the organization, by id. */
  async listPeople(orgId: Id<'org'>, userIds: readonly string[]): Promise<Map<string, Person>> {
    if (userIds.length === 0) return new Map();
    const people = await this.#session.sql.rows<Person>(
      `select u.id as "userId", u.name, u.email from memberships m join users u on u.id = m.user_id
       where m.org_id = $1 and m.user_id = any($2)`,
      [orgId, [...new Set(userIds)]],
    );
    return new Map(people.map((person) => [person.userId, person]));
  }
}
