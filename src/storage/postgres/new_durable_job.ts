import { sql } from 'kysely';

import { prepared, type Row, rowsOf, toColumns, type Values } from '#storage/postgres/store.ts';
import { DurableJobEntity } from '#storage/postgres/entities/jobs.ts';

/** Stored columns of a job that nobody has begun. */
export type NewJobRow = Pick<Row<typeof DurableJobEntity>, (typeof NEW_COLUMNS)[number]>;

const NEW_COLUMNS = ['jobName', 'createdAt', 'jobId', 'orgId', 'serviceId', 'items', 'payload'] as const;

export const toRow = (row: NewJobRow) => toColumns(DurableJobEntity, row);

/** Time for which some worker still looks for jobs by itself, in milliseconds. */
export const WATCHED_FOR_MS = sql<number>`(extract(epoch from held_until - now()) * 1000)::float8`.as('forMs');

/** Statement that inserts one job: data that is accepted together is mostly of one service. */
export const INSERT_ONE = prepared((db, job: Values<NewJobRow & { watch: string }>) =>
  db
    .with('stored', (insert) =>
      insert
        .insertInto('durable_jobs')
        .values({
          job_name: job.jobName,
          created_at: job.createdAt,
          job_id: job.jobId,
          org_id: job.orgId,
          service_id: job.serviceId,
          items: job.items,
          payload: job.payload,
        })
        .returning('job_id'),
    )
    .selectFrom('leases')
    .select(WATCHED_FOR_MS)
    .where('name', '=', job.watch),
);

/** The name of the lease of who watches. */
export function watchOf(jobName: string): string {
  return `watch ${jobName}`;
}

/** Identifies a stored job. */
export interface DurableJobKey {
  /** Sorts by the time at which it was made, roughly. */
  readonly jobId: string;
}

/** Returns the keys as rows named `p`. */
export function keyRows(keys: readonly DurableJobKey[]) {
  return rowsOf('p', { job_id: ['text', keys.map(({ jobId }) => jobId)] });
}
