import { Migration } from '@mikro-orm/migrations';

/**
 * Since when it is known that a person reads mail to the address of an account: they used a link that went there and nowhere
 * else. Accounts that are there already count as proven: nobody can tell, and ending their second factors would let whoever
 * reads the mail in.
 */
export class ProvenAddresses extends Migration {
  override up(): void {
    this.addSql(`
      alter table users add column address_proven_at timestamptz(3);
      update users set address_proven_at = created_at;
      alter table password_resets add column is_mailed boolean not null default false;
      alter table invitations add column mailed_token_hash bytea unique;
    `);
  }
}
