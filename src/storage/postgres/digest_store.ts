import type { RecentMessage, RecentMessages, WaitingDigest } from '#core/oncall/message_limit.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { isDueAt, NOTIFICATION_COLUMNS, type NotificationRow } from '#storage/postgres/notification_store.ts';

/** One person on one channel, at one address: what must not get more than a few messages a minute. */
type Line = Pick<NotificationRow, 'orgId' | 'userId' | 'channel' | 'address'>;

export interface DigestOnLine extends WaitingDigest {
  readonly id: Id<'notification'>;
}

const ON_LINE = `n.org_id = $1 and n.user_id = $2 and n.channel = $3 and n.address is not distinct from $4`;

const STANDS_FOR_A_PAGE = `exists (select 1 from notifications m
  where m.digest_id = n.id and m.kind = 'page' and m.status <> 'cancelled')`;

/** How messages to one person are kept few: what has left lately, and digests that stand for what would be too many. */
export class DigestStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Until the transaction ends nobody else decides what leaves on this line. Take it before any row of the log. */
  async holdLine({ orgId, userId, channel, address }: Line): Promise<void> {
    await this.#session.sql.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      ['line', orgId, userId, channel, address].join(' '),
    ]);
  }

  /** Locks a message that waits to be let through; false when it does so no more. */
  async lockWaiting(notificationId: Id<'notification'>, now: Temporal.Instant): Promise<boolean> {
    const row = await this.#session.sql.row(
      `select 1 from notifications n
       where n.id = $1 and n.status = 'queued' and n.released_at is null and ${isDueAt('$2')} for update`,
      [notificationId, now.toString()],
    );
    return row !== null;
  }

  /**
   * What left within the last minute, and the digests that wait. Times ahead of the clock do not count, nor does a
   * digest that was given up because at most one message was left for it.
   */
  async listRecent(line: Line, now: Temporal.Instant): Promise<RecentMessages<DigestOnLine>> {
    const parameters = [line.orgId, line.userId, line.channel, line.address];
    const sent = await this.#session.sql.rows<RecentMessage>(
      `select n.released_at as at, n.kind = 'page' or ${STANDS_FOR_A_PAGE} as "carriesPage" from notifications n
       where ${ON_LINE} and n.released_at > $5 and n.released_at <= $6 and n.kind in ('page', 'update', 'digest')
         and not (n.kind = 'digest' and n.status = 'cancelled')
       order by n.released_at desc limit 100`,
      [...parameters, now.subtract({ minutes: 1 }).toString(), now.toString()],
    );
    const digests = await this.#session.sql.rows<DigestOnLine>(
      `select n.id, n.due_at as "dueAt", ${STANDS_FOR_A_PAGE} as "carriesPage" from notifications n
       where ${ON_LINE} and n.kind = 'digest' and n.status = 'queued' and n.released_at is null
       order by n.id`,
      parameters,
    );
    return { sent, digests };
  }

  async open(line: Line, dueAt: Temporal.Instant, now: Temporal.Instant): Promise<Id<'notification'>> {
    const id = newId('notification');
    await this.#session.sql.run(
      `insert into notifications (id, org_id, kind, user_id, channel, address, status, due_at, created_at, updated_at)
       values ($1, $2, 'digest', $3, $4, $5, 'queued', $6, $7, $7)`,
      [id, line.orgId, line.userId, line.channel, line.address, dueAt.toString(), now.toString()],
    );
    return id;
  }

  /** The message waits for the digest from now on, and has no time of its own. */
  async fold(notificationId: Id<'notification'>, digestId: Id<'notification'>, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `update notifications set digest_id = $2, reason = 'digest', due_at = null, updated_at = $3 where id = $1`,
      [notificationId, digestId, now.toString()],
    );
  }

  /** The message stands for itself again and is due at once. */
  async unfold(notificationId: Id<'notification'>, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `update notifications set digest_id = null, reason = null, due_at = $2, updated_at = $2 where id = $1`,
      [notificationId, now.toString()],
    );
  }

  /** What the digest is to say: everything that waits for it, or left with it in a try that nobody lived to end. */
  async lockMembers(digestId: Id<'notification'>): Promise<NotificationRow[]> {
    return await this.#session.sql.rows(
      `select ${NOTIFICATION_COLUMNS} from notifications n
       where n.digest_id = $1 and n.status in ('queued', 'sending') order by n.id for update`,
      [digestId],
    );
  }

  /** The members leave with their digest. */
  async markSending(digestId: Id<'notification'>, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `update notifications set status = 'sending', attempts = attempts + 1, updated_at = $2
       where digest_id = $1 and status in ('queued', 'sending')`,
      [digestId, now.toString()],
    );
  }

  /** What the digest has said, oldest first. */
  async listMembers(digestId: Id<'notification'>): Promise<NotificationRow[]> {
    return await this.#session.sql.rows(
      `select ${NOTIFICATION_COLUMNS} from notifications n where n.digest_id = $1 order by n.id`,
      [digestId],
    );
  }
}
