import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { SavedSearchEntity } from '#storage/postgres/entities/exceptions.ts';

/** Limit on the searches of a person, and on the shared ones that a list shows. */
export const SAVED_SEARCHES_MAX = 100;
const SHARED_MAX = 500;

const SHOWN = ['id', 'userId', 'name', 'search', 'isShared'] as const;

export type SavedSearchRow = Pick<Row<typeof SavedSearchEntity>, (typeof SHOWN)[number]>;

type Saved = Pick<Row<typeof SavedSearchEntity>, 'orgId' | 'userId' | 'name' | 'search' | 'isShared'>;

export class SavedSearchStore extends PostgresStore {
  /** Lists the person's own searches and those that others share, by name. */
  async list(orgId: Id<'org'>, userId: Id<'user'>): Promise<SavedSearchRow[]> {
    return await this.#searches(orgId)
      .where(({ eb, or }) => or([eb('x.user_id', '=', userId), eb('x.is_shared', '=', true)]))
      .orderBy('x.name')
      .orderBy('x.id')
      .limit(SAVED_SEARCHES_MAX + SHARED_MAX)
      .execute();
  }

  /** Returns a search that the person may change: their own, or one of somebody who has left. Throws `not_found`. */
  async getOwn(orgId: Id<'org'>, userId: Id<'user'>, searchId: string): Promise<SavedSearchRow> {
    return await this.#searches(orgId)
      .where('x.id', '=', asId('search', searchId))
      .where(({ eb, or }) => or([eb('x.user_id', '=', userId), eb('x.user_id', 'is', null)]))
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('searchId', 'saved search'));
  }

  async countOf(orgId: Id<'org'>, userId: Id<'user'>): Promise<number> {
    const { count } = await this.selectFrom('saved_searches')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Writes a search; without an id, a new one. */
  async save({ id, ...saved }: Saved & { readonly id: Id<'search'> | null }, now: Temporal.Instant) {
    const row = { ...saved, id: id ?? newId('search'), createdAt: now, updatedAt: now };
    const { createdAt: _, orgId: __, id: ___, ...changes } = row;
    await this.insertInto('saved_searches')
      .values(toColumns(SavedSearchEntity, row))
      .onConflict((conflict) => conflict.column('id').doUpdateSet(toColumns(SavedSearchEntity, changes)))
      .execute();
    return row;
  }

  async delete(searchId: Id<'search'>): Promise<void> {
    await this.deleteFrom('saved_searches').where('id', '=', searchId).execute();
  }

  #searches(orgId: Id<'org'>) {
    return this.selectFrom('saved_searches as x')
      .select(columns(SavedSearchEntity, 'x', SHOWN))
      .where('x.org_id', '=', orgId);
  }
}
