import { type Expression, expressionBuilder, type SqlBool } from 'kysely';

import { Temporal } from '#kernel/time.ts';
import { PostgresStore, prepared, rowsOf, type Values } from '#storage/postgres/store.ts';
import type { Tables } from '#storage/postgres/tables.ts';

/** Stores leases of periodic work: one worker of all takes the lease when the work is due again. */
export class LeaseStore extends PostgresStore {
  /** Lists the named works that nobody holds and that were last done before their `notSince`; locks nothing. */
  async listDue(
    works: readonly { readonly name: string; readonly notSince: Temporal.Instant }[],
    now: Temporal.Instant,
  ): Promise<string[]> {
    const due = await LIST_DUE.rows(this.session, {
      names: works.map(({ name }) => name),
      notSinces: works.map(({ notSince }) => notSince),
      ...presentOf(now),
    });
    return due.map(({ name }) => name);
  }

  /** Returns when the named work was last done; null for never. */
  async findDoneAt(name: string): Promise<Temporal.Instant | null> {
    const lease = await this.selectFrom('leases')
      .select('done_at as doneAt')
      .where('name', '=', name)
      .executeTakeFirst();
    return lease?.doneAt ?? null;
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
    const { heldUntil, notSince, now } = times;
    const taken = await TAKE.row(this.session, { name, holder, heldUntil, notSince, ...presentOf(now) });
    return taken !== null;
  }

  /** Extends the lease, unless somebody else has it by now. */
  async extend(name: string, holder: string, heldUntil: Temporal.Instant): Promise<void> {
    await this.updateTable('leases')
      .set({ held_until: heldUntil })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .where('held_until', '>', EPOCH)
      .execute();
  }

  /** Gives the lease back, saying that the work was done as of `doneAt`; null when it failed and is still due. */
  async release(name: string, holder: string, doneAt: Temporal.Instant | null): Promise<void> {
    await this.updateTable('leases')
      .set({ held_until: EPOCH, ...(doneAt === null ? {} : { done_at: doneAt }) })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .execute();
  }

  /** Gives back the lease of work that is not done again and again; nothing remains of it. */
  async drop(name: string, holder: string): Promise<void> {
    await this.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
  }
}

const EPOCH = Temporal.Instant.fromEpochMilliseconds(0);

/** The present, and the latest time that a clock which was not set back since can have written. */
interface Present {
  readonly now: Temporal.Instant;
  readonly latest: Temporal.Instant;
}

function presentOf(now: Temporal.Instant): Present {
  return { now, latest: now.add({ minutes: 1 }) };
}

/**
 * Whether nobody holds the work, and it was last done before `notSince` or never. No lease is taken for longer than a
 * minute, and none was given back later than now: a time further ahead was set by a clock that has been set back since.
 */
function isDue(
  heldUntil: Expression<Temporal.Instant>,
  doneAt: Expression<Temporal.Instant | null>,
  notSince: Expression<Temporal.Instant>,
  { now, latest }: Values<Present>,
): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  return eb.and([
    eb.or([eb(heldUntil, '<=', now), eb(heldUntil, '>', latest)]),
    eb.or([eb(doneAt, 'is', null), eb(doneAt, '<=', notSince), eb(doneAt, '>', latest)]),
  ]);
}

interface AskedWorks extends Present {
  readonly names: readonly string[];
  readonly notSinces: readonly Temporal.Instant[];
}

const LIST_DUE = prepared((db, { names, notSinces, now, latest }: Values<AskedWorks>) =>
  db
    .selectFrom(rowsOf('w', { name: ['text', names], not_since: ['timestamptz', notSinces] }))
    .select('w.name')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('leases as l')
            .select('l.name')
            .whereRef('l.name', '=', 'w.name')
            .where(({ ref }) => not(isDue(ref('l.held_until'), ref('l.done_at'), ref('w.not_since'), { now, latest }))),
        ),
      ),
    ),
);

interface LeaseToTake extends Present {
  readonly name: string;
  readonly holder: string;
  readonly heldUntil: Temporal.Instant;
  readonly notSince: Temporal.Instant;
}

const TAKE = prepared((db, { name, holder, heldUntil, notSince, now, latest }: Values<LeaseToTake>) =>
  db
    .insertInto('leases')
    .values({ name, holder, held_until: heldUntil })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((eb) => ({ holder: eb.ref('excluded.holder'), held_until: eb.ref('excluded.held_until') }))
        .where(({ ref }) => isDue(ref('leases.held_until'), ref('leases.done_at'), notSince, { now, latest })),
    )
    .returning('name'),
);
