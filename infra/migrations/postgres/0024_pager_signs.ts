import { Migration } from '@mikro-orm/migrations';

/**
 * API processes report here how old the data is that waits on their disk. Periodic work that shows the health of the pager counts
 * as done at installation, so that it is not reported late before its first run.
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
