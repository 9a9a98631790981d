import { type Expression, expressionBuilder, sql } from 'kysely';

import type { ProvisionedRole } from '#modules/provisioning/decide/provisioned_role.ts';
import { type Filter, requiredValue } from '#modules/provisioning/decide/scim_filter.ts';
import type { SuspendedMembership } from '#modules/provisioning/decide/suspended_membership.ts';
import { type Compared, conditionOf, orderOf, type Page } from '#modules/provisioning/store/filter_condition.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, insertSlices, PostgresStore, type Row, rowsOf, toColumns } from '#storage/postgres/store.ts';
import type { Tables } from '#storage/postgres/tables.ts';
import { TeamMemberEntity } from '#storage/postgres/entities/oncall.ts';
import { ScimGroupEntity } from '#storage/postgres/entities/people.ts';

export type ScimGroupRow = Row<typeof ScimGroupEntity>;

export interface GroupMember {
  readonly groupId: Id<'scimgroup'>;
  readonly userId: Id<'user'>;
  readonly name: string;
}

export type ListedGroup = ScimGroupRow & { readonly memberCount: number };

/** Role of a member, and those that the mapped groups of the person give. */
export interface MemberRoles {
  readonly userId: Id<'user'>;
  readonly role: Role;
  readonly mapped: readonly ProvisionedRole[];
}

/** A person who is deactivated, with the roles and teams that the mapped groups of the person give. */
export interface SuspendedMember {
  readonly userId: Id<'user'>;
  readonly suspended: SuspendedMembership;
  readonly mapped: readonly ProvisionedRole[];
  readonly keptTeams: readonly Id<'team'>[];
}

/** Stores the groups of the identity providers and what owners have mapped them to. */
export class ScimGroupStore extends PostgresStore {
  /** Lists a page, by id if no other order is wanted, which is the order in which groups were made. */
  async list(orgId: Id<'org'>, filter: Filter | null, { sorting, offset, limit }: Page): Promise<ListedGroup[]> {
    const groups = this.#matching(orgId, filter);
    const sorted = sorting === null ? groups : groups.orderBy(orderOf(sorting, GROUP_ATTRIBUTES));
    return await sorted
      .select(({ selectFrom }) =>
        selectFrom('scim_group_members as c')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .whereRef('c.group_id', '=', 'g.id')
          .$asScalar()
          .$notNull()
          .as('memberCount'),
      )
      .orderBy('g.id')
      .offset(offset)
      .limit(limit)
      .execute();
  }

  async count(orgId: Id<'org'>, filter: Filter | null): Promise<number> {
    const { count } = await this.#matching(orgId, filter)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  async find(orgId: Id<'org'>, groupId: string): Promise<ScimGroupRow | null> {
    const group = await this.#matching(orgId, null).where('g.id', '=', asId('scimgroup', groupId)).executeTakeFirst();
    return group ?? null;
  }

  /** Returns which group has this name, and how many there are. */
  async findTaken(
    orgId: Id<'org'>,
    displayName: string,
  ): Promise<{ readonly holder: Id<'scimgroup'> | null; readonly count: number }> {
    return await this.selectFrom('scim_groups')
      .select(({ eb, fn, val }) => [
        fn
          .max('id')
          .filterWhere(eb(fn('lower', ['display_name']), '=', fn('lower', [val(displayName)])))
          .$castTo<Id<'scimgroup'> | null>()
          .as('holder'),
        fn.countAll<number>().as('count'),
      ])
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow();
  }

  /** The same, locked until the transaction ends, so that changes of its members come one after another. */
  async lock(orgId: Id<'org'>, groupId: string): Promise<ScimGroupRow | null> {
    const group = await this.#matching(orgId, null)
      .where('g.id', '=', asId('scimgroup', groupId))
      .forUpdate()
      .executeTakeFirst();
    return group ?? null;
  }

  async insert(row: ScimGroupRow): Promise<void> {
    await this.insertInto('scim_groups').values(toColumns(ScimGroupEntity, row)).execute();
  }

