import { type PagerHeartbeat, WATCHED_WORK } from '#modules/notifications/decide/pager_health.ts';
import { Temporal } from '#kernel/time.ts';
import { PostgresStore, rowsOf } from '#storage/postgres/store.ts';

/**
 * Services have equal turns, so one with fewer jobs waits for nobody. It takes seconds of sending without a pause, faster
 * than is read, to have more.
 */
const SHARE_JOBS_MAX = 200;

const NEVER = Temporal.Instant.fromEpochMilliseconds(0);

/** Reads what is left to do between accepted data and people, of all organizations. */
export class PagerSignsReader extends PostgresStore {
  /** Steps of deleted services do not count. */
  async find(now: Temporal.Instant): Promise<PagerHeartbeat> {
    const { db } = this;
    const spooled = db.selectFrom('spooled_data').select(({ fn }) => fn.min('oldest_at').as('at'));
    const waiting = this.#waiting();
    const steps = db
      .selectFrom('incident_steps as t')
      .innerJoin('incidents as i', 'i.id', 't.incident_id')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'i.service_id').on('s.deleted_at', 'is', null))
      .select(({ fn }) => fn.min('t.due_at').as('at'))
      .where('t.state', '=', 'pending')
      .where('t.due_at', '<=', now);
    const messages = db
      .selectFrom('notifications')
      .select(({ fn }) => fn.min('due_at').as('at'))
      .where('status', 'in', ['queued', 'sending'])
      .where('due_at', '<=', now);
    return await db
      .with('waiting', () => waiting)
      .selectNoFrom(({ selectFrom, fn }) => {
        const oldest = selectFrom('waiting').select(({ fn }) => fn.min('created_at').as('at'));
        const inShare = oldest.where('is_in_share', '=', true);
        return [
          fn<Temporal.Instant | null>('least', [oldest, spooled]).as('acceptedAt'),
          fn<Temporal.Instant | null>('least', [inShare, spooled]).as('acceptedInShareAt'),
          this.#doneAt(WATCHED_WORK.rules).$asScalar().$notNull().as('rulesAsOf'),
          this.#aliveUntil('worker', now).$asScalar().as('workerAliveUntil'),
          this.#doneAt(WATCHED_WORK.pager).$asScalar().$notNull().as('pagerSeenAt'),
          steps.$asScalar().as('stepDueAt'),
          messages.$asScalar().as('messageDueAt'),
        ];
      })
      .executeTakeFirstOrThrow();
  }

  /**
   * Selects until when any process of a role last said that it is alive; a later time was set before the clock was set
   * back.
   */
  #aliveUntil(role: string, now: Temporal.Instant) {
    return this.selectFrom('workers')
      .select(({ fn }) => fn.max('alive_until').as('at'))
      .where('work', '=', role)
      .where('alive_until', '<=', now.add({ minutes: 1 }));
  }

  /** Selects as of when all of the named work was done; long ago when some of it never was. */
  #doneAt(names: readonly string[]) {
    return this.selectFrom(rowsOf('w', { name: ['text', names] }))
      .leftJoin('leases as l', 'l.name', 'w.name')
      .select(({ fn, val }) => fn.min(fn.coalesce('l.done_at', val(NEVER))).as('at'));
  }

  /**
   * Selects since when the first job of each kind and service waits, and whether the service has few enough to be in
   * its share.
   */
  #waiting() {
    return this.db
      .withRecursive('owners', (db) =>
        db
          .selectFrom(
            db
              .selectFrom('durable_jobs')
              .select(['job_name', 'org_id', 'service_id'])
              .orderBy('job_name')
              .orderBy('org_id')
              .orderBy('service_id')
              .limit(1)
              .as('first'),
          )
          .selectAll()
          .unionAll(
            db
              .selectFrom('owners')
              .crossJoinLateral(({ selectFrom }) =>
                selectFrom('durable_jobs as k')
                  .select(['k.job_name', 'k.org_id', 'k.service_id'])
                  .where(({ eb, refTuple }) =>
                    eb(
                      refTuple('k.job_name', 'k.org_id', 'k.service_id'),
                      '>',
                      refTuple('owners.job_name', 'owners.org_id', 'owners.service_id'),
                    ),
                  )
                  .orderBy('k.job_name')
                  .orderBy('k.org_id')
                  .orderBy('k.service_id')
                  .limit(1)
                  .as('next'),
              )
              .selectAll('next'),
          ),
      )
      .selectFrom('owners as o')
      .crossJoinLateral(({ selectFrom }) =>
        selectFrom('durable_jobs as k')
          .select('k.created_at')
          .whereRef('k.job_name', '=', 'o.job_name')
          .whereRef('k.org_id', '=', 'o.org_id')
          .whereRef('k.service_id', '=', 'o.service_id')
          .where('k.quarantined_at', 'is', null)
          .orderBy('k.job_id')
          .limit(1)
          .as('first'),
      )
      .select(({ eb, fn, selectFrom }) => {
        const waitingJobs = selectFrom('durable_jobs as k')
          .select('k.job_id')
          .whereRef('k.job_name', '=', 'o.job_name')
          .whereRef('k.org_id', '=', 'o.org_id')
          .whereRef('k.service_id', '=', 'o.service_id')
          .limit(SHARE_JOBS_MAX + 1);
        const count = selectFrom(waitingJobs.as('own')).select(fn.countAll<number>().as('count'));
        return ['first.created_at', eb(count, '<=', SHARE_JOBS_MAX).as('is_in_share')];
      });
  }
}
