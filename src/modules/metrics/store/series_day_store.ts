import type { Id } from '#kernel/ids.ts';
import { anyOf, type Row, rowsOf } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import type { SeriesDayEntity } from '#storage/postgres/entities/services.ts';

/** Series of a service on a day, in the bytes of `packKeys`. `day` is an ISO date. */
export type SeriesOfDay = Omit<Row<typeof SeriesDayEntity>, 'id'>;

/** Stores which series each service had on each day, gathered by every API process. */
export class SeriesDayStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** All that any process has added for this day of the service. */
  async list(serviceId: Id<'service'>, day: string): Promise<Buffer[]> {
    const rows = await this.#session.db
      .selectFrom('series_days')
      .select('keys')
      .where('day', '=', day)
      .where('service_id', '=', serviceId)
      .execute();
    return rows.map(({ keys }) => keys);
  }

  /** A mark for `listAddedAfter`; 0 before there is anything. */
  async latestMark(): Promise<number> {
    const row = await this.#session.db
      .selectFrom('series_days')
      .select(({ fn }) => fn.max('id').as('mark'))
      .executeTakeFirst();
    return row?.mark ?? 0;
  }

  /**
   * Lists the series added after the mark for these services. A transaction may commit behind one with a later mark: who asks
   * again from the mark before misses nothing.
   */
  async listAddedAfter(mark: number, serviceIds: readonly Id<'service'>[]): Promise<SeriesOfDay[]> {
    return await this.#session.db
      .selectFrom('series_days')
      .select(['service_id as serviceId', 'day', 'keys'])
      .where('id', '>', mark)
      .where('service_id', '=', anyOf(serviceIds))
      .execute();
  }

  async add(series: readonly SeriesOfDay[]): Promise<void> {
    const added = rowsOf('added', {
      service_id: ['text', series.map(({ serviceId }) => serviceId)],
      day: ['date', series.map(({ day }) => day)],
      keys: ['bytea', series.map(({ keys }) => keys)],
    });
    await this.#session.db
      .insertInto('series_days')
      .columns(['service_id', 'day', 'keys'])
      .expression(({ selectFrom }) => selectFrom(added).selectAll())
      .execute();
  }

  /** Removes the days before this one. */
  async removeBefore(day: string): Promise<void> {
    await this.#session.db.deleteFrom('series_days').where('day', '<', day).execute();
  }
}
