import type { Temporal } from '#kernel/time.ts';
import type { Session, Sql } from '#storage/postgres/database.ts';

/** Where a job is. */
export interface DurableJobKey {
  /** Sorts by the time at which it was made, roughly. */
  readonly jobId: string;
  /** Jobs of earlier releases may share an id. */
  readonly number: number;
}

/** Whose data it is; empty for jobs that an earlier release kept. */
interface Owner {
  readonly orgId: string;
  readonly serviceId: string;
}

/** A job whose bytes are the only home of what it is about. */
export interface DurableJob extends Owner {
  readonly jobId: string;
  /** Points, or events. */
  readonly items: number;
  readonly bytes: Uint8Array;
}

/** A job that may be begun, without its bytes. */
export type ReadyJob = DurableJobKey & Owner & Pick<DurableJob, 'items'>;

/** A job that is this worker's to run until its lease ends. */
export interface ClaimedJob extends DurableJobKey {
  /** From 1; a try whose worker died does not count, for it says nothing of the job. */
  readonly attempt: number;
  readonly bytes: Buffer;
}

/** Jobs that must survive the loss of the queue, until they have run. Leases are the database's own matter, and its clock's. */
export class DurableJobStore {
  readonly #sql: Sql;

  constructor({ sql }: Pick<Session, 'sql'>) {
    this.#sql = sql;
  }