  async save({ id, displayName, externalId, teamId, role, version, updatedAt }: ScimGroupRow): Promise<void> {
    await this.updateTable('scim_groups')
      .set(toColumns(ScimGroupEntity, { displayName, externalId, teamId, role, version, updatedAt }))
      .where('id', '=', id)
      .execute();
  }

  async delete(groupId: Id<'scimgroup'>): Promise<void> {
    await this.deleteFrom('scim_groups').where('id', '=', groupId).execute();
  }

  /** The members of the groups who are people of the organization, by group and id. */
  async listMembers(orgId: Id<'org'>, groupIds: readonly Id<'scimgroup'>[]): Promise<GroupMember[]> {
    if (groupIds.length === 0) return [];
    return await this.selectFrom('scim_group_members as c')
      .innerJoin('scim_groups as g', 'g.id', 'c.group_id')
      .innerJoin('users as u', 'u.id', 'c.user_id')
      .select(['c.group_id as groupId', 'c.user_id as userId', 'u.name'])
      .where('g.org_id', '=', orgId)
      .where('c.group_id', '=', anyOf(groupIds))
      .orderBy('c.group_id')
      .orderBy('c.user_id')
      .execute();
  }

  async listMemberIds(groupId: Id<'scimgroup'>): Promise<Id<'user'>[]> {
    const members = await this.selectFrom('scim_group_members')
      .select('user_id as userId')
      .where('group_id', '=', groupId)
      .execute();
    return members.map(({ userId }) => userId);
  }

