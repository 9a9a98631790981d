import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { PushSubscriptionEntity } from '#storage/postgres/entities/messages.ts';

/** A browser that a person has subscribed. It is the person's, in every organization. */
export type PushSubscriptionRow = Row<typeof PushSubscriptionEntity>;

export type NewPushSubscription = Pick<PushSubscriptionRow, 'endpoint' | 'p256dh' | 'auth' | 'label'>;

/** A person who subscribes more browsers than this loses the oldest. */
const PER_USER_MAX = 20;

export class PushSubscriptionStore extends PostgresStore {
  /** A browser that subscribes again, also as somebody else, is that person's from then on. */
  async put(userId: Id<'user'>, browser: NewPushSubscription, now: Temporal.Instant): Promise<PushSubscriptionRow> {
    const { db } = this;
    const row = { id: newId('subscription'), userId, ...browser, createdAt: now };
    const saved = await db
      .insertInto('push_subscriptions')
      .values(toColumns(PushSubscriptionEntity, row))
      .onConflict((conflict) =>
        conflict
          .column('endpoint')
          .doUpdateSet((eb) => ({
            user_id: eb.ref('excluded.user_id'),
            p256dh: eb.ref('excluded.p256dh'),
            auth: eb.ref('excluded.auth'),
            label: eb.ref('excluded.label'),
            created_at: eb.ref('excluded.created_at'),
          })),
      )
      .returning(columns(PushSubscriptionEntity, 'push_subscriptions'))
      .executeTakeFirstOrThrow();
    await db
      .deleteFrom('push_subscriptions')
      .where('user_id', '=', userId)
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('push_subscriptions')
          .select('id')
          .where('user_id', '=', userId)
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .offset(PER_USER_MAX),
      )
      .execute();
    return saved;
  }

  /** Oldest first. */
  async listOf(userId: Id<'user'>): Promise<PushSubscriptionRow[]> {
    return await this.selectFrom('push_subscriptions as s')
      .select(columns(PushSubscriptionEntity, 's'))
      .where('s.user_id', '=', userId)
      .orderBy('s.created_at')
      .orderBy('s.id')
      .limit(PER_USER_MAX)
      .execute();
  }

  /** Returns the given users who have subscribed a browser. */
  async listSubscribers(userIds: readonly Id<'user'>[]): Promise<Set<Id<'user'>>> {
    const subscribers = await this.selectFrom('push_subscriptions')
      .select('user_id')
      .distinct()
      .where('user_id', '=', anyOf([...new Set(userIds)]))
      .execute();
    return new Set(subscribers.map(({ user_id }) => user_id));
  }

  /** Null when the person has no such subscription. */
  async removeOf(userId: Id<'user'>, subscriptionId: string): Promise<PushSubscriptionRow | null> {
    const removed = await this.deleteFrom('push_subscriptions as s')
      .where('s.user_id', '=', userId)
      .where('s.id', '=', asId('subscription', subscriptionId))
      .returning(columns(PushSubscriptionEntity, 's'))
      .executeTakeFirst();
    return removed ?? null;
  }

  /** Removes one that its push service no longer knows. */
  async remove(subscriptionId: Id<'subscription'>): Promise<void> {
    await this.deleteFrom('push_subscriptions').where('id', '=', subscriptionId).execute();
  }
}
