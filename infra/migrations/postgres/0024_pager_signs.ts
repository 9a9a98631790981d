import { Migration } from '@mikro-orm/migrations';

/**
 * Accepted data that waits on the disk of an API process is known to all. And work by which the pager's health is seen
 * counts as done when the product is installed, so that nothing is taken for late before it could have begun.
 */
export class PagerSigns extends Migration {
  override up(): void {
    this.addSql(`
      create table spooled_data (
        folder text primary key,
        oldest_at timestamptz(3) not null,
        told_at timestamptz(3) not null
      );
      insert into leases (name, holder, held_until, done_at)
        select name, 'nobody', 'epoch', now()
        from unnest(array['evaluate_rules', 'evaluate_long_rules', 'bring_timers_back']) name
        on conflict do nothing;
    `);
  }
}
