import { Migration } from '@mikro-orm/migrations';

/** State of created issues as their tracker told it last. */
export class IssueStates extends Migration {
  override up(): void {
    this.addSql(`
      alter table group_issues
        add column state text,
        add column is_done boolean not null default false,
        add column state_at timestamptz(3),
        add column asked_at timestamptz(3);
    `);
  }
}
