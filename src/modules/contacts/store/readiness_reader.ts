import { type Expression, expressionBuilder, type SqlBool } from 'kysely';

import { type Channel, CHANNELS, declarationOf } from '#modules/contacts/decide/channel.ts';
import { UNCONFIRMED } from '#modules/notifications/decide/retry.ts';
import type { Arrival } from '#modules/contacts/decide/readiness.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Tables } from '#storage/postgres/tables.ts';
import { getsMessagesOf } from '#modules/contacts/store/push_subscription_store.ts';
import { anyOf, PostgresStore, rowsOf } from '#storage/postgres/store.ts';

/** The devices that somebody has subscribed to push. */
export interface Devices {
  readonly count: number;
  /** Time at which the oldest was subscribed. */
  readonly since: Temporal.Instant;
}

export type ArrivalAtPerson = Arrival & { readonly userId: Id<'user'> };

/** Channels that report no arrival: there, acceptance by the provider is as good as it gets. */
const WITHOUT_REPORTS: readonly Channel[] = CHANNELS.filter((channel) => !declarationOf(channel).reportsArrival);

/** Channels whose arrival says nothing of a person: voicemail and screening answer, too. */
const CALLS: readonly Channel[] = CHANNELS.filter((channel) => declarationOf(channel).isCall);

/**
 * Whether a message `n` shows that its receiver is reached: a test, a page or a digest of pages. A call counts once a key
 * was pressed in it; whatever was answered counts, whether or not its arrival was reported. What the provider may not even
 * have taken shows nothing, nor does what went to the phone simulator, whose ids match `simulatedIds`.
 */
export function hasArrived(simulatedIds: string): Expression<SqlBool> {
  const n = expressionBuilder<Tables & { n: Tables['notifications'] }, 'n'>();
  return n.and([
    n('n.released_at', 'is not', null),
    n('n.kind', 'in', ['test', 'page', 'digest']),
    n.or([n('n.provider_id', 'is', null), n('n.provider_id', 'not like', simulatedIds)]),
    n.or([
      n('n.answered_at', 'is not', null),
      n.and([n('n.status', '=', 'delivered'), n('n.channel', 'not in', [...CALLS])]),
      n.and([
        n('n.status', '=', 'sent'),
        n('n.channel', 'in', [...WITHOUT_REPORTS]),
        n('n.reason', 'is distinct from', UNCONFIRMED),
      ]),
    ]),
  ]);
}

/** Reads what shows that people can be reached. */
export class ReadinessReader extends PostgresStore {
  /** Returns the devices that get messages of the organization, of the users who have any. */
  async listDevices(orgId: Id<'org'>, userIds: readonly Id<'user'>[]): Promise<Map<Id<'user'>, Devices>> {
    const rows = await this.selectFrom('push_subscriptions as s')
      .select(({ fn }) => [
        's.user_id as userId',
        fn.countAll<number>().as('count'),
        fn.agg<Temporal.Instant>('min', ['s.created_at']).as('since'),
      ])
      .where('s.user_id', '=', anyOf([...new Set(userIds)]))
      .where(getsMessagesOf(orgId))
      .groupBy('s.user_id')
      .execute();
    return new Map(rows.map(({ userId, count, since }) => [userId, { count, since }]));
  }

  /** The last message of the organization that reached each of them (see `hasArrived`), by channel and address. */
  async listArrivals(
    orgId: Id<'org'>,
    userIds: readonly Id<'user'>[],
    simulatedIds: string,
  ): Promise<ArrivalAtPerson[]> {
    const asked = [...new Set(userIds)].flatMap((userId) => CHANNELS.map((channel) => ({ userId, channel })));
    if (asked.length === 0) return [];
    const places = rowsOf('asked', {
      user_id: ['text', asked.map(({ userId }) => userId)],
      channel: ['text', asked.map(({ channel }) => channel)],
    });
    return await this.selectFrom(places)
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom('notifications as n')
            .select(['n.user_id as userId', 'n.channel', 'n.address'])
            .select(({ fn }) => fn.max(fn.coalesce('n.answered_at', 'n.updated_at')).as('at'))
            .whereRef('n.user_id', '=', 'asked.user_id')
            .whereRef('n.channel', '=', 'asked.channel')
            .where('n.org_id', '=', orgId)
            .where(hasArrived(simulatedIds))
            .groupBy(['n.user_id', 'n.channel', 'n.address'])
            .as('last'),
        (join) => join.onTrue(),
      )
      .select(['last.userId', 'last.channel', 'last.address', 'last.at'])
      .execute();
  }
}
