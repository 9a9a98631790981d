import { type InferEntity, LockMode } from '@mikro-orm/postgresql';
import { type Expression, type ExpressionBuilder, type NotNull, sql } from 'kysely';

import { AppError, notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore } from '#storage/postgres/store.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';
import { TeamEntity, TeamMemberEntity } from '#storage/postgres/entities/oncall.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';
import type { Tables } from '#storage/postgres/tables.ts';

export type TeamRow = InferEntity<typeof TeamEntity>;
export type TeamMemberRow = InferEntity<typeof TeamMemberEntity>;

/** A member with what the account says of the person. */
export type TeamMemberWithPerson = TeamMemberRow & {
  readonly name: string;
  readonly email: string;
  /** Number of the person's colour. */
  readonly color: number;
  /** Whether the person has confirmed that the number is theirs. */
  readonly phoneConfirmed: boolean;
};

export type TeamMemberOfTeam = TeamMemberWithPerson & { readonly teamName: string };

export type TeamPlace = Pick<TeamRow, 'name'> & { readonly id: string };

/** Filter of teams: all of them, those with the text in their name, those of these ids. */
export interface TeamNameFilter {
  readonly text?: string | undefined;
  readonly teamIds?: readonly string[] | undefined;
}

export type MemberContact = Pick<
  TeamMemberRow,
  'phone' | 'smsEnabled' | 'callEnabled' | 'pushEnabled' | 'emailEnabled'
>;

/** Stores on-call teams and their members. Somebody who leaves the organization leaves its teams at the same time. */
export class TeamStore extends PostgresStore {
  /** Oldest first, after the given one. */
  async list(orgId: Id<'org'>, limit: number, after: Id<'team'> | null = null): Promise<TeamRow[]> {
    return await this.#teams(orgId)
      .$if(after !== null, (query) => query.where('t.id', '>', after ?? asId('team', '')))
      .orderBy('t.id')
      .limit(limit)
      .execute();
  }

  /** Lists teams by name, after the given place. */
  async searchNames(
    orgId: Id<'org'>,
    filter: TeamNameFilter,
    { after, limit }: { readonly after: TeamPlace | null; readonly limit: number },
  ): Promise<Pick<TeamRow, 'id' | 'name'>[]> {
    return await this.#named(orgId, filter)
      .$if(after !== null, (query) => query.where(isBehind(after)))
      .orderBy(({ fn }) => fn('lower', ['t.name']))
      .orderBy('t.id')
      .limit(limit)
      .execute();
  }

