import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, type Row, rowsChanged, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { CalendarFeedEntity } from '#storage/postgres/entities/oncall.ts';

const FEED = ['id', 'orgId', 'scheduleId', 'secretSealed', 'createdAt'] as const;

/** Columns of a feed that are read. */
export type CalendarFeedRow = Pick<Row<typeof CalendarFeedEntity>, (typeof FEED)[number]>;

/**
 * Stores calendar feeds. At most one feed of a schedule is live for each member, and one without an owner. A member's
 * feed ends with the membership.
 */
export class CalendarFeedStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

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
    await this.#session.db
      .insertInto('calendar_feeds')
      .values(toColumns(CalendarFeedEntity, { id: newId('feed'), ...feed, createdAt: now }))
      .execute();
  }

  /** All of the schedule. False when none was live. */
  async revoke(orgId: Id<'org'>, scheduleId: string, now: Temporal.Instant): Promise<boolean> {
    const revoked = await this.#session.db
      .updateTable('calendar_feeds')
      .set({ revoked_at: now })
      .where('org_id', '=', orgId)
      .where('schedule_id', '=', asId('schedule', scheduleId))
      .where('revoked_at', 'is', null)
      .execute();
    return rowsChanged(revoked) > 0;
  }

  #live() {
    return this.#session.db
      .selectFrom('calendar_feeds as f')
      .select(columns(CalendarFeedEntity, 'f', FEED))
      .where('f.revoked_at', 'is', null);
  }
}
