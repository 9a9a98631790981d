import type { Temporal } from '#kernel/time.ts';
import { PostgresStore, prepared, type Row, type Values } from '#storage/postgres/store.ts';
import type { SignInLimitEntity } from '#storage/postgres/entities/sign_in.ts';

/** Number of tries since the window began. */
export type Tries = Pick<Row<typeof SignInLimitEntity>, 'tries' | 'since'>;

const TRIES_MAX = 1_000_000;

interface Window {
  readonly key: string;
  readonly windowSince: Temporal.Instant;
}

const FIND_SINCE = prepared((db, { key, windowSince }: Values<Window>) =>
  db.selectFrom('sign_in_limits').select('since').where('key', '=', key).where('since', '>', windowSince),
);

/** Counts tries, for all processes together: each in a window of its own that begins with its first try. */
export class SignInLimitStore extends PostgresStore {
  /** Counts one try, and returns how many there are in the window; tries at the same time are counted one by one. */
  async count(key: string, windowSince: Temporal.Instant, now: Temporal.Instant): Promise<Tries> {
    return await this.insertInto('sign_in_limits')
      .values({ key, tries: 1, since: now })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet(({ eb, fn, ref, val, case: when }) => ({
          tries: when()
            .when('sign_in_limits.since', '>', windowSince)
            .then(fn<number>('least', [eb('sign_in_limits.tries', '+', 1), val(TRIES_MAX)]))
            .else(1)
            .end(),
          since: when()
            .when('sign_in_limits.since', '>', windowSince)
            .then(ref('sign_in_limits.since'))
            .else(ref('excluded.since'))
            .end(),
        })),
      )
      .returning(['sign_in_limits.tries', 'sign_in_limits.since'])
      .executeTakeFirstOrThrow();
  }

  /** Returns when the window of the key began, if it began after `windowSince`; counts nothing. */
  async findSince(key: string, windowSince: Temporal.Instant): Promise<Temporal.Instant | null> {
    const row = await FIND_SINCE.row(this.session, { key, windowSince });
    return row?.since ?? null;
  }

  /** Returns the number of tries in the window of the key, if it began after `windowSince`; counts nothing. */
  async findTries(key: string, windowSince: Temporal.Instant): Promise<number> {
    const row = await this.selectFrom('sign_in_limits')
      .select('tries')
      .where('key', '=', key)
      .where('since', '>', windowSince)
      .executeTakeFirst();
    return row?.tries ?? 0;
  }

  async remove(key: string): Promise<void> {
    await this.deleteFrom('sign_in_limits').where('key', '=', key).execute();
  }

  /** Takes back one try, which succeeded. */
  async undoAttempt(key: string): Promise<void> {
    await this.updateTable('sign_in_limits')
      .set(({ eb }) => ({ tries: eb('tries', '-', 1) }))
      .where('key', '=', key)
      .where('tries', '>', 0)
      .execute();
  }

  async removeOld(before: Temporal.Instant): Promise<void> {
    await this.deleteFrom('sign_in_limits').where('since', '<=', before).execute();
  }
}
