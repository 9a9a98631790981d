import { sql } from 'kysely';

import { Temporal } from '#kernel/time.ts';
import { anyOf, PostgresStore, prepared, type Row, rowsOf, type Values } from '#storage/postgres/store.ts';
import type { WorkerEntity } from '#storage/postgres/entities/jobs.ts';

/** Longest time ahead for which a process can be alive: a later time was written by a clock that was set back since. */
const AHEAD_MAX = Temporal.Duration.from({ minutes: 1 });
/** Time for which the row of a process that died stays, for those who look. */
const REMOVED_AFTER = Temporal.Duration.from({ minutes: 10 });
const EPOCH = Temporal.Instant.fromEpochMilliseconds(0);

/** Another process that is alive and shares the work. */
type OtherMember = Pick<Row<typeof WorkerEntity>, 'work' | 'member' | 'doneAt'>;

interface Renewal {
  readonly works: readonly string[];
  readonly left: readonly string[];
  readonly member: string;
  readonly now: Temporal.Instant;
  readonly aliveUntil: Temporal.Instant;
  readonly aliveMax: Temporal.Instant;
  readonly goneSince: Temporal.Instant;
}

const RENEW = prepared((db, { works, left, member, now, aliveUntil, aliveMax, goneSince }: Values<Renewal>) =>
  db
    .with('renewed', (cte) =>
      cte
        .insertInto('workers')
        .columns(['work', 'member', 'alive_until', 'joined_at'])
        .expression(({ selectFrom }) =>
          selectFrom(rowsOf('w', { work: ['text', works] })).select([
            'w.work',
            sql<string>`${member}::text`.as('member'),
            sql<Temporal.Instant>`${aliveUntil}::timestamptz`.as('alive_until'),
            sql<Temporal.Instant>`${now}::timestamptz`.as('joined_at'),
          ]),
        )
        .onConflict((conflict) =>
          conflict.columns(['work', 'member']).doUpdateSet((eb) => {
            // Others have taken over the share of one who was silent for too long.
            const hasLapsed = eb('workers.alive_until', '<=', now);
            return {
              alive_until: eb.ref('excluded.alive_until'),
              joined_at: eb
                .case()
                .when(hasLapsed)
                .then(eb.ref('excluded.joined_at'))
                .else(eb.ref('workers.joined_at'))
                .end(),
              done_at: eb.case().when(hasLapsed).then(null).else(eb.ref('workers.done_at')).end(),
            };
          }),
        ),
    )
    .with('removed', (cte) =>
      cte
        .deleteFrom('workers')
        .where(({ eb, and, or }) =>
          or([
            and([eb('member', '=', member), eb('work', '=', anyOf(left))]),
            and([eb('member', '<>', member), eb('alive_until', '<=', goneSince)]),
          ]),
        ),
    )
    .selectFrom('workers')
    .select(['work', 'member', 'done_at as doneAt'])
    .where(({ eb, or }) => or([eb('work', '=', anyOf(works)), eb('work', '=', anyOf(left))]))
    .where('member', '<>', member)
    .where('alive_until', '>', now)
    .where('alive_until', '<=', aliveMax)
    .orderBy('work')
    .orderBy('member'),
);

/** Stores which processes are alive and share which work. */
export class WorkerStore extends PostgresStore {
  /**
   * Records that the member is alive, takes part in `works` and has left `left`. Returns the other living members of all
   * of these.
   */
  async renew(
    { works, left }: { readonly works: readonly string[]; readonly left: readonly string[] },
    member: string,
    { now, aliveUntil }: { readonly now: Temporal.Instant; readonly aliveUntil: Temporal.Instant },
  ): Promise<OtherMember[]> {
    return await RENEW.rows(this.session, {
      works,
      left,
      member,
      now,
      aliveUntil,
      aliveMax: now.add(AHEAD_MAX),
      goneSince: now.subtract(REMOVED_AFTER),
    });
  }

  /**
   * Says that the member has done its share as of `doneAt`. The lease of the work then tells as of when all of it was
   * done, as far as all who are alive have done theirs.
   */
  async setDone(work: string, member: string, doneAt: Temporal.Instant, now: Temporal.Instant): Promise<void> {
    await this.db
      .with('own', (db) =>
        db
          .updateTable('workers')
          .set({ done_at: doneAt })
          .where('work', '=', work)
          .where('member', '=', member)
          .returning('done_at'),
      )
      .insertInto('leases')
      .columns(['name', 'holder', 'held_until', 'done_at'])
      .expression(({ selectFrom, fn, val }) => {
        const ofOthers = selectFrom('workers')
          .select(({ fn: of }) => of.min(of.coalesce('done_at', 'joined_at')).as('at'))
          .where('work', '=', work)
          .where('member', '<>', member)
          .where('alive_until', '>', now)
          .where('alive_until', '<=', now.add(AHEAD_MAX));
        return selectFrom(rowsOf('w', { work: ['text', [work]] })).select([
          'w.work as name',
          val(member).as('holder'),
          sql<Temporal.Instant>`${EPOCH}::timestamptz`.as('held_until'),
          fn<Temporal.Instant>('least', [sql`${doneAt}::timestamptz`, ofOthers]).as('done_at'),
        ]);
      })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet((eb) => ({ holder: eb.ref('excluded.holder'), done_at: eb.ref('excluded.done_at') })),
      )
      .execute();
  }

  /**
   * Frees what members of a role hold that have been silent for too long: durable jobs, and leases of periodic work. All
   * of it runs safely twice, should one of them be alive after all.
   */
  async freeLapsed(role: string, now: Temporal.Instant): Promise<void> {
    await this.db
      .with('lapsed', (db) =>
        db.selectFrom('workers').select('member').where('work', '=', role).where('alive_until', '<=', now),
      )
      .with('freed', (db) =>
        db
          .updateTable('leases')
          .from('lapsed')
          .set({ held_until: EPOCH })
          .whereRef('leases.holder', '=', 'lapsed.member')
          .where('leases.held_until', '>', now),
      )
      .updateTable('durable_jobs')
      .from('lapsed')
      .set({ ready_at: sql<Temporal.Instant>`now()` })
      .whereRef('durable_jobs.claimed_by', '=', 'lapsed.member')
      .where('durable_jobs.ready_at', '>', sql<Temporal.Instant>`now()`)
      .execute();
  }

  /** The member takes part no longer; the others take over at once. */
  async leave(works: readonly string[], member: string): Promise<void> {
    await this.deleteFrom('workers').where('member', '=', member).where('work', '=', anyOf(works)).execute();
  }
}
