import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { rowsOf } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Services whose points were stored late: what the evaluation of rules has in memory of them is not complete. */
export class LatePointsStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Services that are gone are left out. */
  async record(serviceIds: readonly Id<'service'>[], storedAt: Temporal.Instant): Promise<void> {
    const late = rowsOf('late', { service_id: ['text', [...new Set(serviceIds)]] });
    await this.#session.db
      .insertInto('late_points')
      .columns(['service_id', 'stored_at'])
      .expression(({ selectFrom, val }) =>
        selectFrom(late)
          .innerJoin('services as s', 's.id', 'late.service_id')
          .select(['s.id', val(storedAt).as('stored_at')])
          .orderBy('s.id'),
      )
      .onConflict((conflict) =>
        conflict.column('service_id').doUpdateSet(({ ref }) => ({ stored_at: ref('excluded.stored_at') })),
      )
      .execute();
  }

  /** A time that lies ahead was written before the clock was set back: it counts. */
  async listSince(time: Temporal.Instant): Promise<Id<'service'>[]> {
    const rows = await this.#session.db
      .selectFrom('late_points')
      .select('service_id as serviceId')
      .where('stored_at', '>=', time)
      .execute();
    return rows.map(({ serviceId }) => serviceId);
  }
}
