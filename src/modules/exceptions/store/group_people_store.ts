import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, PostgresStore } from '#storage/postgres/store.ts';

/** The person or the team that works on a group; at most one of the two is not null. */
export interface Assignment {
  readonly assignedUserId: Id<'user'> | null;
  readonly assignedTeamId: Id<'team'> | null;
}

/** Stores who works on groups, and their issues in trackers. */
export class GroupAssignmentStore extends PostgresStore {
  async assign(
    groupIds: readonly Id<'group'>[],
    { assignedUserId, assignedTeamId }: Assignment,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.updateTable('exception_groups')
      .set({ assigned_user_id: assignedUserId, assigned_team_id: assignedTeamId, updated_at: now })
      .where('id', '=', anyOf(groupIds))
      .execute();
  }

  /** Saves the address of the issue of a group; null for none. */
  async saveIssue(groupId: Id<'group'>, issueUrl: string | null, now: Temporal.Instant): Promise<void> {
    await this.updateTable('exception_groups')
      .set({ issue_url: issueUrl, updated_at: now })
      .where('id', '=', groupId)
      .execute();
  }

  /**
   * Ends what somebody who leaves has of exceptions: theirs become nobody's, nobody tells them of any, and their own
   * searches go; those they shared stay.
   */
  async releaseMember(orgId: Id<'org'>, userId: Id<'user'>): Promise<void> {
    const searches = { org_id: orgId, user_id: userId };
    await this.db
      .with('assigned', (db) =>
        db
          .updateTable('exception_groups')
          .set({ assigned_user_id: null })
          .where('org_id', '=', orgId)
          .where('assigned_user_id', '=', userId),
      )
      .with('watched', (db) =>
        db
          .deleteFrom('group_watchers')
          .where('user_id', '=', userId)
          .where('group_id', 'in', (eb) => eb.selectFrom('exception_groups').select('id').where('org_id', '=', orgId)),
      )
      .with('own', (db) => db.deleteFrom('saved_searches').where((eb) => eb.and({ ...searches, is_shared: false })))
      .updateTable('saved_searches')
      .set({ user_id: null })
      .where((eb) => eb.and({ ...searches, is_shared: true }))
      .execute();
  }
}

/** Stores who is told when a group comes back. */
export class GroupWatcherStore extends PostgresStore {
  async has(groupId: Id<'group'>, userId: Id<'user'>): Promise<boolean> {
    const watcher = await this.selectFrom('group_watchers')
      .select('user_id')
      .where('group_id', '=', groupId)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    return watcher !== undefined;
  }

  async add(groupId: Id<'group'>, userId: Id<'user'>, now: Temporal.Instant): Promise<void> {
    await this.insertInto('group_watchers')
      .values({ group_id: groupId, user_id: userId, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  async remove(groupId: Id<'group'>, userId: Id<'user'>): Promise<void> {
    await this.deleteFrom('group_watchers').where('group_id', '=', groupId).where('user_id', '=', userId).execute();
  }

  /** Removes all watchers of the group and returns them: each is told once. */
  async take(groupId: Id<'group'>): Promise<Id<'user'>[]> {
    const watchers = await this.deleteFrom('group_watchers')
      .where('group_id', '=', groupId)
      .returning('user_id as userId')
      .execute();
    return watchers.map(({ userId }) => userId);
  }
}
