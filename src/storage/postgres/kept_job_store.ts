import type { Sql } from '#storage/postgres/database.ts';

/** A job whose payload is the only home of what it is about. */
export interface KeptJob {
  /** Sorts by the time at which it was kept, roughly. */
  readonly id: string;
  readonly jobName: string;
  readonly payload: unknown;
}

/** Jobs that must survive the loss of the queue, until they have run. */
export class KeptJobStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async insert({ id, jobName, payload }: KeptJob): Promise<void> {
    const values = [id, jobName, JSON.stringify(payload)];
    await this.#sql.run('insert into kept_jobs (id, job_name, payload) values ($1, $2, $3)', values);
  }

  /** Null when it has run. */
  async findPayload(id: string): Promise<unknown> {
    const row = await this.#sql.row<{ payload: unknown }>('select payload from kept_jobs where id = $1', [id]);
    return row?.payload ?? null;
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#sql.run('delete from kept_jobs where id = any($1)', [ids]);
  }

  /** Those that were kept before, after that one, in the order of their ids. */
  async listOlder(thanMs: number, afterId: string, limit: number): Promise<Omit<KeptJob, 'payload'>[]> {
    return await this.#sql.rows(
      `select id, job_name as "jobName" from kept_jobs
       where id > $2 and kept_at < now() - $1 * interval '1 millisecond' order by id limit $3`,
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