  async countNames(orgId: Id<'org'>, filter: TeamNameFilter = {}): Promise<number> {
    const { count } = await this.#named(orgId, filter)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Returns the organization's teams that exist among these ids. */
  async findAll(orgId: Id<'org'>, teamIds: readonly string[]): Promise<TeamRow[]> {
    const ids = teamIds.map((teamId) => asId('team', teamId));
    return await this.#teams(orgId).where('t.id', '=', anyOf(ids)).orderBy('t.id').execute();
  }

  /**
   * Lists teams by name, after the given place; those whose name, or a member's name or mail address, contains the
   * text.
   */
  async search(
    orgId: Id<'org'>,
    text: string | undefined,
    page: { readonly after: TeamPlace | null; readonly limit: number },
  ): Promise<TeamRow[]> {
    const { after } = page;
    return await this.#teams(orgId)
      .$if(text !== undefined, (query) =>
        query.where(({ exists, or, ref, selectFrom }) => {
          const contains = (value: Expression<string>) => sql<boolean>`strpos(lower(${value}), lower(${text})) > 0`;
          const member = selectFrom('team_members as m')
            .innerJoin('users as u', 'u.id', 'm.user_id')
            .select('m.id')
            .whereRef('m.team_id', '=', 't.id')
            .where((eb) => eb.or([contains(eb.ref('u.name')), contains(eb.ref('u.email'))]));
          return or([contains(ref('t.name')), exists(member)]);
        }),
      )
      .$if(after !== null, (query) => query.where(isBehind(after)))
      .orderBy(({ fn }) => fn('lower', ['t.name']))
      .orderBy('t.id')
      .limit(page.limit)
      .execute();
  }

  /** Throws `not_found` with the path of the field that named it. */
  async get(orgId: Id<'org'>, teamId: string, path = 'teamId'): Promise<TeamRow> {
    return await this.#teams(orgId)
      .where('t.id', '=', asId('team', teamId))
      .executeTakeFirstOrThrow(() => notFound(path, 'team'));
  }

  /** The team, locked until the transaction ends: nobody deletes it meanwhile, and members join one after another. */
  async lock(orgId: Id<'org'>, teamId: string, path = 'teamId'): Promise<TeamRow> {
    const team = await this.em.findOne(
      TeamEntity,
      { orgId, id: asId('team', teamId) },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (team === null) throw notFound(path, 'team');
    return team;
  }

  async save(team: TeamRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.em, team, now);
  }

  async insert(orgId: Id<'org'>, name: string, now: Temporal.Instant): Promise<TeamRow> {
    const { em } = this.session;
    const team = em.create(TeamEntity, { id: newId('team'), orgId, name, createdAt: now, updatedAt: now });
    await em.persist(team).flush();
    return team;
  }

  /** Its members, schedules and policies go with it. */
  async delete(team: TeamRow): Promise<void> {
    await this.em.remove(team).flush();
  }

  /** The members of all the teams, each team's in its own order. */
  async listMembers(orgId: Id<'org'>, teamIds: readonly Id<'team'>[]): Promise<TeamMemberWithPerson[]> {
    return await this.#members(orgId)
      .where('m.team_id', '=', anyOf(teamIds))
      .orderBy('m.team_id')
      .orderBy('m.sort_order')
      .orderBy('m.id')
      .execute();
  }

  /** The numbers by which the organization knows the person, in their teams and of their own, each once. */
  async listPhonesOf(orgId: Id<'org'>, userId: Id<'user'>): Promise<string[]> {
    const members = await this.selectFrom('team_members')
      .select('phone')
      .distinct()
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .where('phone', 'is not', null)
      .union(({ selectFrom }) =>
        selectFrom('memberships')
          .select('phone')
          .where('org_id', '=', orgId)
          .where('user_id', '=', userId)
          .where('phone', 'is not', null),
      )
      .orderBy('phone')
      .limit(10)
      .$narrowType<{ phone: NotNull }>()
      .execute();
    return members.map(({ phone }) => phone);
  }

  /** The places of these people in the teams of the organization, oldest team first. */
  async listPlacesOfAll(orgId: Id<'org'>, userIds: readonly Id<'user'>[]): Promise<TeamMemberOfTeam[]> {
    return await this.#members(orgId)
      .innerJoin('teams as t', 't.id', 'm.team_id')
      .select('t.name as teamName')
      .where('m.user_id', '=', anyOf(userIds))
      .orderBy('m.team_id')
      .orderBy('m.sort_order')
      .orderBy('m.id')
      .execute();
  }

  /** The teams that a person is in, oldest first. */
  async listPlacesOf(orgId: Id<'org'>, userId: Id<'user'>): Promise<TeamMemberOfTeam[]> {
    return await this.#members(orgId)
      .innerJoin('teams as t', 't.id', 'm.team_id')
      .select('t.name as teamName')
      .where('m.user_id', '=', userId)
      .orderBy('m.team_id')
      .execute();
  }

  /** The person's own entry in a team, locked; throws `not_found` when they are not in it. */
  async lockMemberOf(orgId: Id<'org'>, teamId: string, userId: Id<'user'>): Promise<TeamMemberRow> {
    const member = await this.em.findOne(
      TeamMemberEntity,
      { orgId, teamId: asId('team', teamId), userId },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (member === null) throw new AppError('not_found', 'you are in no team with this id');
    return member;
  }

  /** The entity, locked until the transaction ends, so that concurrent changes queue up instead of losing one. */
  async lockMember(orgId: Id<'org'>, memberId: string, path = 'memberId'): Promise<TeamMemberRow> {
    const member = await this.em.findOne(
      TeamMemberEntity,
      { orgId, id: asId('member', memberId) },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (member === null) throw notFound(path, 'team member');
    return member;
  }

  async saveMember(member: TeamMemberRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.em, member, now);
  }

  /**
   * Adds the user after the last member; the caller holds the lock on the team. Throws `not_found` when the user does
   * not belong to the organization, and `conflict` when the user is in the team already.
   */
  async insertMember(
    team: TeamRow,
    userId: string,
    contact: MemberContact,
    now: Temporal.Instant,
  ): Promise<TeamMemberRow> {
    const { em } = this.session;
    const member = em.create(TeamMemberEntity, {
      id: newId('member'),
      orgId: team.orgId,
      teamId: team.id,
      userId: await this.#holdMembership(team.orgId, userId),
      ...contact,
      sortOrder: await this.#nextSortOrder(team.id),
      createdAt: now,
      updatedAt: now,
    });
    try {
      await em.persist(member).flush();
    } catch (error) {
      if (isUniqueViolation(error)) throw new AppError('conflict', 'this user is a member of this team already');
      throw error;
    }
    return member;
  }

  async deleteMember(member: TeamMemberRow): Promise<void> {
    await this.em.remove(member).flush();
  }

  /** Keeps the user in the organization until the transaction ends. */
  async #holdMembership(orgId: Id<'org'>, userId: string): Promise<Id<'user'>> {
    const membership = await this.selectFrom('memberships')
      .select('user_id')
      .where('org_id', '=', orgId)
      .where('user_id', '=', asId('user', userId))
      .forKeyShare()
      .executeTakeFirstOrThrow(() => notFound('userId', 'user'));
    return membership.user_id;
  }

  /** Returns the place after the last; once that is the largest integer of the contract, the same place. */
  async #nextSortOrder(teamId: Id<'team'>): Promise<number> {
    const last = await this.selectFrom('team_members')
      .select(({ fn }) => fn.max('sort_order').as('sortOrder'))
      .where('team_id', '=', teamId)
      .executeTakeFirst();
    return last === undefined || last.sortOrder === null ? 0 : Math.min(last.sortOrder + 1, Number.MAX_SAFE_INTEGER);
  }

