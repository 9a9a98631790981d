import type { Id } from '#kernel/ids.ts';
import { columns, type Row, rowsChanged, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { OwnCalendarEntity } from '#storage/postgres/entities/oncall.ts';

const CALENDAR = ['orgId', 'userId', 'secretSealed', 'createdAt'] as const;

/** Columns of a calendar that are read. */
export type OwnCalendarRow = Pick<Row<typeof OwnCalendarEntity>, (typeof CALENDAR)[number]>;

/** The secret address of a member's own shifts: one at most, and it ends with the membership. */
export class OwnCalendarStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

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
  async replace(calendar: Row<typeof OwnCalendarEntity>): Promise<void> {
    const { secretHash, secretSealed, createdAt } = calendar;
    await this.#session.db
      .insertInto('own_calendars')
      .values(toColumns(OwnCalendarEntity, calendar))
      .onConflict((conflict) =>
        conflict
          .columns(['org_id', 'user_id'])
          .doUpdateSet(toColumns(OwnCalendarEntity, { secretHash, secretSealed, createdAt })),
      )
      .execute();
  }

  /** False when there was none. */
  async delete(orgId: Id<'org'>, userId: Id<'user'>): Promise<boolean> {
    const deleted = await this.#session.db
      .deleteFrom('own_calendars')
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .execute();
    return rowsChanged(deleted) > 0;
  }

  #calendars() {
    return this.#session.db.selectFrom('own_calendars as c').select(columns(OwnCalendarEntity, 'c', CALENDAR));
  }
}
