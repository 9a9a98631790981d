import { type InferEntity, LockMode } from '@mikro-orm/postgresql';

import { sql } from 'kysely';

import type { Preferences } from '#modules/contacts/decide/contact.ts';
import { AppError } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { MANAGER_ROLES, mayAnswer, type Role, ROLES } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, prepared, type Values } from '#storage/postgres/store.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';
import { MembershipEntity, OrganizationEntity, type NewUser, UserEntity } from '#storage/postgres/entities/people.ts';
import { hasSecondFactor, providerRuleOf, type Standing } from '#modules/accounts/store/standing.ts';

export type OrganizationRow = InferEntity<typeof OrganizationEntity>;
export type UserRow = InferEntity<typeof UserEntity>;
export type MembershipRow = InferEntity<typeof MembershipEntity>;

/** Someone of an organization, as far as paging and lists need it. */
export interface Person {
  readonly userId: Id<'user'>;
  readonly name: string;
  readonly email: string;
}

/** Person with the number of their colour, which is the same wherever the console shows them. */
export interface ShownPerson extends Person {
  readonly color: number;
}

/** Somebody with their own settings for incidents of teams that they are not in. */
export interface ReachablePerson extends Person {
  readonly role: Role;
  readonly own: Preferences;
}

export interface MemberOfOrganization extends ShownPerson {
  readonly role: Role;
  readonly joinedAt: Temporal.Instant;
}

/** Filter of an organization's people; absent fields do not narrow it. */
export interface PeopleFilter {
  /** Part of the name or of the mail address before its @, or how the address begins; letter case does not matter. */
  readonly text?: string | undefined;
  readonly role?: Role | undefined;
  readonly userIds?: readonly string[] | undefined;
  readonly isWithoutTeam?: boolean;
  /** Whether to leave out those whose role may not answer incidents. */
  readonly mayAnswer?: boolean;
}

/**
 * Place of a user in an organization, as the operator's lists show it; without a place there is neither organization
 * nor role.
 */
export interface PlaceOfUser extends Person {
  readonly orgId: Id<'org'> | null;
  readonly role: Role | null;
}

/** One organization of a user. */
export interface MembershipOfUser {
  readonly orgId: Id<'org'>;
  readonly name: string;
  readonly role: Role;
  /** Number of the user's colour there. */
  readonly color: number;
  /** Whether the organization asks owners and admins for a second factor. */
  readonly secondFactorRequired: boolean;
  /** Link to the traces for its people; null where nobody has set it. */
  readonly traceLink: string | null;
  readonly showsPrices: boolean;
}

const OWN_CONTACT = ['phone', 'smsEnabled', 'callEnabled', 'pushEnabled', 'emailEnabled'] as const;

const FIND_ROLE = prepared((db, { orgId, userId }: Values<{ orgId: Id<'org'>; userId: Id<'user'> }>) =>
  db.selectFrom('memberships').select('role').where('org_id', '=', orgId).where('user_id', '=', userId),
);

/** Organizations, users and who belongs where. */
export class PeopleStore extends PostgresStore {
  /** True once any organization exists: the first run is over. */
  async hasAnyOrganization(): Promise<boolean> {
    const any = await this.selectFrom('organizations').select('id').limit(1).executeTakeFirst();
    return any !== undefined;
  }

  /** Whether there is one organization only. */
  async hasOneOrganization(): Promise<boolean> {
    return (await this.selectFrom('organizations').select('id').limit(2).execute()).length === 1;
  }

  async insertOrganization(name: string, now: Temporal.Instant): Promise<OrganizationRow> {
    const { em } = this.session;
    const organization = em.create(OrganizationEntity, { id: newId('org'), name, createdAt: now });
    await em.persist(organization).flush();
    return organization;
  }

