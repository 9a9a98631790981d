import { type Expression, sql } from 'kysely';

import type { Temporal } from '#kernel/time.ts';
import { holdLock, prepared, rowsChanged, rowsOf, type Values } from '#storage/postgres/store.ts';
import type { Session } from '#storage/postgres/database.ts';
import {
  type DurableJobKey,
  INSERT_ONE,
  keyRows,
  type NewJobRow,
  toRow,
  WATCHED_FOR_MS,
  watchOf,
} from '#storage/postgres/new_durable_job.ts';

interface Owner {
  readonly orgId: string;
  readonly serviceId: string;
}

/** A job that is the only copy of its data. */
export interface DurableJob extends Owner {
  readonly jobId: string;
  /** Points, or events. */
  readonly items: number;
  readonly bytes: Uint8Array;
}

/** A job that may be begun, without its bytes. */
export interface ReadyJob extends DurableJobKey, Owner, Pick<DurableJob, 'items'> {
  /** Size in bytes. */
  readonly size: number;
  /** Raised by runs whose end nobody has recorded: their workers have died, or could not reach the database. */
  readonly crashScore: number;
}

/** A job that is this worker's to run until its lease ends. */
export interface ClaimedJob extends DurableJobKey {
  /**
   * Number of the attempt, from 1. Runs whose worker died or that met an unavailable store do not count: they say
   * nothing about the job.
   */
  readonly attempt: number;
  readonly bytes: Buffer;
}

export interface BegunJob extends DurableJobKey {
  /** Crash count of the job if the worker dies during the run; the end of the run takes it back. */
  readonly raised: number;
}

/** The oldest jobs of one service that `listReady` reads, however many it has. */
export const READY_OF_SERVICE_MAX = 50;

/**
 * Longest time for which a process watches without renewing it: a later time was written by a clock that was set back
 * since.
 */
const WATCH_MS_MAX = 5_000;

/** Rounded as the column `ready_at` is: a job that was put back a microsecond ago is ready. */
const NOW = sql<Temporal.Instant>`now()::timestamptz(3)`;

/** Jobs that must survive the loss of the queue, until they have run. Their leases go by the clock of the database. */
export class DurableJobStore {
  readonly #session: Pick<Session, 'db'>;

  constructor(session: Pick<Session, 'db'>) {
    this.#session = session;
  }

  /** Returns for how many milliseconds more some worker looks for jobs of this name by itself; 0 when none does. */
  async insert(jobName: string, jobs: readonly DurableJob[], now: Temporal.Instant): Promise<number> {
    const watch = watchOf(jobName);
    const rows = jobs.map(({ jobId, orgId, serviceId, items, bytes }): NewJobRow => {
      const payload = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return { jobName, createdAt: now, jobId, orgId, serviceId, items, payload };
    });
    const [only, ...others] = rows;
    const watched =
      only !== undefined && others.length === 0
        ? await INSERT_ONE.row(this.#session, { ...only, watch })
        : await this.#session.db
            .with('stored', (db) => db.insertInto('durable_jobs').values(rows.map(toRow)).returning('job_id'))
            .selectFrom('leases')
            .select(WATCHED_FOR_MS)
            .where('name', '=', watch)
            .executeTakeFirst();
    const forMs = watched?.forMs ?? 0;
    return forMs > WATCH_MS_MAX ? 0 : Math.max(0, forMs);
  }

  /** Throws `unavailable` while nothing can be stored. */
  async ping(): Promise<void> {
    await this.#session.db.selectFrom('durable_jobs').select('job_id').limit(1).execute();
  }

  /**
   * Promises that the watcher looks for jobs of this name by itself, and once more after so long; false when another does.
   */
  async watch(jobName: string, watcher: string, forMs: number): Promise<boolean> {
    const held = await this.#session.db
      .insertInto('leases')
      .values({ name: watchOf(jobName), holder: watcher, held_until: inMilliseconds(forMs) })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet(({ ref }) => ({ holder: ref('excluded.holder'), held_until: ref('excluded.held_until') }))
          .where(({ eb, or }) =>
            or([
              eb('leases.holder', '=', watcher),
              eb('leases.held_until', '<=', NOW),
              eb('leases.held_until', '>', inMilliseconds(WATCH_MS_MAX)),
            ]),
          ),
      )
      .execute();
    return rowsChanged(held) > 0;
  }

  /** The watcher looks no longer. */
  async endWatch(jobName: string, watcher: string): Promise<void> {
    await this.#session.db
      .updateTable('leases')
      // The column has milliseconds: the present would be rounded up to a time that is still to come.
      .set({ held_until: inMilliseconds(-1) })
      .where('name', '=', watchOf(jobName))
      .where('holder', '=', watcher)
      .execute();
  }

