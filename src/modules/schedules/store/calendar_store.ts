import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { CalendarFeedEntity, OwnCalendarEntity } from '#storage/postgres/entities/oncall.ts';

const FEED = ['id', 'orgId', 'scheduleId', 'secretSealed', 'createdAt', 'madeOf', 'changedAt'] as const;

export type CalendarFeedRow = Pick<Row<typeof CalendarFeedEntity>, (typeof FEED)[number]>;

/** Hash of everything that decides the events of a calendar, and when it was first seen. */
export interface CalendarStamp {
  readonly madeOf: Buffer;
  readonly changedAt: Temporal.Instant;
}

/**
 * Stores calendar feeds. At most one feed of a schedule is live for each member, and one without an owner. A member's
 * feed ends with the membership.
 */
export class CalendarFeedStore extends PostgresStore {
  /** Returns the live feed of one member, or with null the one without an owner. */
  async findLive(orgId: Id<'org'>, scheduleId: string, userId: Id<'user'> | null): Promise<CalendarFeedRow | null> {
    const feed = await this.#live()
      .where('f.org_id', '=', orgId)
      .where('f.schedule_id', '=', asId('schedule', scheduleId))
      .where('f.user_id', 'is not distinct from', userId)
      .executeTakeFirst();
    return feed ?? null;
  }

  /** The secret alone allows reading the schedule, of any organization. */
  async findBySecret(secretHash: Buffer): Promise<CalendarFeedRow | null> {
    return (await this.#live().where('f.secret_hash', '=', secretHash).executeTakeFirst()) ?? null;
  }

  /** The caller holds the lock on the schedule, and none is live. */
  async insert(
    feed: Pick<Row<typeof CalendarFeedEntity>, 'orgId' | 'scheduleId' | 'secretSealed' | 'userId' | 'secretHash'>,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.insertInto('calendar_feeds')
      .values(toColumns(CalendarFeedEntity, { id: newId('feed'), ...feed, createdAt: now }))
      .execute();
  }

  /** Notes what a feed is made of from this time on. */
  async stamp({ id }: Pick<CalendarFeedRow, 'id'>, { madeOf, changedAt }: CalendarStamp): Promise<void> {
    await this.updateTable('calendar_feeds')
      .set({ made_of: madeOf, changed_at: changedAt })
      .where('id', '=', id)
      .execute();
  }

  /** All of the schedule. False when none was live. */
  async revoke(orgId: Id<'org'>, scheduleId: string, now: Temporal.Instant): Promise<boolean> {
    const revoked = await this.updateTable('calendar_feeds')
      .set({ revoked_at: now })
      .where('org_id', '=', orgId)
      .where('schedule_id', '=', asId('schedule', scheduleId))
      .where('revoked_at', 'is', null)
      .execute();
    return rowsChanged(revoked) > 0;
  }

  #live() {
    return this.selectFrom('calendar_feeds as f')
      .select(columns(CalendarFeedEntity, 'f', FEED))
      .where('f.revoked_at', 'is', null);
  }
}

const CALENDAR = ['orgId', 'userId', 'secretSealed', 'createdAt', 'madeOf', 'changedAt'] as const;

export type OwnCalendarRow = Pick<Row<typeof OwnCalendarEntity>, (typeof CALENDAR)[number]>;

/** The secret address of a member's own shifts: one at most, and it ends with the membership. */
export class OwnCalendarStore extends PostgresStore {
  async find(orgId: Id<'org'>, userId: Id<'user'>): Promise<OwnCalendarRow | null> {
    const row = await this.#calendars()
      .where('c.org_id', '=', orgId)
      .where('c.user_id', '=', userId)
      .executeTakeFirst();
    return row ?? null;
  }

  /** The secret alone allows reading the shifts, of whatever organization. */
  async findBySecret(secretHash: Buffer): Promise<OwnCalendarRow | null> {
    return (await this.#calendars().where('c.secret_hash', '=', secretHash).executeTakeFirst()) ?? null;
  }

  /** The address before it stops working. */
  async replace(calendar: Omit<Row<typeof OwnCalendarEntity>, keyof CalendarStamp>): Promise<void> {
    const { secretHash, secretSealed, createdAt } = calendar;
    await this.insertInto('own_calendars')
      .values(toColumns(OwnCalendarEntity, { ...calendar, madeOf: null, changedAt: null }))
      .onConflict((conflict) =>
        conflict
          .columns(['org_id', 'user_id'])
          .doUpdateSet(toColumns(OwnCalendarEntity, { secretHash, secretSealed, createdAt })),
      )
      .execute();
  }

  /** Notes what a calendar is made of from this time on. */
  async stamp(
    { orgId, userId }: Pick<OwnCalendarRow, 'orgId' | 'userId'>,
    { madeOf, changedAt }: CalendarStamp,
  ): Promise<void> {
    await this.updateTable('own_calendars')
      .set({ made_of: madeOf, changed_at: changedAt })
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .execute();
  }

  /** False when there was none. */
  async delete(orgId: Id<'org'>, userId: Id<'user'>): Promise<boolean> {
    const deleted = await this.deleteFrom('own_calendars')
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .execute();
    return rowsChanged(deleted) > 0;
  }

  #calendars() {
    return this.selectFrom('own_calendars as c').select(columns(OwnCalendarEntity, 'c', CALENDAR));
  }
}
