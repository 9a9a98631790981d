import { Migration } from '@mikro-orm/migrations';

/**
 * Stores the payload as bytes instead of JSON, and gives rows that wait for the same wake-up one id instead of one each. Waiting
 * rows, `{"packed": "<length or plain>:<base64>"}`, are converted to four bytes of length (0 for plain) and the bytes.
 */
export class KeptBytes extends Migration {
  override up(): void {
    this.addSql(`
      alter table kept_jobs rename column id to kept_id;
      alter table kept_jobs add column number integer not null default 0;
      alter table kept_jobs alter column number drop default;
      alter table kept_jobs drop constraint kept_jobs_pkey;
      alter table kept_jobs add primary key (kept_id, number);
      alter table kept_jobs alter column payload type bytea using
        decode(lpad(to_hex(case split_part(payload->>'packed', ':', 1)
          when 'plain' then 0 else split_part(payload->>'packed', ':', 1)::integer end), 8, '0'), 'hex')
        || decode(split_part(payload->>'packed', ':', 2), 'base64');
      alter table kept_jobs alter column payload set storage external;
    `);
  }
}
