import type { Id } from '#kernel/ids.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Series of a service on a day, in the bytes of `packKeys`. `day` is an ISO date. */
export interface SeriesOfDay {
  readonly serviceId: Id<'service'>;
  readonly day: string;
  readonly keys: Buffer;
}

/** Which series each service had on each day, gathered by every API process. */
export class SeriesDayStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** All that any process has added for this day of the service. */
  async list(serviceId: Id<'service'>, day: string): Promise<Buffer[]> {
    const rows = await this.#session.sql.rows<{ keys: Buffer }>(
      'select keys from series_days where day = $1 and service_id = $2',
      [day, serviceId],
    );
    return rows.map(({ keys }) => keys);
  }

  /** A mark for `listAddedAfter`; 0 before there is anything. */
  async latestMark(): Promise<number> {
    const row = await this.#session.sql.row<{ mark: number | null }>('select max(id)::float8 as mark from series_days');
    return row?.mark ?? 0;
  }

  /**
   * What was added after the mark for these services. A transaction may commit behind one with a later mark: who asks
   * again from the mark before misses nothing.
   */
  async listAddedAfter(mark: number, serviceIds: readonly Id<'service'>[]): Promise<SeriesOfDay[]> {
    return await this.#session.sql.rows<SeriesOfDay>(
      `select service_id as "serviceId", day::text as day, keys from series_days
       where id > $1 and service_id = any($2::text[])`,
      [mark, serviceIds],
    );
  }

  async add(series: readonly SeriesOfDay[]): Promise<void> {
    await this.#session.sql.run(
      `insert into series_days (service_id, day, keys)
       select * from unnest($1::text[], $2::date[], $3::bytea[])`,
      [series.map(({ serviceId }) => serviceId), series.map(({ day }) => day), series.map(({ keys }) => keys)],
    );
  }

  /** Forgets the days before this one. */
  async removeBefore(day: string): Promise<void> {
    await this.#session.sql.run('delete from series_days where day < $1', [day]);
  }
}
