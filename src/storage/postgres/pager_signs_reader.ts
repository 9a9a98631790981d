import { type PagerSigns, WATCHED_WORK } from '#core/oncall/pager_health.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/**
 * Services have equal turns, so one with fewer jobs waits for nobody. It takes seconds of sending without a pause, faster
 * than is read, to have more.
 */
const SHARE_JOBS_MAX = 200;

/** As of when all of the named work was done; long ago when some of it never was. */
const doneAt = (names: string): string =>
  `(select coalesce(min(coalesce(l.done_at, 'epoch')), 'epoch') from unnest(${names}::text[]) w (name) left join leases l using (name))`;

/** What is left to do between accepted data and people, of all organizations. */
export class PagerSignsReader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** What belongs to deleted services is nobody's any more. */
  async find(now: Temporal.Instant): Promise<PagerSigns> {
    const signs = await this.#session.sql.row<PagerSigns>(
      `with recursive owners as (
         (select job_name, org_id, service_id from kept_jobs order by job_name, org_id, service_id limit 1)
         union all
         select next.* from owners cross join lateral (
           select job_name, org_id, service_id from kept_jobs
           where (job_name, org_id, service_id) > (owners.job_name, owners.org_id, owners.service_id)
           order by job_name, org_id, service_id limit 1) next
       ), waiting as (
         select first.kept_at, (
           select count(*) from (
             select from kept_jobs k
             where k.job_name = o.job_name and k.org_id = o.org_id and k.service_id = o.service_id
             limit ${SHARE_JOBS_MAX} + 1) own) <= ${SHARE_JOBS_MAX} as is_in_share
         from owners o cross join lateral (
           select kept_at from kept_jobs k
           where k.job_name = o.job_name and k.org_id = o.org_id and k.service_id = o.service_id
           order by kept_id, number limit 1) first
       )
       select
         least((select min(kept_at) from waiting), (select min(oldest_at) from spooled_data)) as "acceptedAt",
         least((select min(kept_at) from waiting where is_in_share), (select min(oldest_at) from spooled_data))
           as "acceptedInShareAt",
         ${doneAt('$2')} as "rulesAsOf",
         ${doneAt('$3')} as "pagerSeenAt",
         (select min(t.due_at) from incident_steps t
            join incidents i on i.id = t.incident_id join services s on s.id = i.service_id and s.deleted_at is null
          where t.state = 'pending' and t.due_at <= $1) as "stepDueAt",
         (select min(n.due_at) from notifications n
          where n.status in ('queued', 'sending') and n.due_at <= $1) as "messageDueAt"`,
      [now.toString(), WATCHED_WORK.rules, WATCHED_WORK.pager],
    );
    if (signs === null) throw new Error('no row came back');
    return signs;
  }
}
