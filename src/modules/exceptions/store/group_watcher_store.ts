import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Stores who is told when a group comes back. */
export class GroupWatcherStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async has(groupId: Id<'group'>, userId: Id<'user'>): Promise<boolean> {
    const watcher = await this.#session.db
      .selectFrom('group_watchers')
      .select('user_id')
      .where('group_id', '=', groupId)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    return watcher !== undefined;
  }

  async add(groupId: Id<'group'>, userId: Id<'user'>, now: Temporal.Instant): Promise<void> {
    await this.#session.db
      .insertInto('group_watchers')
      .values({ group_id: groupId, user_id: userId, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  async remove(groupId: Id<'group'>, userId: Id<'user'>): Promise<void> {
    await this.#session.db
      .deleteFrom('group_watchers')
      .where('group_id', '=', groupId)
      .where('user_id', '=', userId)
      .execute();
  }

  /** Removes all watchers of the group and returns them: each is told once. */
  async take(groupId: Id<'group'>): Promise<Id<'user'>[]> {
    const watchers = await this.#session.db
      .deleteFrom('group_watchers')
      .where('group_id', '=', groupId)
      .returning('user_id as userId')
      .execute();
    return watchers.map(({ userId }) => userId);
  }
}
