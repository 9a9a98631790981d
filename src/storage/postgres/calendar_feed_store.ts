import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** The secret address of a schedule: the hash finds it, the sealed text shows it again. */
export interface CalendarFeedRow {
  readonly id: Id<'feed'>;
  readonly orgId: Id<'org'>;
  readonly scheduleId: Id<'schedule'>;
  readonly secretSealed: Buffer;
  readonly createdAt: Temporal.Instant;
}

const COLUMNS = `id, org_id as "orgId", schedule_id as "scheduleId", secret_sealed as "secretSealed",
  created_at as "createdAt"`;

/** At most one feed of a schedule is live for each member, and one that is nobody's. Theirs end with the membership. */
export class CalendarFeedStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Of one member, or with null the one that is nobody's. */
  async findLive(orgId: Id<'org'>, scheduleId: string, userId: Id<'user'> | null): Promise<CalendarFeedRow | null> {
    return await this.#session.sql.row(
      `select ${COLUMNS} from calendar_feeds where org_id = $1 and schedule_id = $2
         and user_id is not distinct from $3 and revoked_at is null`,
      [orgId, scheduleId, userId],
    );
  }

  /** Whoever knows the secret may read the schedule, of whatever organization. */
  async findBySecret(secretHash: Buffer): Promise<CalendarFeedRow | null> {
    return await this.#session.sql.row(
      `select ${COLUMNS} from calendar_feeds where secret_hash = $1 and revoked_at is null`,
      [secretHash],
    );
  }

  /** The caller holds the lock on the schedule, and none is live. */
  async insert(
    feed: Pick<CalendarFeedRow, 'orgId' | 'scheduleId' | 'secretSealed'> & {
      readonly userId: Id<'user'> | null;
      readonly secretHash: Buffer;
    },
    now: Temporal.Instant,
  ): Promise<void> {
    await this.#session.sql.run(
      `insert into calendar_feeds (id, org_id, schedule_id, secret_hash, secret_sealed, created_at, user_id)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [newId('feed'), feed.orgId, feed.scheduleId, feed.secretHash, feed.secretSealed, now.toString(), feed.userId],
    );
  }

  /** All of the schedule. False when none was live. */
  async revoke(orgId: Id<'org'>, scheduleId: string, now: Temporal.Instant): Promise<boolean> {
    const revoked = await this.#session.sql.run(
      `update calendar_feeds set revoked_at = $3 where org_id = $1 and schedule_id = $2 and revoked_at is null`,
      [orgId, scheduleId, now.toString()],
    );
    return revoked > 0;
  }
}
