import { UNCONFIRMED } from '#modules/notifications/decide/retry.ts';
import { expressionBuilder, sql } from 'kysely';

import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';
import type { ChannelHistory } from '#modules/contacts/decide/reachability.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, PostgresStore, prepared, rowsChanged, rowsOf, type Values } from '#storage/postgres/store.ts';
import { isMessageDue, NOTIFICATION, type NotificationRow } from '#modules/notifications/store/notification_row.ts';
import type { Tables } from '#storage/postgres/tables.ts';

/** A message that is this worker's to send. */
export type ClaimedNotification = NotificationRow & {
  /** True when an earlier try may have reached the provider without our learning of it. */
  readonly isUncertain: boolean;
};

export type DueMessage = Pick<NotificationRow, 'id' | 'orgId' | 'channel'>;

export interface ChannelHealth extends ChannelHistory {
  readonly channel: Channel;
  readonly lastFailure: string | null;
}

/** The reason of a try whose outcome is unknown: a time-out after the request had left. */
export const UNCERTAIN = 'provider_silent';

/** Order of the states of a delivery; call-backs may only move it forward. */
const RANK: Record<NotificationRow['status'], number> = {
  queued: 0,
  sending: 1,
  sent: 2,
  delivered: 3,
  failed: 3,
  skipped: 3,
  cancelled: 3,
};
const STATUSES = Object.keys(RANK) as NotificationRow['status'][];

interface Claim {
  readonly id: Id<'notification'>;
  readonly leaseUntil: Temporal.Instant;
  readonly now: Temporal.Instant;
}

const CLAIM = prepared((db, { id, leaseUntil, now }: Values<Claim>) =>
  db
    .updateTable('notifications as n')
    .from(({ selectFrom }) =>
      selectFrom('notifications').select(['id', 'status', 'reason']).where('id', '=', id).forUpdate().as('old'),
    )
    .set(({ eb, fn }) => ({
      status: 'sending',
      attempts: eb('n.attempts', '+', 1),
      lease_until: leaseUntil,
      due_at: leaseUntil,
      updated_at: now,
      released_at: fn.coalesce('n.released_at', now),
    }))
    .whereRef('n.id', '=', 'old.id')
    .where('n.status', 'in', ['queued', 'sending'])
    .where(({ ref }) => isMessageDue(ref('n.due_at'), now))
    .returning(NOTIFICATION)
    .returning(({ eb, or }) =>
      or([eb('old.status', '=', 'sending'), eb('old.reason', 'is not distinct from', UNCERTAIN)])
        .$castTo<boolean>()
        .as('isUncertain'),
    ),
);

/**
 * Stores the sending of messages of the notification log: claimed by a worker, and moved forward by what the provider
 * says.
 */
export class DeliveryStore extends PostgresStore {
  /**
   * Takes a message to send, for as long as the lease lasts: one that is due, or one whose lease has ended
   * while its sender was sending it.
   */
  async claim(
    notificationId: string,
    leaseUntil: Temporal.Instant,
    now: Temporal.Instant,
  ): Promise<ClaimedNotification | null> {
    return await CLAIM.row(this.session, { id: asId('notification', notificationId), leaseUntil, now });
  }

  /** Returns when a queued message is due; null when it is not queued, or waits for its digest. */
  async findQueuedDueAt(notificationId: Id<'notification'>): Promise<Temporal.Instant | null> {
    const message = await this.selectFrom('notifications')
      .select('due_at')
      .where('id', '=', notificationId)
      .where('status', '=', 'queued')
      .executeTakeFirst();
    return message?.due_at ?? null;
  }

  /** Extends the lease of a claimed message; false when it has ended and another worker has taken the message over. */
  async extend(claimed: ClaimedNotification, leaseUntil: Temporal.Instant): Promise<boolean> {
    const extended = await this.updateTable('notifications')
      .set({ lease_until: leaseUntil, due_at: leaseUntil })
      .where('id', '=', claimed.id)
      .where('status', '=', 'sending')
      .where('attempts', '=', claimed.attempts)
      .execute();
    return rowsChanged(extended) > 0;
  }

  /** Whether a message is in this attempt, and no other worker has taken it over. Locked until the transaction ends. */
  async lockHeld({ id, attempts }: Pick<NotificationRow, 'id' | 'attempts'>): Promise<boolean> {
    const held = await this.selectFrom('notifications')
      .select('id')
      .where('id', '=', id)
      .where('status', '=', 'sending')
      .where('attempts', '=', attempts)
      .forUpdate()
      .executeTakeFirst();
    return held !== undefined;
  }

