import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** No lease is taken for longer than a minute, and none was given back later than now: the clock was set back since. */
const isAhead = (time: string, now: string): string => `${time} > ${now}::timestamptz + interval '1 minute'`;

/** Whether nobody holds the work, and it was last done before `notSince` or never. */
const isDue = (now: string, notSince: string): string =>
  `(l.held_until <= ${now} or ${isAhead('l.held_until', now)})
   and (l.done_at is null or l.done_at <= ${notSince} or ${isAhead('l.done_at', now)})`;

/** Who does periodic work: of all workers the one that takes the lease, when it is time again. */
export class LeaseStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Of the named works those that nobody holds and that were last done before their `notSince`; a look that locks nothing. */
  async listDue(
    works: readonly { readonly name: string; readonly notSince: Temporal.Instant }[],
    now: Temporal.Instant,
  ): Promise<string[]> {
    const rows = await this.#session.sql.rows<{ name: string }>(
      `select w.name from unnest($1::text[], $2::timestamptz[]) w (name, not_since) left join leases l using (name)
       where l.name is null or (${isDue('$3', 'w.not_since')})`,
      [works.map(({ name }) => name), works.map(({ notSince }) => notSince.toString()), now.toString()],
    );
    return rows.map(({ name }) => name);
  }

  /**
   * Takes the named work if nobody holds it and it was last done before `notSince`. A holder that dies is replaced
   * once `heldUntil` has passed.
   */
  async take(
    name: string,
    holder: string,
    times: {
      readonly now: Temporal.Instant;
      readonly notSince: Temporal.Instant;
      readonly heldUntil: Temporal.Instant;
    },
  ): Promise<boolean> {
    const taken = await this.#session.sql.run(
      `insert into leases as l (name, holder, held_until) values ($1, $2, $4)
       on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
       where ${isDue('$3', '$5')}`,
      [name, holder, times.now.toString(), times.heldUntil.toString(), times.notSince.toString()],
    );
    return taken > 0;
  }

  /** Holds on to the lease for longer, unless somebody else has it by now. */
  async extend(name: string, holder: string, heldUntil: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `update leases set held_until = $3 where name = $1 and holder = $2 and held_until > 'epoch'`,
      [name, holder, heldUntil.toString()],
    );
  }

  /** Gives the lease back, saying that the work was done as of `doneAt`; null when it failed and is due still. */
  async release(name: string, holder: string, doneAt: Temporal.Instant | null): Promise<void> {
    await this.#session.sql.run(
      `update leases set held_until = 'epoch', done_at = coalesce($3, done_at) where name = $1 and holder = $2`,
      [name, holder, doneAt?.toString() ?? null],
    );
  }
}
