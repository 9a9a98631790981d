import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { PhoneCodeEntity } from '#storage/postgres/entities/messages.ts';

const CODE = ['notificationId', 'phone', 'code', 'wrongTries'] as const;

export type PhoneCode = Pick<Row<typeof PhoneCodeEntity>, (typeof CODE)[number]>;

/** Claim to a number, as far as a message from it speaks for somebody. */
export type NumberClaim =
  /** The person has confirmed it. */
  | 'confirmed'
  /** Number that nobody has confirmed, of a person who has confirmed no other. */
  | 'unconfirmed'
  /** Somebody else has confirmed it, or the person has confirmed only others. */
  | 'of_another';

/** Somebody who was paged, and what about. */
export interface PagedAtNumber {
  readonly orgId: Id<'org'>;
  readonly userId: Id<'user'>;
  readonly incidentId: Id<'incident'>;
}

/** Incidents about which a phone answers. */
type AskedAbout = { readonly incidentId: Id<'incident'> } | { readonly proposalNumber: number };

/** Phone numbers (E.164) that people have confirmed, codes that confirm them, and what a reply from one may act on. */
export class PhoneNumberStore extends PostgresStore {
  async isConfirmed(userId: Id<'user'>, phone: string): Promise<boolean> {
    const confirmed = await this.selectFrom('confirmed_numbers')
      .select('phone')
      .where('user_id', '=', userId)
      .where('phone', '=', phone)
      .executeTakeFirst();
    return confirmed !== undefined;
  }

  /** Returns the person's claim to the number, for a message from it that is to speak for this person. */
  async claimOf(userId: Id<'user'>, phone: string): Promise<NumberClaim> {
    const confirmed = await this.selectFrom('confirmed_numbers as c')
      .select(({ eb }) => [
        eb
          .and([eb('c.user_id', '=', userId), eb('c.phone', '=', phone)])
          .$castTo<boolean>()
          .as('isThisOne'),
      ])
      .where(({ eb, or, and, exists, selectFrom }) =>
        or([
          eb('c.user_id', '=', userId),
          and([
            eb('c.phone', '=', phone),
            exists(selectFrom('memberships as m').select('m.user_id').whereRef('m.user_id', '=', 'c.user_id')),
          ]),
        ]),
      )
      .execute();
    if (confirmed.some(({ isThisOne }) => isThisOne)) return 'confirmed';
    return confirmed.length === 0 ? 'unconfirmed' : 'of_another';
  }

  async listConfirmed(userId: Id<'user'>): Promise<string[]> {
    const numbers = await this.selectFrom('confirmed_numbers')
      .select('phone')
      .where('user_id', '=', userId)
      .orderBy('confirmed_at')
      .limit(100)
      .execute();
    return numbers.map(({ phone }) => phone);
  }

  /** The confirmed numbers of each of these people who has any. */
  async listConfirmedOf(userIds: readonly Id<'user'>[]): Promise<Map<Id<'user'>, ReadonlySet<string>>> {
    const numbers = await this.selectFrom('confirmed_numbers as c')
      .select(['c.user_id as userId', 'c.phone'])
      .where('c.user_id', '=', anyOf([...new Set(userIds)]))
      .execute();
    const byUser = Map.groupBy(numbers, ({ userId }) => userId);
    return new Map([...byUser].map(([userId, numbers]) => [userId, new Set(numbers.map(({ phone }) => phone))]));
  }

  /** Confirms a number by the code in a message; null where nobody has sent one. */
  async confirm(
    userId: Id<'user'>,
    phone: string,
    now: Temporal.Instant,
    codeId: Id<'notification'> | null = null,
  ): Promise<void> {
    const { db } = this;
    await db
      .insertInto('confirmed_numbers')
      .values(({ selectFrom }) => ({
        user_id: userId,
        phone,
        confirmed_at: now,
        code_provider_id:
          codeId === null ? null : selectFrom('notifications').select('provider_id').where('id', '=', codeId),
      }))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await db.deleteFrom('phone_codes').where('user_id', '=', userId).where('phone', '=', phone).execute();
  }

  /**
   * Forgets the numbers that were confirmed, and the codes that wait, by messages whose ids at the provider match a
   * pattern of `LIKE`: those of the phone simulator have reached no phone. Returns how many numbers are to be confirmed again.
   */
  async forgetConfirmedBy(providerIds: string): Promise<number> {
    const { db } = this;
    await db
      .deleteFrom('phone_codes')
      .where('notification_id', 'in', ({ selectFrom }) =>
        selectFrom('notifications').select('id').where('kind', '=', 'code').where('provider_id', 'like', providerIds),
      )
      .execute();
    const forgotten = await db.deleteFrom('confirmed_numbers').where('code_provider_id', 'like', providerIds).execute();
    return rowsChanged(forgotten);
  }

  async insertCode(
    { notificationId, userId, phone, code }: Omit<PhoneCode, 'wrongTries'> & { readonly userId: Id<'user'> },
    expiresAt: Temporal.Instant,
  ): Promise<void> {
    const row = { notificationId, userId, phone, code, expiresAt };
    await this.insertInto('phone_codes').values(toColumns(PhoneCodeEntity, row)).execute();
  }