  /** Whether any job may be begun. */
  async hasReady(jobName: string): Promise<boolean> {
    return (await FIRST_READY.row(this.#session, { jobName })) !== null;
  }

  /** Locks the turns of a job name: until the transaction ends nobody else decides what to begin. */
  async holdTurns(jobName: string): Promise<void> {
    await holdLock(this.#session, `turns ${jobName}`);
  }

  /**
   * Jobs that may be begun: the oldest of each service, then the second of each, the organizations in turn, so that
   * none is left out however much others have.
   */
  async listReady(jobName: string, limit: number): Promise<ReadyJob[]> {
    const ready = this.#owners(jobName)
      .crossJoinLateral(({ selectFrom }) =>
        selectFrom('durable_jobs')
          .select(['job_id', 'items', 'crash_score'])
          .select(({ fn }) => fn<number>('octet_length', ['payload']).as('size'))
          .where('job_name', '=', jobName)
          .whereRef('durable_jobs.org_id', '=', 'owners.org_id')
          .whereRef('durable_jobs.service_id', '=', 'owners.service_id')
          .where('ready_at', '<=', NOW)
          .orderBy('job_id')
          .limit(READY_OF_SERVICE_MAX)
          .as('k'),
      )
      .select(['k.job_id as jobId', 'k.items', 'k.size', 'k.crash_score as crashScore'])
      .select(['owners.org_id as orgId', 'owners.service_id as serviceId'])
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy(['owners.org_id', 'owners.service_id']).orderBy('k.job_id'))
          .as('nth'),
      );
    const turns = this.#session.db
      .selectFrom(ready.as('ready'))
      .select(['ready.jobId', 'ready.items', 'ready.size', 'ready.orgId', 'ready.serviceId', 'ready.crashScore'])
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy('ready.orgId').orderBy('ready.nth').orderBy('ready.jobId'))
          .as('turn'),
      );
    return await this.#session.db
      .selectFrom(turns.as('turns'))
      .select(['turns.jobId', 'turns.items', 'turns.size', 'turns.orgId', 'turns.serviceId', 'turns.crashScore'])
      .orderBy('turns.turn')
      .orderBy('turns.jobId')
      .limit(limit)
      .execute();
  }

  /**
   * Takes jobs for as long as the lease lasts, or the process is alive, and raises the crash score of each. Those that are
   * gone, or taken, are left out.
   */
  async claim(
    keys: readonly DurableJobKey[],
    { leaseMs, raised, holder }: { readonly leaseMs: number; readonly raised: number; readonly holder: string },
  ): Promise<ClaimedJob[]> {
    const claimed = await this.#updating(keys)
      .set(({ eb }) => ({
        ready_at: inMilliseconds(leaseMs),
        crash_score: eb('k.crash_score', '+', raised),
        claimed_by: holder,
      }))
      .where('k.ready_at', '<=', NOW)
      .returning(({ eb, ref }) => [
        'k.job_id as jobId',
        eb('k.attempts', '+', 1).as('attempt'),
        // The driver reads bytes as hexadecimal digits, which take half as much again.
        sql<string>`encode(${ref('k.payload')}, 'base64')`.as('text'),
      ])
      .execute();
    return claimed.map(({ text, ...job }) => ({ ...job, bytes: Buffer.from(text, 'base64') }));
  }

  async extend(keys: readonly DurableJobKey[], leaseMs: number): Promise<void> {
    await this.#updating(keys)
      .set({ ready_at: inMilliseconds(leaseMs) })
      .execute();
  }

  /** Makes a job that failed ready again after so long. */
  async putBack(job: BegunJob, waitMs: number, { isAttempt }: { readonly isAttempt: boolean }): Promise<void> {
    await this.#ending([job])
      .set(({ eb }) => ({
        ready_at: inMilliseconds(waitMs),
        attempts: eb('k.attempts', '+', isAttempt ? 1 : 0),
        quarantined_at: null,
      }))
      .execute();
  }

  /** Makes jobs ready that were begun and are left to others. */
  async giveBack(jobs: readonly BegunJob[]): Promise<void> {
    await this.#ending(jobs)
      .set({ ready_at: inMilliseconds(0) })
      .execute();
  }

  /** Records late that a run of each has ended. Whether they are ready stays as it is: others may have them by now. */
  async recordEnds(jobs: readonly BegunJob[]): Promise<void> {
    await this.#ending(jobs).execute();
  }

  async remove(keys: readonly DurableJobKey[]): Promise<void> {
    await this.#session.db
      .deleteFrom('durable_jobs as k')
      .using(keyRows(keys))
      .whereRef('k.job_id', '=', 'p.job_id')
      .execute();
  }

  /**
   * Returns, by service, since when its oldest data waits to be stored, whether or not a worker has it. Data that is
   * quarantined does not count.
   */
  async listWaiting(jobName: string): Promise<Map<string, Temporal.Instant>> {
    const waiting = await this.#owners(jobName)
      .select(({ selectFrom }) => [
        'owners.service_id as serviceId',
        selectFrom('durable_jobs as k')
          .select('k.created_at')
          .where('k.job_name', '=', jobName)
          .whereRef('k.org_id', '=', 'owners.org_id')
          .whereRef('k.service_id', '=', 'owners.service_id')
          .where('k.quarantined_at', 'is', null)
          .orderBy('k.job_id')
          .limit(1)
          .as('since'),
      ])
      .execute();
    return new Map(waiting.flatMap(({ serviceId, since }) => (since === null ? [] : [[serviceId, since] as const])));
  }

  /** Returns the time of `listWaiting` for one service; null when nothing waits. */
  async findWaiting(jobName: string, orgId: string, serviceId: string): Promise<Temporal.Instant | null> {
    const oldest = await FIND_WAITING.row(this.#session, { jobName, orgId, serviceId });
    return oldest?.created_at ?? null;
  }

  /** Counts jobs that wait or run; counts to `limit`, for counting more takes long. */
  async count(limit: number): Promise<number> {
    const { db } = this.#session;
    const some = db.selectFrom('durable_jobs').select('job_id').limit(limit).as('some');
    const counted = await db
      .selectFrom(some)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return counted.count;
  }

  /** The names of which there are jobs that have been ready for so long. */
  async listOverdue(names: readonly string[], forMs: number): Promise<string[]> {
    const overdue = await this.#session.db
      .selectFrom(rowsOf('names', { name: ['text', names] }))
      .select('names.name')
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('durable_jobs as k')
            .select('k.job_id')
            .whereRef('k.job_name', '=', 'names.name')
            .where('k.ready_at', '<', inMilliseconds(-forMs)),
        ),
      )
      .execute();
    return overdue.map(({ name }) => name);
  }

  /** The services that have jobs, each found by one step in the index however many jobs the ones before have. */
  #owners(jobName: string) {
    return this.#session.db
      .withRecursive('owners', (db) =>
        db
          .selectFrom(
            db
              .selectFrom('durable_jobs')
              .select(['org_id', 'service_id'])
              .where('job_name', '=', jobName)
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
                  .select(['k.org_id', 'k.service_id'])
                  .where('k.job_name', '=', jobName)
                  .where(({ eb, refTuple }) =>
                    eb(refTuple('k.org_id', 'k.service_id'), '>', refTuple('owners.org_id', 'owners.service_id')),
                  )
                  .orderBy('k.org_id')
                  .orderBy('k.service_id')
                  .limit(1)
                  .as('next'),
              )
              .selectAll('next'),
          ),
      )
      .selectFrom('owners');
  }

  /** A run may be ended twice, and may have been begun by a release that did not count it. */
  #ending(jobs: readonly BegunJob[]) {
    const ending = rowsOf('p', {
      job_id: ['text', jobs.map(({ jobId }) => jobId)],
      raised: ['integer', jobs.map(({ raised }) => raised)],
    });
    return this.#session.db
      .updateTable('durable_jobs as k')
      .from(ending)
      .whereRef('k.job_id', '=', 'p.job_id')
      .set(({ eb, fn, ref, val }) => ({
        crash_score: fn<number>('greatest', [eb('k.crash_score', '-', ref('p.raised')), val(0)]),
      }));
  }

  #updating(keys: readonly DurableJobKey[]) {
    return this.#session.db.updateTable('durable_jobs as k').from(keyRows(keys)).whereRef('k.job_id', '=', 'p.job_id');
  }
}

const FIRST_READY = prepared((db, { jobName }: Values<{ jobName: string }>) =>
  db.selectFrom('durable_jobs').select('job_id').where('job_name', '=', jobName).where('ready_at', '<=', NOW).limit(1),
);

interface JobsOfService {
  readonly jobName: string;
  readonly orgId: string;
  readonly serviceId: string;
}

const FIND_WAITING = prepared((db, { jobName, orgId, serviceId }: Values<JobsOfService>) =>
  db
    .selectFrom('durable_jobs')
    .select('created_at')
    .where('job_name', '=', jobName)
    .where('org_id', '=', orgId)
    .where('service_id', '=', serviceId)
    .where('quarantined_at', 'is', null)
    .orderBy('job_id')
    .limit(1),
);

function inMilliseconds(milliseconds: number): Expression<Temporal.Instant> {
  return sql<Temporal.Instant>`now() + ${milliseconds} * interval '1 millisecond'`;
}
