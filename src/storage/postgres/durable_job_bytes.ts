import { sql } from 'kysely';

import type { Session } from '#storage/postgres/database.ts';

/**
 * The size of all durable jobs in bytes: never too low, and exact from `bytesOfInterest` on. Adding up takes long when there
 * are many, and the size of the table, which costs nothing, is no lower.
 */
export async function durableJobBytes({ db }: Pick<Session, 'db'>, bytesOfInterest: number): Promise<number> {
  const table = await db
    .selectNoFrom(({ fn }) => fn<number>('pg_total_relation_size', [sql.lit('durable_jobs')]).as('bytes'))
    .executeTakeFirstOrThrow();
  if (table.bytes < bytesOfInterest) return table.bytes;
  const jobs = await db
    .selectFrom('durable_jobs')
    .select(({ fn, cast }) =>
      cast<number | null>(fn.sum(fn<number>('pg_column_size', ['payload'])), 'bigint').as('bytes'),
    )
    .executeTakeFirstOrThrow();
  return jobs.bytes ?? 0;
}
