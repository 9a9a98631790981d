import { Migration } from '@mikro-orm/migrations';

/** Message whose code confirmed a number, by its id at the provider: one of the phone simulator proves nothing later. */
export class CodesOfNumbers extends Migration {
  override up(): void {
    this.addSql(`
      alter table confirmed_numbers add column code_provider_id text;
      update confirmed_numbers c set code_provider_id = (
        select n.provider_id from notifications n
        where n.user_id = c.user_id and n.kind = 'code' and n.address = c.phone and n.created_at <= c.confirmed_at
        order by n.created_at desc limit 1);
    `);
  }
}
