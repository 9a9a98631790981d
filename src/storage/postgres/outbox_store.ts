import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, insertSlices, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { OutboxEntity } from '#storage/postgres/entities/jobs.ts';

/** A job that must be enqueued because a change was committed. */
export type OutboxEntry = Row<typeof OutboxEntity>;

/** Jobs written in the transaction of the change they follow, published after its commit. */
export class OutboxStore extends PostgresStore {
  async insert(
    entries: readonly Pick<OutboxEntry, 'jobName' | 'payload' | 'runAt'>[],
    now: Temporal.Instant,
  ): Promise<number[]> {
    const rows = entries.map(({ jobName, payload, runAt }) =>
      toColumns(OutboxEntity, { jobName, payload, runAt, createdAt: now }),
    );
    const ids: number[] = [];
    for (const slice of insertSlices(rows)) {
      const inserted = await this.insertInto('outbox').values(slice).returning('id').execute();
      for (const { id } of inserted) ids.push(id);
    }
    return ids;
  }

  async hasAny(): Promise<boolean> {
    return (await this.selectFrom('outbox').select('id').limit(1).executeTakeFirst()) !== undefined;
  }

  /**
   * Locks up to `limit` entries that nobody else is publishing, without the named ones. What is due first comes first,
   * so that a message does not wait behind thousands of delayed jobs.
   */
  async claim(limit: number, except: readonly number[]): Promise<OutboxEntry[]> {
    return await this.selectFrom('outbox as o')
      .select(columns(OutboxEntity, 'o'))
      .where(({ eb, not }) => not(eb('o.id', '=', anyOf(except))))
      .orderBy(({ fn }) => fn.coalesce('o.run_at', 'o.created_at'))
      .orderBy('o.id')
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute();
  }

  async remove(ids: readonly number[]): Promise<void> {
    await this.deleteFrom('outbox').where('id', '=', anyOf(ids)).execute();
  }
}
