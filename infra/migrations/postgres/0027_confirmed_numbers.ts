import { Migration } from '@mikro-orm/migrations';

/**
 * Confirmed phone numbers, codes that were sent to confirm one, and PINs that replies must contain if a person has set one.
 * Messages about a number belong to no incident.
 */
export class ConfirmedNumbers extends Migration {
  override up(): void {
    this.addSql(`
      create table confirmed_numbers (
        user_id text not null references users on delete cascade,
        phone text not null,
        confirmed_at timestamptz(3) not null,
        primary key (user_id, phone)
      );
      create index confirmed_numbers_by_phone on confirmed_numbers (phone);

      create table phone_codes (
        notification_id text primary key references notifications on delete cascade,
        user_id text not null references users on delete cascade,
        phone text not null,
        code text not null,
        wrong_tries integer not null default 0,
        expires_at timestamptz(3) not null
      );
      create index phone_codes_by_user on phone_codes (user_id, expires_at);

      create table reply_pins (
        user_id text primary key references users on delete cascade,
        pin_hash text not null,
        wrong_tries integer not null default 0,
        locked_until timestamptz(3)
      );

      alter table notifications
        drop constraint notifications_kind_check,
        add constraint notifications_kind_check
          check (kind in ('page', 'update', 'digest', 'test', 'code', 'number_changed', 'member_number_changed')),
        drop constraint notifications_about_check,
        add constraint notifications_about_check check ((incident_id is null) = (kind not in ('page', 'update')));
      create index notifications_by_address on notifications (address, created_at)
        where kind = 'page' and channel in ('sms', 'call');
    `);
  }
}