  /** Notes what the provider calls this message, unless that is known. */
  async setProviderId(notificationId: Id<'notification'>, providerId: string): Promise<void> {
    await this.updateTable('notifications')
      .set({ provider_id: providerId })
      .where(({ eb, or }) => or([eb('id', '=', notificationId), eb('digest_id', '=', notificationId)]))
      .where('provider_id', 'is', null)
      .execute();
  }

  /**
   * Returns the provider's ids that belong to no entry, and how many other entries may own one of them: those went to
   * the same address, and nobody has learnt what became of them.
   */
  async findUnclaimed(
    { id, channel, address, createdAt, incidentId }: NotificationRow,
    providerIds: readonly string[],
    { ofIncident }: { readonly ofIncident: boolean },
  ): Promise<{ unclaimed: string[]; othersUncertain: number }> {
    const { db } = this;
    const rows = await db
      .selectFrom('notifications')
      .select('provider_id')
      .where('provider_id', '=', anyOf(providerIds))
      .execute();
    const others = await db
      .selectFrom('notifications')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('channel', '=', channel)
      .where('address', '=', address)
      .where('id', '<>', id)
      .where('provider_id', 'is', null)
      .where('digest_id', 'is', null)
      .where(({ eb, and, or }) =>
        or([
          eb('status', '=', 'sending'),
          and([eb('reason', 'in', [UNCERTAIN, UNCONFIRMED]), eb('updated_at', '>=', createdAt)]),
        ]),
      )
      .$if(ofIncident, (query) => query.where('incident_id', 'is not distinct from', incidentId))
      .executeTakeFirstOrThrow();
    const owned = new Set(rows.map(({ provider_id }) => provider_id));
    return { unclaimed: providerIds.filter((providerId) => !owned.has(providerId)), othersUncertain: others.count };
  }

  /**
   * Queues the message again, and those that it stands for; pages of incidents that are settled by now, or that their
   * person has acknowledged, are cancelled.
   */
  async markForRetry(
    notificationId: Id<'notification'>,
    reason: string,
    dueAt: Temporal.Instant,
    now: Temporal.Instant,
  ): Promise<void> {
    const { db } = this;
    await db
      .updateTable('notifications as n')
      .set((eb) => ({
        status: 'queued',
        reason,
        lease_until: null,
        updated_at: now,
        due_at: eb
          .case()
          .when('n.id', '=', notificationId)
          .then(sql<Temporal.Instant>`${dueAt}::timestamptz`)
          .end(),
      }))
      .where(({ eb, or }) => or([eb('n.id', '=', notificationId), eb('n.digest_id', '=', notificationId)]))
      .where('n.status', '=', 'sending')
      .execute();
    await this.#cancellingAnswered(now)
      .where(({ eb, or }) => or([eb('n.id', '=', notificationId), eb('n.digest_id', '=', notificationId)]))
      .where('n.status', '=', 'queued')
      .execute();
  }

  /**
   * Whether the message is a page of an incident that is settled by now, or that its person has acknowledged. It is
   * cancelled if it is still in this attempt.
   */
  async cancelAnswered({ id, attempts }: ClaimedNotification, now: Temporal.Instant): Promise<boolean> {
    const answered = await this.selectFrom('notifications as n')
      .innerJoin('incidents as i', 'i.id', 'n.incident_id')
      .select('n.id')
      .where('n.id', '=', id)
      .where('n.kind', '=', 'page')
      .where(IS_ANSWERED)
      .executeTakeFirst();
    if (answered === undefined) return false;
    await this.#cancellingAnswered(now)
      .where('n.id', '=', id)
      .where('n.status', '=', 'sending')
      .where('n.attempts', '=', attempts)
      .execute();
    return true;
  }

