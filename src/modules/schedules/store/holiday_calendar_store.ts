import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, json, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { areDates } from '#modules/schedules/decide/ics_dates.ts';
import { HolidayCalendarEntity } from '#storage/postgres/entities/oncall.ts';
import { sql } from 'kysely';

export type HolidayCalendarRow = Row<typeof HolidayCalendarEntity>;

/** Answer of an address: its dates, or why it could not be read. */
export type CalendarFetch = { readonly dates: readonly string[] } | { readonly fault: string };

/** Calendars of holidays of an organization. One keeps the dates of the last good answer of its address. */
export class HolidayCalendarStore extends PostgresStore {
  /** The dates of these calendars as `YYYY-MM-DD`; asks nothing without any. */
  async listDates(
    orgId: Id<'org'>,
    calendarIds: readonly Id<'calendar'>[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    if (calendarIds.length === 0) return new Map();
    const calendars = await this.selectFrom('holiday_calendars as c')
      .select(columns(HolidayCalendarEntity, 'c', ['id', 'dates']))
      .where('c.org_id', '=', orgId)
      .where('c.id', '=', anyOf(calendarIds))
      .execute();
    return new Map(calendars.map(({ id, dates }) => [id, areDates(dates) ? dates : []]));
  }

  /** All calendars of an organization, by name. */
  async list(orgId: Id<'org'>): Promise<HolidayCalendarRow[]> {
    const calendars = await this.selectFrom('holiday_calendars as c')
      .select(columns(HolidayCalendarEntity, 'c'))
      .where('c.org_id', '=', orgId)
      .orderBy(({ fn }) => fn('lower', ['c.name']))
      .orderBy('c.id')
      .execute();
    return calendars.map(readable);
  }

  /** Returns the calendar, locked until the transaction ends. Throws `not_found`. */
  async lock(orgId: Id<'org'>, calendarId: string): Promise<HolidayCalendarRow> {
    const calendar = await this.selectFrom('holiday_calendars as c')
      .select(columns(HolidayCalendarEntity, 'c'))
      .where('c.org_id', '=', orgId)
      .where('c.id', '=', asId('calendar', calendarId))
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('calendarId', 'calendar of holidays'));
    return readable(calendar);
  }

  async insert(
    calendar: Pick<HolidayCalendarRow, 'orgId' | 'name' | 'url' | 'dates' | 'fetchedAt' | 'triedAt' | 'fault'>,
    now: Temporal.Instant,
  ): Promise<HolidayCalendarRow> {
    const row = { id: newId('calendar'), ...calendar, createdAt: now, updatedAt: now };
    await this.insertInto('holiday_calendars').values(toColumns(HolidayCalendarEntity, row)).execute();
    return row;
  }

  /** The caller holds the lock on the calendar. */
  async save(calendar: HolidayCalendarRow, now: Temporal.Instant): Promise<HolidayCalendarRow> {
    const { id, name, url, dates, fetchedAt, triedAt, fault } = calendar;
    await this.updateTable('holiday_calendars')
      .set(toColumns(HolidayCalendarEntity, { name, url, dates, fetchedAt, triedAt, fault, updatedAt: now }))
      .where('id', '=', id)
      .execute();
    return { ...calendar, updatedAt: now };
  }

  async delete(calendarId: Id<'calendar'>): Promise<void> {
    await this.deleteFrom('holiday_calendars').where('id', '=', calendarId).execute();
  }

  /** The schedules with a layer that uses the calendar, oldest first. */
  async listSchedules(orgId: Id<'org'>, calendarId: string): Promise<{ id: Id<'schedule'>; name: string }[]> {
    return await this.selectFrom('schedules as s')
      .select(['s.id', 's.name'])
      .where('s.org_id', '=', orgId)
      .where(({ ref }) => sql<boolean>`${ref('s.layers')}::jsonb @> ${json([{ holidays: { calendarId } }])}::jsonb`)
      .orderBy('s.id')
      .execute();
  }

  /** Takes the calendar whose address was asked longest ago, before this time; null when there is none. */
  async claimDue(before: Temporal.Instant, now: Temporal.Instant): Promise<HolidayCalendarRow | null> {
    const claimed = await this.updateTable('holiday_calendars as c')
      .set({ tried_at: now })
      .where('c.id', '=', ({ selectFrom }) =>
        selectFrom('holiday_calendars as d')
          .select('d.id')
          .where('d.url', 'is not', null)
          .where('d.tried_at', '<', before)
          .orderBy('d.tried_at')
          .limit(1)
          .forUpdate()
          .skipLocked(),
      )
      .returning(columns(HolidayCalendarEntity, 'c'))
      .executeTakeFirst();
    return claimed ?? null;
  }

  /** Records the answer of an address, unless it was changed since. False if it was. */
  async recordFetch(
    { id, url }: Pick<HolidayCalendarRow, 'id' | 'url'>,
    fetched: CalendarFetch,
    now: Temporal.Instant,
  ): Promise<boolean> {
    const answer =
      'dates' in fetched
        ? toColumns(HolidayCalendarEntity, { dates: fetched.dates, fetchedAt: now, fault: null })
        : toColumns(HolidayCalendarEntity, { fault: fetched.fault });
    const changed = await this.updateTable('holiday_calendars')
      .set(answer)
      .where('id', '=', id)
      .where('url', '=', url)
      .execute();
    return rowsChanged(changed) > 0;
  }
}

/** Returns a calendar whose dates cannot be read as one without dates, which says so. */
function readable(calendar: HolidayCalendarRow): HolidayCalendarRow {
  return areDates(calendar.dates)
    ? calendar
    : { ...calendar, dates: [], fault: 'its dates cannot be read: set them again' };
}