  #named(orgId: Id<'org'>, { text, teamIds }: TeamNameFilter) {
    return this.selectFrom('teams as t')
      .select(['t.id', 't.name'])
      .where('t.org_id', '=', orgId)
      .$if(text !== undefined, (query) =>
        query.where(({ ref }) => sql<boolean>`strpos(lower(${ref('t.name')}), lower(${text})) > 0`),
      )
      .$if(teamIds !== undefined, (query) =>
        query.where('t.id', '=', anyOf((teamIds ?? []).map((teamId) => asId('team', teamId)))),
      );
  }

  #teams(orgId: Id<'org'>) {
    return this.selectFrom('teams as t').select(columns(TeamEntity, 't')).where('t.org_id', '=', orgId);
  }

  #members(orgId: Id<'org'>) {
    return this.selectFrom('team_members as m')
      .innerJoin('users as u', 'u.id', 'm.user_id')
      .innerJoin('memberships as p', (join) =>
        join.onRef('p.org_id', '=', 'm.org_id').onRef('p.user_id', '=', 'm.user_id'),
      )
      .select(columns(TeamMemberEntity, 'm'))
      .select(['u.name', 'u.email', 'p.color'])
      .select(({ exists, selectFrom }) => {
        const confirmed = selectFrom('confirmed_numbers as c')
          .select('c.phone')
          .whereRef('c.user_id', '=', 'm.user_id')
          .whereRef('c.phone', '=', 'm.phone');
        return exists(confirmed).$castTo<boolean>().as('phoneConfirmed');
      })
      .where('m.org_id', '=', orgId);
  }
}

/** Condition for teams after the place in a list by name. */
function isBehind(place: TeamPlace | null) {
  return ({ ref }: Pick<ExpressionBuilder<{ t: Tables['teams'] }, 't'>, 'ref'>) =>
    sql<boolean>`(lower(${ref('t.name')}), ${ref('t.id')}) > (lower(${place?.name}), ${place?.id})`;
}
