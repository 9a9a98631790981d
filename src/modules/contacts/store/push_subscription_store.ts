import { type Expression, expressionBuilder, sql, type SqlBool } from 'kysely';

import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import type { Tables } from '#storage/postgres/tables.ts';
import { PushSubscriptionEntity } from '#storage/postgres/entities/messages.ts';

/** A browser that a person has subscribed, for every organization or for some. */
export type PushSubscriptionRow = Row<typeof PushSubscriptionEntity>;

export type NewPushSubscription = Pick<PushSubscriptionRow, 'endpoint' | 'p256dh' | 'auth' | 'label'>;

/** A person who subscribes more browsers than this, for the same organizations, loses the oldest. */
const PER_USER_MAX = 20;

export class PushSubscriptionStore extends PostgresStore {
  /**
   * Subscribes a browser for all organizations, or for one: whoever runs its provider can sign in as the person. A browser
   * that subscribes again, also as somebody else, is that person's from then on; it keeps organizations that it had as theirs.
   */
  async put(
    userId: Id<'user'>,
    browser: NewPushSubscription,
    now: Temporal.Instant,
    orgId: Id<'org'> | null = null,
  ): Promise<PushSubscriptionRow> {
    const { db } = this;
    const orgIds = orgId === null ? null : [orgId];
    const row = { id: newId('subscription'), userId, ...browser, orgIds, createdAt: now };
    const saved = await db
      .insertInto('push_subscriptions')
      .values(toColumns(PushSubscriptionEntity, row))
      .onConflict((conflict) =>
        conflict.column('endpoint').doUpdateSet((eb) => ({
          user_id: eb.ref('excluded.user_id'),
          p256dh: eb.ref('excluded.p256dh'),
          auth: eb.ref('excluded.auth'),
          label: eb.ref('excluded.label'),
          org_ids: sql<Id<'org'>[] | null>`case
              when ${sql.ref('push_subscriptions.user_id')} <> ${sql.ref('excluded.user_id')} then ${sql.ref('excluded.org_ids')}
              when ${sql.ref('push_subscriptions.org_ids')} is null or ${sql.ref('excluded.org_ids')} is null then null
              else array(select distinct unnest(${sql.ref('push_subscriptions.org_ids')} || ${sql.ref('excluded.org_ids')}) order by 1)
              end`,
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
          .where(({ ref }) => sql<boolean>`${ref('org_ids')} is not distinct from ${saved.orgIds}::text[]`)
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .offset(PER_USER_MAX),
      )
      .execute();
    return saved;
  }

  /** Lists the newest browsers that get messages of the organization to the person, oldest first. */
  async listOf(orgId: Id<'org'>, userId: Id<'user'>): Promise<PushSubscriptionRow[]> {
    const newest = await this.selectFrom('push_subscriptions as s')
      .select(columns(PushSubscriptionEntity, 's'))
      .where('s.user_id', '=', userId)
      .where(getsMessagesOf(orgId))
      .orderBy('s.created_at', 'desc')
      .orderBy('s.id', 'desc')
      .limit(2 * PER_USER_MAX)
      .execute();
    return newest.toReversed();
  }

  /** Returns the given users who have subscribed a browser to messages of the organization. */
  async listSubscribers(orgId: Id<'org'>, userIds: readonly Id<'user'>[]): Promise<Set<Id<'user'>>> {
    const subscribers = await this.selectFrom('push_subscriptions as s')
      .select('s.user_id')
      .distinct()
      .where('s.user_id', '=', anyOf([...new Set(userIds)]))
      .where(getsMessagesOf(orgId))
      .execute();
    return new Set(subscribers.map(({ user_id }) => user_id));
  }

  /** Returns the subscription of the person, locked; null when there is none. */
  async lock(userId: Id<'user'>, subscriptionId: string): Promise<PushSubscriptionRow | null> {
    const row = await this.selectFrom('push_subscriptions as s')
      .select(columns(PushSubscriptionEntity, 's'))
      .where('s.user_id', '=', userId)
      .where('s.id', '=', asId('subscription', subscriptionId))
      .forUpdate()
      .executeTakeFirst();
    return row ?? null;
  }

  /** Removes one that its push service no longer knows. */
  async remove(subscriptionId: Id<'subscription'>): Promise<void> {
    await this.deleteFrom('push_subscriptions').where('id', '=', subscriptionId).execute();
  }
}

/** Condition on `push_subscriptions as s`: it gets messages of the organization. */
export function getsMessagesOf(orgId: Id<'org'>): Expression<SqlBool> {
  const { eb, or, val } = expressionBuilder<Tables & { s: Tables['push_subscriptions'] }, 's'>();
  return or([eb('s.org_ids', 'is', null), eb(val(orgId), '=', anyOf(eb.ref('s.org_ids').$notNull()))]);
}