  async insert(jobName: string, jobs: readonly DurableJob[], now: Temporal.Instant): Promise<void> {
    const values = jobs.map((_, index) => `($1, $2, 0, ${[3, 4, 5, 6, 7].map((n) => `$${index * 5 + n}`).join(', ')})`);
    await this.#sql.run(
      `insert into kept_jobs (job_name, kept_at, number, kept_id, org_id, service_id, items, payload)
       values ${values.join(', ')}`,
      [jobName, now.toString(), ...jobs.flatMap((job) => [job.jobId, job.orgId, job.serviceId, job.items, job.bytes])],
    );
  }

  /** Until the transaction ends nobody else decides what to begin. */
  async holdTurns(jobName: string): Promise<void> {
    await this.#sql.run("select pg_advisory_xact_lock(hashtextextended('turns ' || $1, 0))", [jobName]);
  }

  /**
   * Jobs that may be begun: the oldest of each service, then the second of each, the organizations in turn, so that
   * none is left out however much others have.
   */
  async listReady(jobName: string, limit: number): Promise<ReadyJob[]> {
    return await this.#sql.rows(
      `with recursive ${OWNERS}, ready as (
         select k.*, row_number() over (partition by k.org_id, k.service_id order by k.kept_id, k.number) as nth
         from owners cross join lateral (
           select kept_id, number, org_id, service_id, items from kept_jobs
           where job_name = $1 and org_id = owners.org_id and service_id = owners.service_id and ready_at <= now()
           order by kept_id, number limit ${OF_SERVICE_MAX}) k
       ), turns as (
         select *, row_number() over (partition by org_id order by nth, kept_id) as turn from ready
       )
       select kept_id as "jobId", number, org_id as "orgId", service_id as "serviceId", items
       from turns order by turn, kept_id, number limit $2`,
      [jobName, limit],
    );
  }

  /** Takes jobs for as long as the lease lasts. Those that are gone, or taken, are left out. */
  async claim(places: readonly DurableJobKey[], leaseMs: number): Promise<ClaimedJob[]> {
    // The driver reads bytes as hexadecimal digits, which take half as much again.
    const rows = await this.#sql.rows<{ jobId: string; number: number; attempt: number; text: string }>(
      `update kept_jobs k set ready_at = now() + $3 * interval '1 millisecond' ${AT_PLACES}
         and k.ready_at <= now()
       returning k.kept_id as "jobId", k.number, k.attempts + 1 as attempt, encode(k.payload, 'base64') as text`,
      [...columnsOf(places), leaseMs],
    );
    return rows.map(({ text, ...job }) => ({ ...job, bytes: Buffer.from(text, 'base64') }));
  }

  async prolong(places: readonly DurableJobKey[], leaseMs: number): Promise<void> {
    await this.#sql.run(`update kept_jobs k set ready_at = now() + $3 * interval '1 millisecond' ${AT_PLACES}`, [
      ...columnsOf(places),
      leaseMs,
    ]);
  }

  /** Has a job that failed wait so long. */
  async putBack(place: DurableJobKey, waitMs: number): Promise<void> {
    await this.#sql.run(
      `update kept_jobs k set ready_at = now() + $3 * interval '1 millisecond', attempts = attempts + 1 ${AT_PLACES}`,
      [...columnsOf([place]), waitMs],
    );
  }

  async remove(places: readonly DurableJobKey[]): Promise<void> {
    await this.#sql.run(
      `delete from kept_jobs k using unnest($1::text[], $2::integer[]) as p(kept_id, number)
       where k.kept_id = p.kept_id and k.number = p.number`,
      columnsOf(places),
    );
  }

  /** Since when the oldest data of each service waits that is not stored yet, whether or not a worker has it. */
  async listWaiting(jobName: string): Promise<Map<string, Temporal.Instant>> {
    const rows = await this.#sql.rows<{ serviceId: string; since: Temporal.Instant }>(
      `with recursive ${OWNERS}
       select service_id as "serviceId", (
         select kept_at from kept_jobs where job_name = $1 and org_id = owners.org_id
           and service_id = owners.service_id order by kept_id limit 1) as since from owners`,
      [jobName],
    );
    return new Map(rows.flatMap(({ serviceId, since }) => (since === null ? [] : [[serviceId, since] as const])));
  }

  /** As `listWaiting`, of one service; null when nothing waits. */
  async findWaiting(jobName: string, orgId: string, serviceId: string): Promise<Temporal.Instant | null> {
    const row = await this.#sql.row<{ since: Temporal.Instant }>(
      `select kept_at as since from kept_jobs where job_name = $1 and org_id = $2 and service_id = $3
       order by kept_id limit 1`,
      [jobName, orgId, serviceId],
    );
    return row?.since ?? null;
  }

  /** The kinds of which there are jobs that might have been begun so long ago. */
  async listOverdue(thanMs: number): Promise<string[]> {
    const rows = await this.#sql.rows<{ jobName: string }>(
      `with recursive names as (
         (select job_name from kept_jobs order by job_name limit 1)
         union all
         select (select job_name from kept_jobs where job_name > names.job_name order by job_name limit 1)
         from names where names.job_name is not null)
       select job_name as "jobName" from names where exists (
         select 1 from kept_jobs k where k.job_name = names.job_name
           and k.ready_at < now() - $1 * interval '1 millisecond')`,
      [thanMs],
    );
    return rows.map(({ jobName }) => jobName);
  }

  /**
   * What they take, in bytes: never less, and exact from `bytesOfInterest` on. Adding up takes long when there are
   * many, and the size of the table, which costs nothing, is no less.
   */
  async bytes(bytesOfInterest: number): Promise<number> {
    const table = await this.#bytes(`select pg_total_relation_size('kept_jobs')`);
    if (table < bytesOfInterest) return table;
    return await this.#bytes('select coalesce(sum(pg_column_size(payload)), 0) from kept_jobs');
  }

  async #bytes(query: string): Promise<number> {
    return (await this.#sql.row<{ bytes: number }>(`select (${query})::float8 as bytes`))?.bytes ?? 0;
  }
}

/** A service is asked for no more at once, whatever it has. */
const OF_SERVICE_MAX = 50;

/** The services that have jobs, each found by one step in the index however many jobs the ones before have. */
const OWNERS = `owners as (
    (select org_id, service_id from kept_jobs where job_name = $1 order by org_id, service_id limit 1)
    union all
    select next.org_id, next.service_id from owners cross join lateral (
      select org_id, service_id from kept_jobs
      where job_name = $1 and (org_id, service_id) > (owners.org_id, owners.service_id)
      order by org_id, service_id limit 1) next)`;

const AT_PLACES = `from unnest($1::text[], $2::integer[]) as p(kept_id, number)
  where k.kept_id = p.kept_id and k.number = p.number`;

function columnsOf(places: readonly DurableJobKey[]): [string[], number[]] {
  return [places.map(({ jobId }) => jobId), places.map(({ number }) => number)];
}
