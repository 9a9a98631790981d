import { sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type Channel, CHANNELS, declarationOf } from '#modules/contacts/decide/channel.ts';
import { ASK_EVERY_DAYS, ASKS_MAX } from '#modules/contacts/decide/number_campaign.ts';
import { hasArrived } from '#modules/contacts/store/readiness_reader.ts';
import { columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { NumberCampaignEntity } from '#storage/postgres/entities/moving_in.ts';

/** Days for which a message that arrived shows that a person is reached. */
const ARRIVED_DAYS = 90;

/** A member of a team, with what is known of their numbers. */
export interface PersonInCampaign {
  readonly userId: Id<'user'>;
  readonly name: string;
  readonly hasNumber: boolean;
  readonly hasUnconfirmed: boolean;
  readonly isTested: boolean;
  readonly times: number | null;
  readonly askedAt: Temporal.Instant | null;
}

const WAKING: readonly Channel[] = CHANNELS.filter((channel) => declarationOf(channel).wakes);

/**
 * Campaigns that ask the members of teams to confirm their numbers and to receive a test. What the phone simulator took,
 * with ids that match `simulatedIds`, is no test.
 */
export class NumberCampaignStore extends PostgresStore {
  async find(orgId: Id<'org'>): Promise<Row<typeof NumberCampaignEntity> | null> {
    const campaign = await this.selectFrom('number_campaigns as c')
      .select(columns(NumberCampaignEntity, 'c'))
      .where('c.org_id', '=', orgId)
      .executeTakeFirst();
    return campaign ?? null;
  }

  async listOrganizations(): Promise<Id<'org'>[]> {
    const campaigns = await this.selectFrom('number_campaigns').select('org_id as orgId').execute();
    return campaigns.map(({ orgId }) => orgId);
  }

  /** Begins a campaign unless there is one; whether there was none. */
  async start(orgId: Id<'org'>, startedBy: string | null, now: Temporal.Instant): Promise<boolean> {
    const inserted = await this.insertInto('number_campaigns')
      .values(toColumns(NumberCampaignEntity, { orgId, since: now, startedBy }))
      .onConflict((at) => at.doNothing())
      .execute();
    return rowsChanged(inserted) === 1;
  }

  async stop(orgId: Id<'org'>): Promise<void> {
    await this.deleteFrom('number_campaigns').where('org_id', '=', orgId).execute();
  }

  /** Lists the people who still have something to do, by name. */
  async listOpen(
    orgId: Id<'org'>,
    simulatedIds: string,
    now: Temporal.Instant,
    limit: number,
  ): Promise<PersonInCampaign[]> {
    return await this.#open(orgId, simulatedIds, now).orderBy('p.name').orderBy('p.userId').limit(limit).execute();
  }

  /** Counts the members of teams, and those who have done everything. */
  async count(
    orgId: Id<'org'>,
    simulatedIds: string,
    now: Temporal.Instant,
  ): Promise<{ people: number; done: number }> {
    const row = await this.selectFrom(this.#people(orgId, simulatedIds, now).as('p'))
      .select(({ fn }) => fn.countAll<number>().as('people'))
      .select(({ fn, and, eb }) =>
        fn
          .countAll<number>()
          .filterWhere(
            and([eb('p.hasNumber', '=', true), eb('p.hasUnconfirmed', '=', false), eb('p.isTested', '=', true)]),
          )
          .as('done'),
      )
      .executeTakeFirst();
    return { people: row?.people ?? 0, done: row?.done ?? 0 };
  }

  /** Lists whose turn it is to be asked: who never was, or some days ago, and not too often. */
  async listDue(orgId: Id<'org'>, simulatedIds: string, now: Temporal.Instant, limit: number): Promise<Id<'user'>[]> {
    const due = await this.#open(orgId, simulatedIds, now)
      .where(({ or, and, eb }) =>
        or([
          eb('p.times', 'is', null),
          and([eb('p.times', '<', ASKS_MAX), eb('p.askedAt', '<=', now.subtract({ hours: 24 * ASK_EVERY_DAYS }))]),
        ]),
      )
      .orderBy('p.userId')
      .limit(limit)
      .execute();
    return due.map(({ userId }) => userId);
  }

  /** Records that a person is asked; false if somebody else has just asked them. */
  async recordAsk(orgId: Id<'org'>, userId: Id<'user'>, now: Temporal.Instant): Promise<boolean> {
    const asked = await this.insertInto('number_asks')
      .values({ org_id: orgId, user_id: userId, times: 1, asked_at: now })
      .onConflict((at) =>
        at
          .columns(['org_id', 'user_id'])
          .doUpdateSet(({ eb, ref, val }) => ({ times: eb(ref('number_asks.times'), '+', 1), asked_at: val(now) }))
          .where('number_asks.asked_at', '<=', now.subtract({ hours: 24 * ASK_EVERY_DAYS })),
      )
      .execute();
    return rowsChanged(asked) === 1;
  }

  /** Whether this person still has something to do. */
  async isOpen(orgId: Id<'org'>, userId: Id<'user'>, simulatedIds: string, now: Temporal.Instant): Promise<boolean> {
    return (await this.#open(orgId, simulatedIds, now).where('p.userId', '=', userId).executeTakeFirst()) !== undefined;
  }

  #open(orgId: Id<'org'>, simulatedIds: string, now: Temporal.Instant) {
    return this.selectFrom(this.#people(orgId, simulatedIds, now).as('p'))
      .selectAll('p')
      .where(({ or, eb }) =>
        or([eb('p.hasNumber', '=', false), eb('p.hasUnconfirmed', '=', true), eb('p.isTested', '=', false)]),
      );
  }

  /** Members of teams, for whom somebody may be paged. */
  #people(orgId: Id<'org'>, simulatedIds: string, now: Temporal.Instant) {
    return this.selectFrom('memberships as m')
      .innerJoin('users as u', 'u.id', 'm.user_id')
      .leftJoin('number_asks as a', (join) =>
        join.onRef('a.org_id', '=', 'm.org_id').onRef('a.user_id', '=', 'm.user_id'),
      )
      .where('m.org_id', '=', orgId)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('team_members as t')
            .select('t.user_id')
            .whereRef('t.user_id', '=', 'm.user_id')
            .where('t.org_id', '=', orgId),
        ),
      )
      .select(['u.id as userId', 'u.name', 'a.times', 'a.asked_at as askedAt'])
      .select(({ or, exists, selectFrom, eb, and, not }) => {
        const inTeams = selectFrom('team_members as t')
          .select('t.user_id')
          .whereRef('t.user_id', '=', 'm.user_id')
          .where('t.org_id', '=', orgId)
          .where('t.phone', 'is not', null);
        const confirmed = selectFrom('confirmed_numbers as c')
          .select('c.phone')
          .whereRef('c.user_id', '=', 'm.user_id');
        return [
          or([eb('m.phone', 'is not', null), exists(inTeams)])
            .$castTo<boolean>()
            .as('hasNumber'),
          or([
            and([eb('m.phone', 'is not', null), not(exists(confirmed.whereRef('c.phone', '=', 'm.phone')))]),
            exists(
              inTeams.where(({ not: no, exists: there }) =>
                no(there(confirmed.where('c.phone', '=', sql<string>`${sql.ref('t.phone')}`))),
              ),
            ),
          ])
            .$castTo<boolean>()
            .as('hasUnconfirmed'),
          exists(
            selectFrom('notifications as n')
              .select('n.id')
              .whereRef('n.user_id', '=', 'm.user_id')
              .where('n.org_id', '=', orgId)
              .where('n.channel', 'in', WAKING)
              .where('n.released_at', '>', now.subtract({ hours: 24 * ARRIVED_DAYS }))
              .where(hasArrived(simulatedIds))
              .where((n) =>
                n.or([
                  n('n.address', 'is', null),
                  n('n.address', '=', n.ref('m.phone')),
                  exists(inTeams.where('t.phone', '=', sql<string>`${sql.ref('n.address')}`)),
                ]),
              ),
          )
            .$castTo<boolean>()
            .as('isTested'),
        ];
      });
  }
}
