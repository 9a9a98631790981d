import type { Sql } from '#storage/postgres/database.ts';

/** Where a job's bytes are: rows of one `keptId` wait for the same wake-up. */
export interface KeptPlace {
  /** Sorts by the time at which it was made, roughly. */
  readonly keptId: string;
  readonly number: number;
}

/** A job whose bytes are the only home of what it is about. */
export interface KeptJob extends KeptPlace {
  readonly jobName: string;
  readonly bytes: Uint8Array;
}

/** Jobs that must survive the loss of the queue, until they have run. */
export class KeptJobStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async insert({ keptId, number, jobName, bytes }: KeptJob): Promise<void> {
    await this.#sql.run('insert into kept_jobs (kept_id, number, job_name, payload) values ($1, $2, $3, $4)', [
      keptId,
      number,
      jobName,
      bytes,
    ]);
  }

  /** In the order of their numbers; none when they have run. */
  async find(keptId: string): Promise<(KeptPlace & { bytes: Buffer })[]> {
    // The driver reads bytes as hexadecimal digits, which take half as much again.
    const rows = await this.#sql.rows<{ number: number; text: string }>(
      `select number, encode(payload, 'base64') as text from kept_jobs where kept_id = $1 order by number`,
      [keptId],
    );
    return rows.map(({ number, text }) => ({ keptId, number, bytes: Buffer.from(text, 'base64') }));
  }

  async remove(places: readonly KeptPlace[]): Promise<void> {
    await this.#sql.run(
      `delete from kept_jobs using unnest($1::text[], $2::integer[]) as run(kept_id, number)
       where kept_jobs.kept_id = run.kept_id and kept_jobs.number = run.number`,
      [places.map(({ keptId }) => keptId), places.map(({ number }) => number)],
    );
  }

  /** What was kept before, after that one, in the order of the ids. */
  async listOlder(thanMs: number, afterId: string, limit: number): Promise<Pick<KeptJob, 'keptId' | 'jobName'>[]> {
    return await this.#sql.rows(
      `select distinct kept_id as "keptId", job_name as "jobName" from kept_jobs
       where kept_id > $2 and kept_at < now() - $1 * interval '1 millisecond' order by kept_id limit $3`,
      [thanMs, afterId, limit],
    );
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