  #cancellingAnswered(now: Temporal.Instant) {
    return this.updateTable('notifications as n')
      .from('incidents as i')
      .set((eb) => ({
        status: 'cancelled',
        reason: eb.case().when('i.status', '=', 'triggered').then('acknowledged').else(eb.ref('i.status')).end(),
        due_at: null,
        lease_until: null,
        updated_at: now,
      }))
      .where('n.kind', '=', 'page')
      .whereRef('i.id', '=', 'n.incident_id')
      .where(IS_ANSWERED);
  }

  /**
   * Moves a message forward, and for a digest every message in it; returns those that were not as far yet. The reason of
   * an earlier failed try is removed once one has succeeded.
   */
  async advance(
    notificationId: Id<'notification'>,
    status: 'sent' | 'delivered' | 'failed',
    reason: string | null,
    now: Temporal.Instant,
  ): Promise<NotificationRow[]> {
    const behind = STATUSES.filter((earlier) => RANK[earlier] < RANK[status]);
    return await this.updateTable('notifications as n')
      .set((eb) => ({
        status,
        // An entry of a digest says so if it has no other reason.
        reason: reason ?? eb.case().when('n.digest_id', 'is not', null).then(sql.lit('digest')).end(),
        due_at: null,
        lease_until: null,
        updated_at: now,
      }))
      .where(({ eb, or }) => or([eb('n.id', '=', notificationId), eb('n.digest_id', '=', notificationId)]))
      .where('n.status', 'in', behind)
      .returning(NOTIFICATION)
      .execute();
  }

  /** Gives up a message that has nothing left to say. */
  async cancel(notificationId: Id<'notification'>, reason: string, now: Temporal.Instant): Promise<void> {
    await this.updateTable('notifications')
      .set({ status: 'cancelled', reason, due_at: null, lease_until: null, updated_at: now })
      .where('id', '=', notificationId)
      .where('status', 'in', ['queued', 'sending'])
      .execute();
  }

  /**
   * Messages that were due at `before` and have not left: their job was lost or is late, or their sender died.
   * Organizations have equal turns, and so have the channels of each.
   */
  async listDue(before: Temporal.Instant, limit: number): Promise<DueMessage[]> {
    return await this.selectFrom('notifications as n')
      .select(['n.id', 'n.org_id as orgId', 'n.channel'])
      .where('n.status', 'in', ['queued', 'sending'])
      .where(({ ref }) => isMessageDue(ref('n.due_at'), before))
      .orderBy(({ fn }) =>
        fn.agg<number>('row_number').over((over) => over.partitionBy(['n.org_id', 'n.channel']).orderBy('n.due_at')),
      )
      .orderBy('n.due_at')
      .limit(limit)
      .execute();
  }

  /**
   * Returns, for each channel, when its provider last took a message to people of the organization, and when and why it
   * last refused one or did not answer, among messages since then. Our reasons that say so begin with `provider_`. What
   * the phone simulator took, with ids that match `simulatedIds`, says nothing of a provider.
   */
  async listHealth(orgId: Id<'org'>, since: Temporal.Instant, simulatedIds: string): Promise<ChannelHealth[]> {
    const lately = this.selectFrom('notifications as n')
      .select(['n.updated_at as at', 'n.reason'])
      .where('n.org_id', '=', orgId)
      .where('n.channel', '=', sql.ref<Channel>('c.channel'))
      .where('n.updated_at', '>=', since)
      .where((n) => n.or([n('n.provider_id', 'is', null), n('n.provider_id', 'not like', simulatedIds)]))
      .orderBy('n.updated_at', 'desc')
      .limit(1);
    const { ref } = expressionBuilder<Tables & { n: Tables['notifications'] }, 'n'>();
    // These conditions are those of the two partial indexes.
    const wasTaken = sql<boolean>`(${ref('n.provider_id')} is not null or ${ref('n.status')} in ('sent', 'delivered'))`;
    const wasRefused = sql<boolean>`(${ref('n.reason')} = ${sql.lit(UNCONFIRMED)} or starts_with(${ref('n.reason')}, 'provider_'))`;
    return await this.selectFrom(rowsOf('c', { channel: ['text', CHANNELS] }))
      .leftJoinLateral(
        lately
          .where(wasTaken)
          .where(sql<boolean>`${wasRefused} is not true`)
          .as('good'),
        (join) => join.onTrue(),
      )
      .leftJoinLateral(lately.where(wasRefused).as('bad'), (join) => join.onTrue())
      .select(['c.channel', 'good.at as lastSucceededAt', 'bad.at as lastFailedAt', 'bad.reason as lastFailure'])
      .execute();
  }
}

/** Whether incident `i` asks the person of message `n` for nothing more. */
const IS_ANSWERED = sql<boolean>`(${sql.ref('i.status')} <> 'triggered' or exists (
  select from json_array_elements(${sql.ref('i.acknowledgements')}) where value->>'userId' = ${sql.ref('n.user_id')}
))`;
