import { Migration } from '@mikro-orm/migrations';

/**
 * How somebody is reached who is in no team of an incident: named by a step, or on call by an override. Each sets it for
 * themselves. Without it they are reached by mail and push, as before.
 */
export class OwnContacts extends Migration {
  override up(): void {
    this.addSql(`
      alter table memberships
        add column phone text,
        add column sms_enabled boolean not null default true,
        add column call_enabled boolean not null default true,
        add column push_enabled boolean not null default true,
        add column email_enabled boolean not null default true;
      create index memberships_by_phone on memberships (phone) where phone is not null;
    `);
  }
}