  /** The code that a message carries; null once it was used. */
  async findCodeOf(notificationId: Id<'notification'>): Promise<string | null> {
    const row = await this.selectFrom('phone_codes')
      .select('code')
      .where('notification_id', '=', notificationId)
      .executeTakeFirst();
    return row?.code ?? null;
  }

  /** The newest code for this number that has not expired, locked; null without one. */
  async lockCode(userId: Id<'user'>, phone: string, now: Temporal.Instant): Promise<PhoneCode | null> {
    const code = await this.selectFrom('phone_codes as c')
      .select(columns(PhoneCodeEntity, 'c', CODE))
      .where('c.user_id', '=', userId)
      .where('c.phone', '=', phone)
      .where('c.expires_at', '>', now)
      .orderBy('c.expires_at', 'desc')
      .limit(1)
      .forUpdate()
      .executeTakeFirst();
    return code ?? null;
  }

  async countWrongTry(notificationId: Id<'notification'>): Promise<void> {
    await this.updateTable('phone_codes')
      .set(({ eb }) => ({ wrong_tries: eb('wrong_tries', '+', 1) }))
      .where('notification_id', '=', notificationId)
      .execute();
  }

  /** Whether the number belongs to somebody: a member's, somebody's own, or confirmed by its owner. */
  async isKnown(phone: string): Promise<boolean> {
    const row = await this.selectFrom('team_members')
      .select('user_id')
      .where('phone', '=', phone)
      .unionAll(({ selectFrom }) => selectFrom('memberships').select('user_id').where('phone', '=', phone))
      .unionAll(({ selectFrom }) =>
        selectFrom('confirmed_numbers as c')
          .innerJoin('memberships as m', 'm.user_id', 'c.user_id')
          .select('c.user_id')
          .where('c.phone', '=', phone),
      )
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Lists the people for whom a message from this number may speak, in every organization: people who were paged at it
   * by SMS or call, and people who have confirmed it and were paged in another way. Once somebody has confirmed it, it
   * speaks for nobody who has not; people who have confirmed only other numbers are left out. Covers one incident
   * number, or with null all that wait for an answer. Several organizations may have an incident of the number, where
   * no message to this phone has named it: the one that is open is meant, and of several that are the one that was
   * paged about last.
   */
  async listPagedAt(phone: string, number: number | null): Promise<PagedAtNumber[]> {
    const asked = this.#askedAt(phone, { number });
    return await this.db
      .with('asked', () => asked)
      .selectFrom('asked')
      .select(['asked.orgId', 'asked.userId', 'asked.incidentId'])
      .$if(number !== null, (query) =>
        query.where('asked.incidentId', '=', ({ selectFrom }) =>
          selectFrom('asked')
            .select('asked.incidentId')
            .orderBy('asked.isOpen', 'desc')
            .orderBy('asked.at', 'desc')
            .limit(1),
        ),
      )
      .orderBy('asked.isUnconfirmed')
      .orderBy('asked.orgId')
      .orderBy('asked.userId')
      .orderBy('asked.incidentId')
      .limit(5000)
      .execute();
  }

  /** The incidents about which `listPagedAt` may speak and which nobody has resolved, the newest page first. */
  async listOpen(
    phone: string,
    limit: number,
  ): Promise<{ incidentId: Id<'incident'>; number: number; isWaiting: boolean }[]> {
    const open = this.#askedAt(phone, { number: null, acknowledgedToo: true }).clearGroupBy();
    return await this.selectFrom(
      open
        .clearSelect()
        .select(({ eb, fn }) => [
          'i.number',
          'i.id',
          eb('i.status', '=', 'triggered').$castTo<boolean>().as('isWaiting'),
          fn.max('page.created_at').as('at'),
        ])
        .groupBy(['i.id', 'i.number', 'i.status'])
        .as('open'),
    )
      .select(['open.id as incidentId', 'open.number', 'open.isWaiting'])
      .orderBy('open.isWaiting', 'desc')
      .orderBy('open.at', 'desc')
      .limit(limit)
      .execute();
  }

  /** Lists people as `listPagedAt` does, for an incident, or for those about which there is a proposal of this number. */
  async listPagedAbout(phone: string, about: AskedAbout): Promise<PagedAtNumber[]> {
    return await this.#askedAt(phone, about)
      .clearSelect()
      .select(({ eb }) => [
        'page.org_id as orgId',
        'page.user_id as userId',
        'i.id as incidentId',
        eb('own.user_id', 'is', null).as('isUnconfirmed'),
      ])
      .orderBy('isUnconfirmed')
      .orderBy('page.org_id')
      .orderBy('page.user_id')
      .orderBy('i.id')
      .limit(5000)
      .execute();
  }

  /** Notes that the owner of a number has stopped SMS. The first time counts. */
  async stopSms(phone: string, now: Temporal.Instant): Promise<void> {
    await this.insertInto('sms_opt_outs')
      .values({ phone, since: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** Notes that SMS reach the number again, as far as was known at `asOf`: a later STOP stays. False if none was stopped. */
  async resumeSms(phone: string, asOf: Temporal.Instant): Promise<boolean> {
    const resumed = await this.deleteFrom('sms_opt_outs')
      .where('phone', '=', phone)
      .where('since', '<=', asOf)
      .execute();
    return rowsChanged(resumed) > 0;
  }

  /** The numbers of these people, of their own or in a team of the organization, to which SMS are stopped. */
  async listStoppedOf(orgId: Id<'org'>, userIds: readonly Id<'user'>[]): Promise<ReadonlySet<string>> {
    const stopped = await this.selectFrom('sms_opt_outs as o')
      .select('o.phone')
      .where(
        'o.phone',
        'in',
        this.selectFrom('team_members as t')
          .select('t.phone')
          .where('t.org_id', '=', orgId)
          .where('t.user_id', '=', anyOf([...new Set(userIds)]))
          .where('t.phone', 'is not', null)
          .unionAll(({ selectFrom }) =>
            selectFrom('memberships as m')
              .select('m.phone')
              .where('m.org_id', '=', orgId)
              .where('m.user_id', '=', anyOf([...new Set(userIds)]))
              .where('m.phone', 'is not', null),
          )
          .$castTo<{ phone: string }>(),
      )
      .execute();
    return new Set(stopped.map(({ phone }) => phone));
  }

  /** The hash of the PIN that the person has set for replies; null without one. */
  async findPin(userId: Id<'user'>): Promise<string | null> {
    const pin = await this.selectFrom('reply_pins').select('pin_hash').where('user_id', '=', userId).executeTakeFirst();
    return pin?.pin_hash ?? null;
  }

  async setPin(userId: Id<'user'>, pinHash: string | null): Promise<void> {
    const { db } = this;
    await db.deleteFrom('reply_pins').where('user_id', '=', userId).execute();
    if (pinHash === null) return;
    await db.insertInto('reply_pins').values({ user_id: userId, pin_hash: pinHash }).execute();
  }

  /** Pages that their receivers may have got: by themselves, or as part of a digest. */
  #pagesThatLeft() {
    return this.selectFrom('notifications as n')
      .select(['n.org_id', 'n.user_id', 'n.incident_id', 'n.created_at'])
      .where('n.kind', '=', 'page')
      .where(({ eb, or }) =>
        or([eb('n.status', 'in', ['sending', 'sent', 'delivered', 'failed']), eb('n.digest_id', 'is not', null)]),
      );
  }

  /** Selects who was paged about what, by this number or as its owner. */
  #askedAt(phone: string, of: { readonly number: number | null; readonly acknowledgedToo?: boolean } | AskedAbout) {
    const pages = this.#pagesThatLeft()
      .where('n.address', '=', phone)
      .where('n.channel', 'in', ['sms', 'call'])
      .unionAll(
        this.#pagesThatLeft()
          .innerJoin('confirmed_numbers as c', 'c.user_id', 'n.user_id')
          .where('c.phone', '=', phone),
      );
    return this.selectFrom(pages.as('page'))
      .innerJoin('incidents as i', 'i.id', 'page.incident_id')
      .innerJoin('memberships as m', (join) =>
        join.onRef('m.org_id', '=', 'page.org_id').onRef('m.user_id', '=', 'page.user_id'),
      )
      .leftJoin('confirmed_numbers as own', (join) =>
        join.onRef('own.user_id', '=', 'page.user_id').on('own.phone', '=', phone),
      )
      .select(({ eb, fn }) => [
        'page.org_id as orgId',
        'page.user_id as userId',
        'i.id as incidentId',
        fn.max('page.created_at').as('at'),
        eb('own.user_id', 'is', null).as('isUnconfirmed'),
        eb('i.status', '<>', 'resolved').as('isOpen'),
      ])
      .where(({ eb, or, not, exists, selectFrom }) => {
        const others = selectFrom('confirmed_numbers as c')
          .select('c.phone')
          .whereRef('c.user_id', '=', 'page.user_id');
        const ofAnother = selectFrom('confirmed_numbers as c')
          .innerJoin('memberships as o', 'o.user_id', 'c.user_id')
          .select('c.phone')
          .where('c.phone', '=', phone);
        return or([eb('own.user_id', 'is not', null), not(or([exists(others), exists(ofAnother)]))]);
      })
      .where(({ eb, selectFrom }) => {
        if ('incidentId' in of) return eb('i.id', '=', of.incidentId);
        if ('proposalNumber' in of) {
          const proposals = selectFrom('proposals').select('incident_id').where('number', '=', of.proposalNumber);
          return eb('i.id', 'in', proposals);
        }
        if (of.number !== null) return eb('i.number', '=', of.number);
        return of.acknowledgedToo === true ? eb('i.status', '<>', 'resolved') : eb('i.status', '=', 'triggered');
      })
      .groupBy(['page.org_id', 'page.user_id', 'i.id', 'own.user_id', 'i.status']);
  }
}
