import type { ExpressionBuilder } from 'kysely';

import type { RecentMessages, WaitingDigest } from '#modules/notifications/decide/message_limit.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { holdLock, PostgresStore, prepared, toColumns, type Values } from '#storage/postgres/store.ts';
import { NotificationEntity } from '#storage/postgres/entities/messages.ts';
import { isMessageDue, NOTIFICATION, type NotificationRow } from '#modules/notifications/store/notification_row.ts';
import type { Tables } from '#storage/postgres/tables.ts';

/** One person on one channel, at one address: the unit that gets only a few messages a minute. */
type Line = Pick<NotificationRow, 'orgId' | 'userId' | 'channel' | 'address'>;

export interface DigestOnLine extends WaitingDigest {
  readonly id: Id<'notification'>;
}

type LineAt = Line & { readonly now: Temporal.Instant; readonly since: Temporal.Instant };

const LOCK_WAITING = prepared((db, { id, now }: Values<{ id: Id<'notification'>; now: Temporal.Instant }>) =>
  db
    .selectFrom('notifications as n')
    .select('n.id')
    .where('n.id', '=', id)
    .where('n.status', '=', 'queued')
    .where('n.released_at', 'is', null)
    .where((eb) => isMessageDue(eb.ref('n.due_at'), now))
    .forUpdate(),
);

const SENT = prepared((db, line: Values<LineAt>) =>
  onLine(db, line)
    .select((eb) => [
      eb.ref('n.released_at').$notNull().as('at'),
      eb
        .or([eb('n.kind', '=', 'page'), standsForAPage(eb)])
        .$castTo<boolean>()
        .as('carriesPage'),
    ])
    .where('n.released_at', '>', line.since)
    .where('n.released_at', '<=', line.now)
    .where('n.kind', 'in', ['page', 'update', 'digest'])
    .where((eb) => eb.not(eb.and([eb('n.kind', '=', 'digest'), eb('n.status', '=', 'cancelled')])))
    .orderBy('n.released_at', 'desc')
    .limit(100),
);

const DIGESTS = prepared((db, line: Values<Line>) =>
  onLine(db, line)
    .select((eb) => [
      'n.id',
      eb.ref('n.due_at').$notNull().as('dueAt'),
      standsForAPage(eb).$castTo<boolean>().as('carriesPage'),
    ])
    .where('n.kind', '=', 'digest')
    .where('n.status', '=', 'queued')
    .where('n.released_at', 'is', null)
    .orderBy('n.id'),
);

/** Recent messages to each person, and the digests that stand for those that would be too many. */
export class DigestStore extends PostgresStore {
  /**
   * Locks the line: until the transaction ends nobody else decides what leaves on it. Take it before any row of the
   * log.
   */
  async holdLine({ orgId, userId, channel, address }: Line): Promise<void> {
    await holdLock(this.session, ['line', orgId, userId, channel, address].join(' '));
  }

  /** Locks a message that waits to be let through; false when it does so no more. */
  async lockWaiting(notificationId: Id<'notification'>, now: Temporal.Instant): Promise<boolean> {
    return (await LOCK_WAITING.row(this.session, { id: notificationId, now })) !== null;
  }

  /**
   * Lists the messages sent within the last minute, and the digests that wait. Times ahead of the clock do not count, nor does a
   * digest that was given up because at most one message was left for it.
   */
  async listRecent(line: Line, now: Temporal.Instant): Promise<RecentMessages<DigestOnLine>> {
    const { orgId, userId, channel, address } = line;
    const recipient = { orgId, userId, channel, address };
    const sent = await SENT.rows(this.session, { ...recipient, now, since: now.subtract({ minutes: 1 }) });
    const digests = await DIGESTS.rows(this.session, recipient);
    return { sent, digests };
  }

  async open(line: Line, dueAt: Temporal.Instant, now: Temporal.Instant): Promise<Id<'notification'>> {
    const { orgId, userId, channel, address } = line;
    const id = newId('notification');
    await this.insertInto('notifications')
      .values(
        toColumns(NotificationEntity, {
          id,
          orgId,
          kind: 'digest',
          userId,
          channel,
          address,
          status: 'queued',
          dueAt,
          createdAt: now,
          updatedAt: now,
        }),
      )
      .execute();
    return id;
  }

  /** The message waits for the digest from now on, and has no time of its own. */
  async fold(notificationId: Id<'notification'>, digestId: Id<'notification'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('notifications')
      .set({ digest_id: digestId, reason: 'digest', due_at: null, updated_at: now })
      .where('id', '=', notificationId)
      .execute();
  }

  /** The message stands for itself again and is due at once. */
  async unfold(notificationId: Id<'notification'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('notifications')
      .set({ digest_id: null, reason: null, due_at: now, updated_at: now })
      .where('id', '=', notificationId)
      .execute();
  }

  /**
   * Locks the members of the digest: everything that waits for it, or left with it in a try that nobody lived to end.
   */
  async lockMembers(digestId: Id<'notification'>): Promise<NotificationRow[]> {
    return await this.#members(digestId).where('n.status', 'in', ['queued', 'sending']).forUpdate().execute();
  }

  /** The members leave with their digest. */
  async markSending(digestId: Id<'notification'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('notifications')
      .set((eb) => ({ status: 'sending', attempts: eb('attempts', '+', 1), updated_at: now }))
      .where('digest_id', '=', digestId)
      .where('status', 'in', ['queued', 'sending'])
      .execute();
  }

  /** Lists what the digest has said, oldest first. */
  async listMembers(digestId: Id<'notification'>): Promise<NotificationRow[]> {
    return await this.#members(digestId).execute();
  }

  #members(digestId: Id<'notification'>) {
    return this.selectFrom('notifications as n')
      .select(NOTIFICATION)
      .where('n.digest_id', '=', digestId)
      .orderBy('n.id');
  }
}

function onLine(db: Session['db'], { orgId, userId, channel, address }: Values<Line>) {
  return db
    .selectFrom('notifications as n')
    .where('n.org_id', '=', orgId)
    .where('n.user_id', '=', userId)
    .where('n.channel', '=', channel)
    .where('n.address', 'is not distinct from', address);
}

/** Whether it is a digest of which a message pages somebody. */
function standsForAPage(eb: ExpressionBuilder<Tables & { n: Tables['notifications'] }, 'n'>) {
  return eb.exists(
    eb
      .selectFrom('notifications as m')
      .select('m.id')
      .whereRef('m.digest_id', '=', 'n.id')
      .where('m.kind', '=', 'page')
      .where('m.status', '<>', 'cancelled'),
  );
}
