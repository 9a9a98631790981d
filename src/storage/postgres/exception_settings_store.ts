import type { ExceptionSettings } from '#core/exceptions/inbound_filters.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { allBut, anyOf, columns, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { ExceptionHourEntity, ExceptionSettingsEntity } from '#storage/postgres/entities/exceptions.ts';

const SETTINGS = allBut(ExceptionSettingsEntity, 'updatedAt');

/** What services leave out of their exceptions. */
export class ExceptionSettingsStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** A service that leaves out nothing may be absent. */
  async find(serviceIds: readonly Id<'service'>[]): Promise<Map<Id<'service'>, ExceptionSettings>> {
    const rows = await this.#session.db
      .selectFrom('exception_settings as x')
      .select(columns(ExceptionSettingsEntity, 'x', SETTINGS))
      .where('x.service_id', '=', anyOf(serviceIds))
      .execute();
    return new Map(rows.map(({ serviceId, ...settings }) => [serviceId, settings]));
  }

  async save(serviceId: Id<'service'>, settings: ExceptionSettings, now: Temporal.Instant): Promise<void> {
    const values = { ...settings, updatedAt: now };
    await this.#session.db
      .insertInto('exception_settings')
      .values(toColumns(ExceptionSettingsEntity, { serviceId, ...values }))
      .onConflict((conflict) => conflict.column('service_id').doUpdateSet(toColumns(ExceptionSettingsEntity, values)))
      .execute();
  }

  /** Adds events to the running hour; returns how many came within it, these among them. */
  async countHour(serviceId: Id<'service'>, hour: Temporal.Instant, count: number): Promise<number> {
    const row = await this.#session.db
      .insertInto('exception_hours')
      .values(toColumns(ExceptionHourEntity, { serviceId, hour, count }))
      .onConflict((conflict) =>
        conflict.column('service_id').doUpdateSet((eb) => ({
          count: eb
            .case()
            .when('exception_hours.hour', '=', eb.ref('excluded.hour'))
            .then(eb('exception_hours.count', '+', eb.ref('excluded.count')))
            .else(eb.ref('excluded.count'))
            .end(),
          hour: eb.ref('excluded.hour'),
        })),
      )
      .returning('count')
      .executeTakeFirstOrThrow();
    return row.count;
  }
}
