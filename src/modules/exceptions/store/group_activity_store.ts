import type { ActivityFacts } from '#modules/exceptions/decide/activity.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { allBut, columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { GroupActivityEntity } from '#storage/postgres/entities/exceptions.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';

const SHOWN = allBut(GroupActivityEntity, 'orgId', 'groupId', 'requestKey');

export type ActivityRow = Pick<Row<typeof GroupActivityEntity>, (typeof SHOWN)[number]>;

/** Position in the history: newest first. */
export interface ActivityPlace {
  readonly at: Temporal.Instant;
  readonly id: string;
}

/** Something that happened to a group. */
export interface NewActivity {
  readonly orgId: Id<'org'>;
  readonly groupId: Id<'group'>;
  readonly actor: IncidentActor;
  readonly facts: ActivityFacts;
}

/** A comment by a person; the same for the same request, however often it arrives. */
export interface NewComment extends Omit<NewActivity, 'facts'> {
  readonly userId: Id<'user'>;
  readonly body: string;
  readonly requestKey: string;
}

/** Stores the comments on groups and their history. */
export class GroupActivityStore extends PostgresStore {
  /** Lists entries after `after`, newest first, at most `limit`. */
  async list(groupId: Id<'group'>, after: ActivityPlace | null, limit: number): Promise<ActivityRow[]> {
    let entries = this.#entries(groupId);
    if (after !== null) {
      const { at, id } = after;
      entries = entries.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('a.at', 'a.id'), '<', tuple(at, asId('activity', id))),
      );
    }
    return await entries.orderBy('a.at', 'desc').orderBy('a.id', 'desc').limit(limit).execute();
  }

  async find(groupId: Id<'group'>, activityId: string): Promise<ActivityRow | null> {
    const entry = await this.#entries(groupId).where('a.id', '=', asId('activity', activityId)).executeTakeFirst();
    return entry ?? null;
  }

  async findComment({ groupId, userId, requestKey }: NewComment): Promise<ActivityRow | null> {
    const comment = await this.#entries(groupId)
      .where('a.user_id', '=', userId)
      .where('a.request_key', '=', requestKey)
      .executeTakeFirst();
    return comment ?? null;
  }

  async countComments(groupId: Id<'group'>): Promise<number> {
    const { count } = await this.selectFrom('group_activity')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('group_id', '=', groupId)
      .where('body', 'is not', null)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Adds an entry; returns its id. */
  async add(entry: NewActivity, now: Temporal.Instant): Promise<Id<'activity'>> {
    const row = { ...entry, id: newId('activity'), at: now, ...NO_COMMENT };
    await this.#insert(row);
    return row.id;
  }

  async addComment(comment: NewComment, now: Temporal.Instant): Promise<ActivityRow> {
    const row = { ...comment, id: newId('activity'), at: now, facts: { kind: 'comment' } as const, editedAt: null };
    await this.#insert(row);
    return row;
  }

  /** Writes the text unless the comment was changed since it was `before`; false then. */
  async edit(activityId: Id<'activity'>, before: string, body: string, now: Temporal.Instant): Promise<boolean> {
    const edited = await this.updateTable('group_activity')
      .set({ body, edited_at: now })
      .where('id', '=', activityId)
      .where('body', '=', before)
      .execute();
    return rowsChanged(edited) > 0;
  }

  async delete(activityId: Id<'activity'>): Promise<void> {
    await this.deleteFrom('group_activity').where('id', '=', activityId).execute();
  }

  async #insert(row: Row<typeof GroupActivityEntity>): Promise<void> {
    await this.insertInto('group_activity').values(toColumns(GroupActivityEntity, row)).execute();
  }

  #entries(groupId: Id<'group'>) {
    return this.selectFrom('group_activity as a')
      .select(columns(GroupActivityEntity, 'a', SHOWN))
      .where('a.group_id', '=', groupId);
  }
}

const NO_COMMENT = { body: null, userId: null, requestKey: null, editedAt: null };
