import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** How often something was tried in the window that runs. */
export interface Tries {
  readonly tries: number;
  /** When the window began. */
  readonly since: Temporal.Instant;
}

/** Counts tries, for all processes together: each in a window of its own that begins with its first try. */
export class SignInBrakeStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Counts one try, and returns how many there are in the window; tries at the same time are counted one by one. */
  async count(key: string, windowSince: Temporal.Instant, now: Temporal.Instant): Promise<Tries> {
    const counted = await this.#session.sql.row<Tries>(
      `insert into sign_in_brakes as b (key, tries, since) values ($1, 1, $3)
       on conflict (key) do update set
         tries = case when b.since > $2 then least(b.tries + 1, 1000000) else 1 end,
         since = case when b.since > $2 then b.since else excluded.since end
       returning tries, since`,
      [key, windowSince.toString(), now.toString()],
    );
    return counted ?? { tries: 1, since: now };
  }

  /** When the window of the key began, if it began after `windowSince`; counts nothing. */
  async findSince(key: string, windowSince: Temporal.Instant): Promise<Temporal.Instant | null> {
    const row = await this.#session.sql.row<Pick<Tries, 'since'>>(
      'select since from sign_in_brakes where key = $1 and since > $2',
      [key, windowSince.toString()],
    );
    return row?.since ?? null;
  }

  /** Takes back one try that turned out well. */
  async takeBack(key: string): Promise<void> {
    await this.#session.sql.run('update sign_in_brakes set tries = greatest(tries - 1, 0) where key = $1', [key]);
  }

  async removeOld(before: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('delete from sign_in_brakes where since <= $1', [before.toString()]);
  }
}
