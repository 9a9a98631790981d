import { type InferEntity, LockMode } from '@mikro-orm/postgresql';

import { AppError, notFound } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';
import { TeamEntity, TeamMemberEntity } from '#storage/postgres/entities/oncall.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';

export type TeamRow = InferEntity<typeof TeamEntity>;
export type TeamMemberRow = InferEntity<typeof TeamMemberEntity>;

/** A member with what the account says of the person. */
export type TeamMemberWithPerson = TeamMemberRow & {
  readonly name: string;
  readonly email: string;
  /** Whether the person has confirmed that the number is theirs. */
  readonly phoneConfirmed: boolean;
};

/** The same with the name of the team. */
export type TeamMemberOfTeam = TeamMemberWithPerson & { readonly teamName: string };

/** How a member is reached. */
export type MemberContact = Pick<
  TeamMemberRow,
  'phone' | 'smsEnabled' | 'callEnabled' | 'pushEnabled' | 'emailEnabled'
>;

const TEAM_COLUMNS = 'id, org_id as "orgId", name, created_at as "createdAt", updated_at as "updatedAt"';

const MEMBER_COLUMNS = `t.id, t.org_id as "orgId", t.team_id as "teamId", t.user_id as "userId", u.name, u.email,
  t.phone, t.sms_enabled as "smsEnabled", t.call_enabled as "callEnabled", t.push_enabled as "pushEnabled",
  t.email_enabled as "emailEnabled", t.sort_order as "sortOrder",
  exists (select 1 from confirmed_numbers c where c.user_id = t.user_id and c.phone = t.phone) as "phoneConfirmed",
  t.created_at as "createdAt", t.updated_at as "updatedAt"`;

/** On-call teams and who is in them. Somebody who leaves the organization leaves its teams in the same moment. */
export class TeamStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Oldest first. */
  async list(orgId: Id<'org'>, limit: number): Promise<TeamRow[]> {
    return await this.#session.sql.rows(`select ${TEAM_COLUMNS} from teams where org_id = $1 order by id limit $2`, [
      orgId,
      limit,
    ]);
  }

  /** Those of the organization's teams that are there. */
  async findAll(orgId: Id<'org'>, teamIds: readonly string[]): Promise<TeamRow[]> {
    return await this.#session.sql.rows(
      `select ${TEAM_COLUMNS} from teams where org_id = $1 and id = any($2) order by id`,
      [orgId, teamIds],
    );
  }

  /** Throws `not_found` with the path of the field that named it. */
  async get(orgId: Id<'org'>, teamId: string, path = 'teamId'): Promise<TeamRow> {
    const team = await this.#session.sql.row<TeamRow>(
      `select ${TEAM_COLUMNS} from teams where org_id = $1 and id = $2`,
      [orgId, teamId],
    );
    if (team === null) throw notFound(path, 'team');
    return team;
  }

  /** The team, locked until the transaction ends: nobody deletes it meanwhile, and members join one after another. */
  async lock(orgId: Id<'org'>, teamId: string, path = 'teamId'): Promise<TeamRow> {
    const team = await this.#session.em.findOne(
      TeamEntity,
      { orgId, id: teamId as Id<'team'> },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (team === null) throw notFound(path, 'team');
    return team;
  }

  async save(team: TeamRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.#session.em, team, now);
  }

  async insert(orgId: Id<'org'>, name: string, now: Temporal.Instant): Promise<TeamRow> {
    const { em } = this.#session;
    const team = em.create(TeamEntity, { id: newId('team'), orgId, name, createdAt: now, updatedAt: now });
    await em.persist(team).flush();
    return team;
  }

  /** Its members, schedules and policies go with it. */
  async delete(team: TeamRow): Promise<void> {
    await this.#session.em.remove(team).flush();
  }

  /** The members of all the teams, each team's in its own order. */
  async listMembers(orgId: Id<'org'>, teamIds: readonly Id<'team'>[]): Promise<TeamMemberWithPerson[]> {
    return await this.#session.sql.rows(
      `select ${MEMBER_COLUMNS} from team_members t join users u on u.id = t.user_id
       where t.org_id = $1 and t.team_id = any($2) order by t.team_id, t.sort_order, t.id`,
      [orgId, [...teamIds]],
    );
  }

  /** The numbers by which the person's teams know them, each once. */
  async listPhonesOf(orgId: Id<'org'>, userId: Id<'user'>): Promise<string[]> {
    const rows = await this.#session.sql.rows<{ phone: string }>(
      `select distinct phone from team_members where org_id = $1 and user_id = $2 and phone is not null
       order by phone limit 10`,
      [orgId, userId],
    );
    return rows.map(({ phone }) => phone);
  }

  /** Who is in which team of the organization, oldest team first. */
  async listMembersOfAll(orgId: Id<'org'>, limit: number): Promise<TeamMemberOfTeam[]> {
    return await this.#session.sql.rows(
      `select ${MEMBER_COLUMNS}, teams.name as "teamName" from team_members t join users u on u.id = t.user_id
         join teams on teams.id = t.team_id
       where t.org_id = $1 order by t.team_id, t.sort_order, t.id limit $2`,
      [orgId, limit],
    );
  }

  /** The teams that a person is in, oldest first. */
  async listPlacesOf(orgId: Id<'org'>, userId: Id<'user'>): Promise<TeamMemberOfTeam[]> {
    return await this.#session.sql.rows(
      `select ${MEMBER_COLUMNS}, teams.name as "teamName" from team_members t join users u on u.id = t.user_id
         join teams on teams.id = t.team_id
       where t.org_id = $1 and t.user_id = $2 order by t.team_id limit 1000`,
      [orgId, userId],
    );
  }

  /** The person's own entry in a team, locked; throws `not_found` when they are not in it. */
  async lockMemberOf(orgId: Id<'org'>, teamId: string, userId: Id<'user'>): Promise<TeamMemberRow> {
    const member = await this.#session.em.findOne(
      TeamMemberEntity,
      { orgId, teamId: teamId as Id<'team'>, userId },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (member === null) throw new AppError('not_found', 'you are in no team with this id');
    return member;
  }

  /** The entity, locked until the transaction ends, so that concurrent changes queue up instead of losing one. */
  async lockMember(orgId: Id<'org'>, memberId: string, path = 'memberId'): Promise<TeamMemberRow> {
    const member = await this.#session.em.findOne(
      TeamMemberEntity,
      { orgId, id: memberId as Id<'member'> },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (member === null) throw notFound(path, 'team member');
    return member;
  }

  async saveMember(member: TeamMemberRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.#session.em, member, now);
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
    const { em } = this.#session;
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
    await this.#session.em.remove(member).flush();
  }

  /** Keeps the user in the organization until the transaction ends. */
  async #holdMembership(orgId: Id<'org'>, userId: string): Promise<Id<'user'>> {
    const membership = await this.#session.sql.row<{ userId: Id<'user'> }>(
      'select user_id as "userId" from memberships where org_id = $1 and user_id = $2 for key share',
      [orgId, userId],
    );
    if (membership === null) throw notFound('userId', 'user');
    return membership.userId;
  }

  /** After the last; once that is the largest integer of the contract, beside it. */
  async #nextSortOrder(teamId: Id<'team'>): Promise<number> {
    const next = await this.#session.sql.row<{ sortOrder: number }>(
      'select least(max(sort_order) + 1, $2::bigint) as "sortOrder" from team_members where team_id = $1 having count(*) > 0',
      [teamId, Number.MAX_SAFE_INTEGER],
    );
    return next?.sortOrder ?? 0;
  }
}
