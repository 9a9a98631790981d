import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A code on its way to a phone. */
export interface PhoneCode {
  readonly notificationId: Id<'notification'>;
  readonly phone: string;
  readonly code: string;
  readonly wrongTries: number;
}

/** The PIN that a person's replies must carry. */
export interface ReplyPin {
  readonly pinHash: string;
  readonly wrongTries: number;
  readonly lockedUntil: Temporal.Instant | null;
}

/** Somebody who was paged, and what about. */
export interface PagedAtNumber {
  readonly orgId: Id<'org'>;
  readonly userId: Id<'user'>;
  readonly incidentId: Id<'incident'>;
}

/** Phone numbers (E.164) that people have confirmed, codes that confirm them, and what a reply from one may act on. */
export class PhoneNumberStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async isConfirmed(userId: Id<'user'>, phone: string): Promise<boolean> {
    const row = await this.#session.sql.row('select 1 from confirmed_numbers where user_id = $1 and phone = $2', [
      userId,
      phone,
    ]);
    return row !== null;
  }

  async listConfirmed(userId: Id<'user'>): Promise<string[]> {
    const rows = await this.#session.sql.rows<{ phone: string }>(
      'select phone from confirmed_numbers where user_id = $1 order by confirmed_at limit 100',
      [userId],
    );
    return rows.map(({ phone }) => phone);
  }

  async confirm(userId: Id<'user'>, phone: string, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      'insert into confirmed_numbers (user_id, phone, confirmed_at) values ($1, $2, $3) on conflict do nothing',
      [userId, phone, now.toString()],
    );
    await this.#session.sql.run('delete from phone_codes where user_id = $1 and phone = $2', [userId, phone]);
  }

  async insertCode(
    code: Omit<PhoneCode, 'wrongTries'> & { readonly userId: Id<'user'> },
    expiresAt: Temporal.Instant,
  ): Promise<void> {
    await this.#session.sql.run(
      'insert into phone_codes (notification_id, user_id, phone, code, expires_at) values ($1, $2, $3, $4, $5)',
      [code.notificationId, code.userId, code.phone, code.code, expiresAt.toString()],
    );
  }

  /** The code that a message carries; null once it was used. */
  async findCodeOf(notificationId: Id<'notification'>): Promise<string | null> {
    const row = await this.#session.sql.row<{ code: string }>(
      'select code from phone_codes where notification_id = $1',
      [notificationId],
    );
    return row?.code ?? null;
  }

  /** The newest code for this number that has not expired, locked; null without one. */
  async lockCode(userId: Id<'user'>, phone: string, now: Temporal.Instant): Promise<PhoneCode | null> {
    return await this.#session.sql.row<PhoneCode>(
      `select notification_id as "notificationId", phone, code, wrong_tries as "wrongTries" from phone_codes
       where user_id = $1 and phone = $2 and expires_at > $3 order by expires_at desc limit 1 for update`,
      [userId, phone, now.toString()],
    );
  }

  async countWrongTry(notificationId: Id<'notification'>): Promise<void> {
    await this.#session.sql.run('update phone_codes set wrong_tries = wrong_tries + 1 where notification_id = $1', [
      notificationId,
    ]);
  }

  /** Whether the number belongs to somebody: a member's, or confirmed by its owner. */
  async isKnown(phone: string): Promise<boolean> {
    const row = await this.#session.sql.row(
      `select 1 from team_members where phone = $1
       union all select 1 from confirmed_numbers c join memberships using (user_id) where c.phone = $1 limit 1`,
      [phone],
    );
    return row !== null;
  }

  /**
   * Whom a message from this number may speak for, in every organization: people who were paged at it by SMS or call, and
   * people who have confirmed it and were paged in another way. Those who have confirmed it come first; whoever has
   * confirmed other numbers and not this one is left out. Of one incident number, or with null of all that wait for an
   * answer. Several organizations may have an incident of the number: the one that is open is meant, and of several that
   * are the one that was paged about last.
   */
  async listPagedAt(phone: string, number: number | null): Promise<PagedAtNumber[]> {
    return await this.#session.sql.rows<PagedAtNumber>(
      `with page as (
         select n.org_id, n.user_id, n.incident_id, n.created_at from notifications n
         where n.address = $1 and n.channel in ('sms', 'call') and n.kind = 'page' and ${HAS_LEFT}
         union all
         select n.org_id, n.user_id, n.incident_id, n.created_at from confirmed_numbers c
         join notifications n on n.user_id = c.user_id and n.kind = 'page' and ${HAS_LEFT}
         where c.phone = $1
       ), asked as (
         select page.org_id, page.user_id, page.incident_id, max(page.created_at) as at,
           own.user_id is null as is_unconfirmed, i.status <> 'resolved' as is_open
         from page join incidents i on i.id = page.incident_id
         join memberships m on m.org_id = page.org_id and m.user_id = page.user_id
         left join confirmed_numbers own on own.user_id = page.user_id and own.phone = $1
         where (own.user_id is not null or not exists (select 1 from confirmed_numbers c where c.user_id = page.user_id))
           and case when $2::bigint is null then i.status = 'triggered' else i.number = $2 end
         group by page.org_id, page.user_id, page.incident_id, own.user_id, i.status
       )
       select org_id as "orgId", user_id as "userId", incident_id as "incidentId" from asked
       where $2::bigint is null or incident_id = (select incident_id from asked order by is_open desc, at desc limit 1)
       order by is_unconfirmed, org_id, user_id, incident_id limit 5000`,
      [phone, number],
    );
  }

  async findPin(userId: Id<'user'>): Promise<ReplyPin | null> {
    return await this.#session.sql.row<ReplyPin>(
      `select pin_hash as "pinHash", wrong_tries as "wrongTries", locked_until as "lockedUntil" from reply_pins
       where user_id = $1`,
      [userId],
    );
  }

  async setPin(userId: Id<'user'>, pinHash: string | null): Promise<void> {
    await this.#session.sql.run('delete from reply_pins where user_id = $1', [userId]);
    if (pinHash === null) return;
    await this.#session.sql.run('insert into reply_pins (user_id, pin_hash) values ($1, $2)', [userId, pinHash]);
  }

  async notePinTry(
    userId: Id<'user'>,
    { wrongTries, lockedUntil }: Pick<ReplyPin, 'wrongTries' | 'lockedUntil'>,
  ): Promise<void> {
    await this.#session.sql.run('update reply_pins set wrong_tries = $2, locked_until = $3 where user_id = $1', [
      userId,
      wrongTries,
      lockedUntil?.toString() ?? null,
    ]);
  }
}

/** A page that its receiver may have got: by itself, or as part of a digest. */
const HAS_LEFT = `(n.status in ('sending', 'sent', 'delivered', 'failed') or n.digest_id is not null)`;