  /** All of the installation, oldest first. */
  async listOrganizations(): Promise<OrganizationRow[]> {
    return await this.em.find(OrganizationEntity, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
  }

  async findOrganization(orgId: Id<'org'>): Promise<OrganizationRow | null> {
    return await this.em.findOne(OrganizationEntity, { id: orgId });
  }

  /** Returns the name that the organization had. */
  async rename(orgId: Id<'org'>, name: string): Promise<string> {
    const { em } = this.session;
    const organization = await em.findOneOrFail(
      OrganizationEntity,
      { id: orgId },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    const before = organization.name;
    organization.name = name;
    await em.flush();
    return before;
  }

  /** Throws `conflict` when another user has the address; letter case does not make it another. */
  async insertUser({ isAddressProven, ...person }: NewUser, now: Temporal.Instant): Promise<UserRow> {
    const { em } = this.session;
    const times = { addressProvenAt: isAddressProven ? now : null, createdAt: now, updatedAt: now };
    const user = em.create(UserEntity, { id: newId('user'), ...person, ...times });
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
    const user = await this.#users()
      .where(({ eb, fn, val }) => eb(fn('lower', ['u.email']), '=', fn('lower', [val(email)])))
      .executeTakeFirst();
    return user ?? null;
  }

  async findUser(userId: Id<'user'>): Promise<UserRow | null> {
    return (await this.#users().where('u.id', '=', userId).executeTakeFirst()) ?? null;
  }

  /** The same, locked until the transaction ends: what is read of the password is what it is when this commits. */
  async lockUser(userId: Id<'user'>): Promise<UserRow | null> {
    return (await this.#users().where('u.id', '=', userId).forUpdate().executeTakeFirst()) ?? null;
  }

  async saveName(userId: Id<'user'>, name: string, now: Temporal.Instant): Promise<void> {
    await this.updateTable('users').set({ name, updated_at: now }).where('id', '=', userId).execute();
  }

  async savePasswordHash(userId: Id<'user'>, passwordHash: string, now: Temporal.Instant): Promise<void> {
    await this.updateTable('users')
      .set({ password_hash: passwordHash, updated_at: now })
      .where('id', '=', userId)
      .execute();
  }

  /** Lists the user's memberships, by name of the organization. */
  async listMemberships(userId: Id<'user'>): Promise<MembershipOfUser[]> {
    return await this.selectFrom('memberships as m')
      .innerJoin('organizations as o', 'o.id', 'm.org_id')
      .select(['o.id as orgId', 'o.name', 'm.role', 'm.color', 'o.second_factor_required as secondFactorRequired'])
      .select(['o.trace_link as traceLink', 'o.shows_prices as showsPrices'])
      .where('m.user_id', '=', userId)
      .orderBy('o.name')
      .orderBy('o.id')
      .execute();
  }

  /** Adds the user to the organization, or changes the role there. */
  async setMembership(orgId: Id<'org'>, userId: Id<'user'>, role: Role, now: Temporal.Instant): Promise<void> {
    await this.insertInto('memberships')
      .values({ org_id: orgId, user_id: userId, role, created_at: now })
      .onConflict((conflict) => conflict.columns(['org_id', 'user_id']).doUpdateSet({ role }))
      .execute();
  }

  async findRole(orgId: Id<'org'>, userId: Id<'user'>): Promise<Role | null> {
    const membership = await FIND_ROLE.row(this.session, { orgId, userId });
    return membership?.role ?? null;
  }

  /** Returns the standing of a member in the organization; null for others. */
  async findStanding(orgId: Id<'org'>, userId: Id<'user'>): Promise<Standing | null> {
    const standing = await this.selectFrom('memberships as m')
      .innerJoin('organizations as o', 'o.id', 'm.org_id')
      .select(['m.role', 'o.second_factor_required as secondFactorRequired'])
      .select('o.session_networks as networks')
      .select(({ ref }) => hasSecondFactor(ref('m.user_id')).as('hasSecondFactor'))
      .select(({ ref }) => providerRuleOf(ref('o.id')).as('providerRule'))
      .where('m.org_id', '=', orgId)
      .where('m.user_id', '=', userId)
      .executeTakeFirst();
    return standing ?? null;
  }

  async setSecondFactorRequired(orgId: Id<'org'>, isRequired: boolean): Promise<void> {
    await this.updateTable('organizations')
      .set({ second_factor_required: isRequired })
      .where('id', '=', orgId)
      .execute();
  }

  /** Says where traces are looked at; returns what was said before. */
  async setTraceLink(orgId: Id<'org'>, traceLink: string | null): Promise<string | null> {
    const before = await this.selectFrom('organizations')
      .select('trace_link as traceLink')
      .where('id', '=', orgId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    await this.updateTable('organizations').set({ trace_link: traceLink }).where('id', '=', orgId).execute();
    return before.traceLink;
  }

  /** Lists the members of the organization by name. */
  async listMembers(orgId: Id<'org'>, limit: number): Promise<MemberOfOrganization[]> {
    return await this.#members(orgId)
      .select(['u.name', 'u.email', 'm.role', 'm.color', 'm.created_at as joinedAt'])
      .orderBy('u.name')
      .orderBy('u.id')
      .limit(limit)
      .execute();
  }

  /** Lists matching people by name, after the given place. */
  async search(
    orgId: Id<'org'>,
    filter: PeopleFilter,
    page: { readonly after: (Pick<Person, 'name'> & { readonly id: string }) | null; readonly limit: number },
  ): Promise<MemberOfOrganization[]> {
    const { after } = page;
    return await this.#matching(orgId, filter)
      .select(['u.name', 'u.email', 'm.role', 'm.color', 'm.created_at as joinedAt'])
      .$if(after !== null, (query) =>
        query.where(
          ({ ref }) => sql<boolean>`(lower(${ref('u.name')}), ${ref('u.id')}) > (lower(${after?.name}), ${after?.id})`,
        ),
      )
      .orderBy(({ fn }) => fn('lower', ['u.name']))
      .orderBy('u.id')
      .limit(page.limit)
      .execute();
  }

  async count(orgId: Id<'org'>, filter: PeopleFilter): Promise<number> {
    const { count } = await this.#matching(orgId, filter)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Every user with each place they have, by name; only those of one organization when it is given. */
  async listPlaces(orgId: Id<'org'> | null): Promise<PlaceOfUser[]> {
    return await this.selectFrom('users as u')
      .leftJoin('memberships as m', 'm.user_id', 'u.id')
      .select(['u.id as userId', 'u.name', 'u.email', 'm.org_id as orgId', 'm.role'])
      .$if(orgId !== null, (query) => query.where('m.org_id', '=', orgId))
      .orderBy('u.name')
      .orderBy('u.id')
      .orderBy('m.org_id')
      .execute();
  }

  /** Owners and admins, longest-standing first. */
  async listManagers(orgId: Id<'org'>, limit: number): Promise<{ userId: Id<'user'>; email: string }[]> {
    return await this.#members(orgId)
      .select('u.email')
      .where('m.role', 'in', [...MANAGER_ROLES])
      .orderBy('m.created_at')
      .orderBy('u.id')
      .limit(limit)
      .execute();
  }

  /**
   * Locks memberships: until the transaction ends, nobody else changes who belongs to the organization with which role.
   */
  async lockMemberships(orgId: Id<'org'>): Promise<void> {
    await this.selectFrom('organizations').select('id').where('id', '=', orgId).forNoKeyUpdate().execute();
  }

  async countOwners(orgId: Id<'org'>): Promise<number> {
    const { count } = await this.selectFrom('memberships')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('org_id', '=', orgId)
      .where('role', '=', 'owner')
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Returns the membership that it removed; null if there was none. */
  async removeMembership(orgId: Id<'org'>, userId: Id<'user'>): Promise<MembershipRow | null> {
    const removing = this.deleteFrom('memberships as m').where('m.org_id', '=', orgId);
    const removed = removing.where('m.user_id', '=', userId).returning(columns(MembershipEntity, 'm'));
    return (await removed.executeTakeFirst()) ?? null;
  }

  /** Returns the given users who belong to the organization, by id. */
  async listPeople(orgId: Id<'org'>, userIds: readonly string[]): Promise<Map<string, ShownPerson>> {
    if (userIds.length === 0) return new Map();
    const ids = [...new Set(userIds)].map((userId) => asId('user', userId));
    const people = await this.#members(orgId)
      .select(['u.name', 'u.email', 'm.color'])
      .where('m.user_id', '=', anyOf(ids))
      .execute();
    return inOrder(ids, people);
  }

  /** The same with how each wants to be reached about incidents of teams that they are not in. */
  async listReachable(orgId: Id<'org'>, userIds: readonly string[]): Promise<Map<string, ReachablePerson>> {
    if (userIds.length === 0) return new Map();
    const ids = [...new Set(userIds)].map((userId) => asId('user', userId));
    const people = await this.#members(orgId)
      .select(['u.name', 'u.email', 'm.role'])
      .select(columns(MembershipEntity, 'm', OWN_CONTACT))
      .where('m.user_id', '=', anyOf(ids))
      .execute();
    const reachable = people.map(({ userId, name, email, role, ...own }) => ({ userId, name, email, role, own }));
    return inOrder(ids, reachable);
  }

  /** The person's own place in the organization, locked until the transaction ends. */
  async lockMembership(orgId: Id<'org'>, userId: Id<'user'>): Promise<MembershipRow> {
    return await this.em.findOneOrFail(MembershipEntity, { orgId, userId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  async saveMembership(_membership: MembershipRow): Promise<void> {
    await this.em.flush();
  }

  #matching(
    orgId: Id<'org'>,
    { text, role, userIds, isWithoutTeam = false, mayAnswer: answersOnly = false }: PeopleFilter,
  ) {
    return this.#members(orgId)
      .$if(text !== undefined, (query) =>
        query.where(
          ({ ref }) =>
            sql<boolean>`(strpos(lower(concat_ws(' ', ${ref('u.name')}, split_part(${ref('u.email')}, '@', 1))), lower(${text})) > 0
              or starts_with(lower(${ref('u.email')}), lower(${text})))`,
        ),
      )
      .$if(answersOnly, (query) => query.where('m.role', 'in', ROLES.filter(mayAnswer)))
      .$if(role !== undefined, (query) => query.where('m.role', '=', role ?? 'viewer'))
      .$if(userIds !== undefined, (query) =>
        query.where('m.user_id', '=', anyOf((userIds ?? []).map((userId) => asId('user', userId)))),
      )
      .$if(isWithoutTeam, (query) =>
        query.where(({ exists, not, selectFrom }) =>
          not(
            exists(
              selectFrom('team_members as t')
                .select('t.id')
                .whereRef('t.user_id', '=', 'm.user_id')
                .whereRef('t.org_id', '=', 'm.org_id'),
            ),
          ),
        ),
      );
  }

  #users() {
    return this.selectFrom('users as u').select(columns(UserEntity, 'u'));
  }

  #members(orgId: Id<'org'>) {
    return this.selectFrom('memberships as m')
      .innerJoin('users as u', 'u.id', 'm.user_id')
      .select('u.id as userId')
      .where('m.org_id', '=', orgId);
  }
}

/** Keeps the people in the order in which they were asked for; the database returns them in any. */
function inOrder<Person extends { readonly userId: string }>(
  userIds: readonly Person['userId'][],
  people: readonly Person[],
): Map<Person['userId'], Person> {
  const byId = new Map(people.map((person) => [person.userId, person]));
  return new Map(
    userIds.flatMap((userId) => {
      const person = byId.get(userId);
      return person === undefined ? [] : [[userId, person] as const];
    }),
  );
}