  async countMembers(groupId: Id<'scimgroup'>): Promise<number> {
    const { count } = await this.selectFrom('scim_group_members')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('group_id', '=', groupId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** The groups of these people, by name. */
  async listOfUsers(
    orgId: Id<'org'>,
    userIds: readonly Id<'user'>[],
  ): Promise<(Pick<ScimGroupRow, 'id' | 'displayName' | 'teamId'> & { readonly userId: Id<'user'> })[]> {
    if (userIds.length === 0) return [];
    return await this.selectFrom('scim_group_members as c')
      .innerJoin('scim_groups as g', 'g.id', 'c.group_id')
      .select(['g.id', 'g.display_name as displayName', 'g.team_id as teamId', 'c.user_id as userId'])
      .where('g.org_id', '=', orgId)
      .where('c.user_id', '=', anyOf(userIds))
      .orderBy('g.display_name')
      .orderBy('g.id')
      .execute();
  }

  /** Adds people to the group; returns those who were not in it. */
  async addMembers(groupId: Id<'scimgroup'>, userIds: readonly Id<'user'>[]): Promise<Id<'user'>[]> {
    if (userIds.length === 0) return [];
    const added = await this.insertInto('scim_group_members')
      .columns(['group_id', 'user_id'])
      .expression(({ selectFrom, val }) =>
        selectFrom(rowsOf('r', { user_id: ['text', userIds] })).select([
          val(groupId).as('group_id'),
          sql<Id<'user'>>`${sql.ref('r.user_id')}`.as('user_id'),
        ]),
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning('user_id as userId')
      .execute();
    return added.map(({ userId }) => userId);
  }

  /** Takes people out of the group; returns those who were in it. */
  async removeMembers(groupId: Id<'scimgroup'>, userIds: readonly Id<'user'>[]): Promise<Id<'user'>[]> {
    if (userIds.length === 0) return [];
    const removed = await this.deleteFrom('scim_group_members')
      .where('group_id', '=', groupId)
      .where('user_id', '=', anyOf(userIds))
      .returning('user_id as userId')
      .execute();
    return removed.map(({ userId }) => userId);
  }

  /** Takes a person out of every group of the organization. */
  async removeFromAll(orgId: Id<'org'>, userId: Id<'user'>): Promise<void> {
    await this.deleteFrom('scim_group_members')
      .where('user_id', '=', userId)
      .where('group_id', 'in', ({ selectFrom }) => selectFrom('scim_groups').select('id').where('org_id', '=', orgId))
      .execute();
  }

  /**
   * Adds members of the organization to a team, behind its last member and with their own number and channels; returns
   * those who were not in it. The caller holds the lock on the team.
   */
  async addToTeam(
    orgId: Id<'org'>,
    teamId: Id<'team'>,
    userIds: readonly Id<'user'>[],
    now: Temporal.Instant,
  ): Promise<Id<'user'>[]> {
    if (userIds.length === 0) return [];
    const { db } = this;
    const joining = await db
      .selectFrom('memberships as m')
      .select(['m.user_id as userId', 'm.phone', 'm.sms_enabled as smsEnabled', 'm.call_enabled as callEnabled'])
      .select(['m.push_enabled as pushEnabled', 'm.email_enabled as emailEnabled'])
      .where('m.org_id', '=', orgId)
      .where('m.user_id', '=', anyOf(userIds))
      .where(({ exists, not, selectFrom }) =>
        not(
          exists(
            selectFrom('team_members as t')
              .select('t.id')
              .where('t.team_id', '=', teamId)
              .whereRef('t.user_id', '=', 'm.user_id'),
          ),
        ),
      )
      .orderBy('m.user_id')
      .forKeyShare()
      .execute();
    if (joining.length === 0) return [];
    const { last } = await db
      .selectFrom('team_members')
      .select(({ fn }) => fn.max<number | null>('sort_order').as('last'))
      .where('team_id', '=', teamId)
      .executeTakeFirstOrThrow();
    const rows = joining.map((contact, index) => {
      const sortOrder = Math.min((last ?? -1) + 1 + index, Number.MAX_SAFE_INTEGER);
      const times = { createdAt: now, updatedAt: now };
      return toColumns(TeamMemberEntity, { id: newId('member'), orgId, teamId, ...contact, sortOrder, ...times });
    });
    for (const slice of insertSlices(rows)) await db.insertInto('team_members').values(slice).execute();
    return joining.map(({ userId }) => userId);
  }

  /** Takes people out of a team but those whom another group keeps there; returns those who were in it. */
  async removeFromTeam(
    orgId: Id<'org'>,
    teamId: Id<'team'>,
    userIds: readonly Id<'user'>[],
    byGroup: Id<'scimgroup'>,
  ): Promise<Id<'user'>[]> {
    if (userIds.length === 0) return [];
    const removed = await this.deleteFrom('team_members as t')
      .where('t.org_id', '=', orgId)
      .where('t.team_id', '=', teamId)
      .where('t.user_id', '=', anyOf(userIds))
      .where(({ exists, not, selectFrom }) =>
        not(
          exists(
            selectFrom('scim_group_members as c')
              .innerJoin('scim_groups as g', 'g.id', 'c.group_id')
              .select('g.id')
              .where('g.team_id', '=', teamId)
              .where('g.id', '<>', byGroup)
              .whereRef('c.user_id', '=', 't.user_id'),
          ),
        ),
      )
      .returning('t.user_id as userId')
      .execute();
    return removed.map(({ userId }) => userId);
  }

  /** Roles of these members of the organization, with those that their groups give. */
  async listRoles(orgId: Id<'org'>, userIds: readonly Id<'user'>[]): Promise<MemberRoles[]> {
    if (userIds.length === 0) return [];
    return await this.selectFrom('memberships as m')
      .select(['m.user_id as userId', 'm.role'])
      .select(({ ref }) => mappedRoles(orgId, ref('m.user_id')).as('mapped'))
      .where('m.org_id', '=', orgId)
      .where('m.user_id', '=', anyOf(userIds))
      .execute();
  }

  async setRole(orgId: Id<'org'>, userIds: readonly Id<'user'>[], role: Role): Promise<void> {
    await this.updateTable('memberships')
      .set({ role })
      .where('org_id', '=', orgId)
      .where('user_id', '=', anyOf(userIds))
      .execute();
  }

  /** Lists those of these people who are deactivated, with what is to come back and what their groups give. */
  async listSuspended(orgId: Id<'org'>, userIds: readonly Id<'user'>[]): Promise<SuspendedMember[]> {
    if (userIds.length === 0) return [];
    const suspended = await this.selectFrom('scim_users as s')
      .select(['s.user_id as userId', 's.suspended'])
      .$narrowType<{ suspended: SuspendedMembership }>()
      .select(({ ref, selectFrom }) => [
        mappedRoles(orgId, ref('s.user_id')).as('mapped'),
        selectFrom('scim_group_members as c')
          .innerJoin('scim_groups as g', 'g.id', 'c.group_id')
          .select(sql<Id<'team'>[]>`coalesce(array_agg(distinct ${sql.ref('g.team_id')}), '{}')`.as('teams'))
          .where('g.org_id', '=', orgId)
          .where('g.team_id', 'is not', null)
          .whereRef('c.user_id', '=', 's.user_id')
          .$asScalar()
          .$notNull()
          .as('keptTeams'),
      ])
      .where('s.org_id', '=', orgId)
      .where('s.user_id', '=', anyOf(userIds))
      .where('s.suspended', 'is not', null)
      .execute();
    return suspended;
  }

  async saveSuspended(orgId: Id<'org'>, rows: readonly Pick<SuspendedMember, 'userId' | 'suspended'>[]): Promise<void> {
    if (rows.length === 0) return;
    const userIds = rows.map(({ userId }) => userId);
    const memberships = rows.map(({ suspended }) => JSON.stringify(suspended));
    await this.updateTable('scim_users as s')
      .from(rowsOf('r', { user_id: ['text', userIds], membership: ['text', memberships] }))
      .set({ suspended: sql`${sql.ref('r.membership')}::jsonb` })
      .where('s.org_id', '=', orgId)
      .whereRef('s.user_id', '=', 'r.user_id')
      .execute();
  }

  #matching(orgId: Id<'org'>, filter: Filter | null) {
    const member = filter === null ? null : requiredValue(filter, ['members', 'members.value']);
    let groups = this.selectFrom('scim_groups as g')
      .select(columns(ScimGroupEntity, 'g'))
      .where('g.org_id', '=', orgId);
    if (filter !== null) groups = groups.where(conditionOf(filter, groupAttributes(member)));
    return groups;
  }
}

/** Roles that the mapped groups of a person give, as an array. */
function mappedRoles(orgId: Id<'org'>, userId: Expression<Id<'user'>>) {
  const { selectFrom } = expressionBuilder<Tables>();
  return selectFrom('scim_group_members as c')
    .innerJoin('scim_groups as g', 'g.id', 'c.group_id')
    .select(sql<ProvisionedRole[]>`coalesce(array_agg(distinct ${sql.ref('g.role')}), '{}')`.as('roles'))
    .where('g.org_id', '=', orgId)
    .where('g.role', 'is not', null)
    .where('c.user_id', '=', userId)
    .$asScalar()
    .$notNull();
}

const MEMBER = sql`(select ${sql.ref('c.user_id')} from scim_group_members c where ${sql.ref('c.group_id')} = ${sql.ref('g.id')}`;

/** Attributes of a group by which lists are filtered and sorted. */
const GROUP_ATTRIBUTES = {
  id: { type: 'exact', value: sql.ref('g.id') },
  displayname: { type: 'text', value: sql.ref('g.display_name') },
  externalid: { type: 'exact', value: sql.ref('g.external_id') },
  'meta.resourcetype': { type: 'text', value: sql`'Group'` },
  'meta.created': { type: 'instant', value: sql.ref('g.created_at') },
  'meta.lastmodified': { type: 'instant', value: sql.ref('g.updated_at') },
} as const satisfies Readonly<Record<string, Compared>>;

/** Attributes of a group by which lists are filtered, its members among them; `member` is the one whom the filter names. */
function groupAttributes(member: string | null): Readonly<Record<string, Compared>> {
  const named: Compared = { type: 'exact', value: sql`${MEMBER} and ${sql.ref('c.user_id')} = ${member})` };
  return { ...GROUP_ATTRIBUTES, members: named, 'members.value': named };
}
