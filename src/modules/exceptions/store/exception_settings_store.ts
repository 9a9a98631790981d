import type { AssignmentRule } from '#modules/exceptions/decide/assignment.ts';
import { type ExceptionSettings, NO_SETTINGS, unreadableSettings } from '#modules/exceptions/decide/inbound_filters.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { allBut, anyOf, columns, PostgresStore, rowsOf, toColumns } from '#storage/postgres/store.ts';
import { ExceptionHourEntity, ExceptionSettingsEntity } from '#storage/postgres/entities/exceptions.ts';

const NO_RULES: readonly AssignmentRule[] = [];

const SETTINGS = allBut(ExceptionSettingsEntity, 'updatedAt');

/**
 * Settings, whom new groups are assigned to and where issues are made, with the limit that was learnt, null while too
 * little is known, and the time at which it was learnt.
 */
export interface StoredExceptionSettings extends ExceptionSettings {
  readonly learntPerHour: number | null;
  readonly learntAt: Temporal.Instant | null;
  readonly assignmentRules: readonly AssignmentRule[];
  readonly issueLink: string | null;
  readonly trackerId: Id<'tracker'> | null;
  readonly trackerProject: string | null;
}

/** Stores which exceptions services leave out. */
export class ExceptionSettingsStore extends PostgresStore {
  /** A service that leaves out nothing may be absent. */
  async find(serviceIds: readonly Id<'service'>[]): Promise<Map<Id<'service'>, StoredExceptionSettings>> {
    const rows = await this.selectFrom('exception_settings as x')
      .select(columns(ExceptionSettingsEntity, 'x', SETTINGS))
      .where('x.service_id', '=', anyOf(serviceIds))
      .execute();
    return new Map(rows.map(({ serviceId, ...settings }) => [serviceId, readable(settings)]));
  }

  async save(serviceId: Id<'service'>, settings: ExceptionSettings, now: Temporal.Instant): Promise<void> {
    const values = { ...settings, updatedAt: now };
    await this.insertInto('exception_settings')
      .values(toColumns(ExceptionSettingsEntity, { serviceId, assignmentRules: NO_RULES, ...values }))
      .onConflict((conflict) => conflict.column('service_id').doUpdateSet(toColumns(ExceptionSettingsEntity, values)))
      .execute();
  }

  /** Saves whom new groups are assigned to and where issues are written, and leaves the other settings. */
  async saveAssignment(
    serviceId: Id<'service'>,
    assignment: Pick<StoredExceptionSettings, 'assignmentRules' | 'issueLink' | 'trackerId' | 'trackerProject'>,
    now: Temporal.Instant,
  ): Promise<void> {
    const values = { ...assignment, updatedAt: now };
    await this.insertInto('exception_settings')
      .values(toColumns(ExceptionSettingsEntity, { serviceId, ...NO_SETTINGS, ...values }))
      .onConflict((conflict) => conflict.column('service_id').doUpdateSet(toColumns(ExceptionSettingsEntity, values)))
      .execute();
  }

  /** Lists services whose usual traffic has not been learnt since then. */
  async listToLearn(since: Temporal.Instant, limit: number): Promise<Id<'service'>[]> {
    const rows = await this.selectFrom('exception_settings as x')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'x.service_id').on('s.deleted_at', 'is', null))
      .select('x.service_id')
      .where('x.learns_spikes', '=', true)
      .where(({ or, eb }) => or([eb('x.learnt_at', 'is', null), eb('x.learnt_at', '<=', since)]))
      .orderBy('x.learnt_at', (order) => order.asc().nullsFirst())
      .orderBy('x.service_id')
      .limit(limit)
      .execute();
    return rows.map(({ service_id }) => service_id);
  }

  async saveLearnt(
    learnt: readonly { readonly serviceId: Id<'service'>; readonly learntPerHour: number | null }[],
    now: Temporal.Instant,
  ): Promise<void> {
    const rows = rowsOf('l', {
      service_id: ['text', learnt.map(({ serviceId }) => serviceId)],
      per_hour: ['bigint', learnt.map(({ learntPerHour }) => learntPerHour)],
    });
    await this.updateTable('exception_settings as x')
      .from(rows)
      .set((eb) => ({ learnt_per_hour: eb.ref('l.per_hour'), learnt_at: now }))
      .whereRef('x.service_id', '=', 'l.service_id')
      .execute();
  }

  /** Adds events to the running hour; returns how many came within it, these among them. */
  async countHour(serviceId: Id<'service'>, hour: Temporal.Instant, count: number): Promise<number> {
    const row = await this.insertInto('exception_hours')
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

/** Returns the settings without those that cannot be read: events of others are read beside these. */
function readable(settings: StoredExceptionSettings): StoredExceptionSettings {
  return { ...settings, ...Object.fromEntries(unreadableSettings(settings).map((name) => [name, []])) };
}
