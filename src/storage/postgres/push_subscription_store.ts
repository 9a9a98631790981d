import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A browser that a person has subscribed. It is the person's, in every organization. */
export interface PushSubscriptionRow {
  readonly id: Id<'subscription'>;
  readonly userId: Id<'user'>;
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
  /** What the person knows it by. */
  readonly label: string;
  readonly createdAt: Temporal.Instant;
}

export type NewPushSubscription = Pick<PushSubscriptionRow, 'endpoint' | 'p256dh' | 'auth' | 'label'>;

const COLUMNS = `id, user_id as "userId", endpoint, p256dh, auth, label, created_at as "createdAt"`;

/** A person who subscribes more browsers than this loses the oldest. */
const PER_USER_MAX = 20;

export class PushSubscriptionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** A browser that subscribes again, also as somebody else, is that person's from then on. */
  async put(userId: Id<'user'>, browser: NewPushSubscription, now: Temporal.Instant): Promise<PushSubscriptionRow> {
    const row = await this.#session.sql.row<PushSubscriptionRow>(
      `insert into push_subscriptions (id, user_id, endpoint, p256dh, auth, label, created_at)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (endpoint) do update set user_id = excluded.user_id, p256dh = excluded.p256dh, auth = excluded.auth,
         label = excluded.label, created_at = excluded.created_at
       returning ${COLUMNS}`,
      [newId('subscription'), userId, browser.endpoint, browser.p256dh, browser.auth, browser.label, now.toString()],
    );
    await this.#session.sql.run(
      `delete from push_subscriptions where user_id = $1 and id in (
         select id from push_subscriptions where user_id = $1 order by created_at desc, id desc offset $2)`,
      [userId, PER_USER_MAX],
    );
    if (row === null) throw new Error('an upsert returns its row');
    return row;
  }

  /** Oldest first. */
  async listOf(userId: Id<'user'>): Promise<PushSubscriptionRow[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} from push_subscriptions where user_id = $1 order by created_at, id limit $2`,
      [userId, PER_USER_MAX],
    );
  }

  /** Those of the given users who have subscribed a browser. */
  async listSubscribers(userIds: readonly Id<'user'>[]): Promise<Set<Id<'user'>>> {
    const rows = await this.#session.sql.rows<{ userId: Id<'user'> }>(
      'select distinct user_id as "userId" from push_subscriptions where user_id = any($1)',
      [[...new Set(userIds)]],
    );
    return new Set(rows.map(({ userId }) => userId));
  }

  /** Null when the person has no such subscription. */
  async removeOf(userId: Id<'user'>, subscriptionId: string): Promise<PushSubscriptionRow | null> {
    return await this.#session.sql.row(
      `delete from push_subscriptions where user_id = $1 and id = $2 returning ${COLUMNS}`,
      [userId, subscriptionId],
    );
  }

  /** Forgets one that its push service no longer knows. */
  async remove(subscriptionId: Id<'subscription'>): Promise<void> {
    await this.#session.sql.run('delete from push_subscriptions where id = $1', [subscriptionId]);
  }
}
