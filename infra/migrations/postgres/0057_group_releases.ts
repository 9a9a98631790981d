import { Migration } from '@mikro-orm/migrations';

/**
 * What is known of groups by release: where people say that one is fixed, as long as that decision stands
 * (`decided_at` is the group's `status_changed_at`), and in which releases one came back. Deploys are
 * counted by when they were told of.
 */
export class GroupReleases extends Migration {
  override up(): void {
    this.addSql(`
      create table group_fixes (
        group_id text not null references exception_groups on delete cascade,
        decided_at timestamptz(3) not null,
        kind text not null,
        release text not null,
        known_releases json not null,
        primary key (group_id, decided_at)
      );

      create table group_regressions (
        group_id text not null references exception_groups on delete cascade,
        release text not null,
        service_id text not null references services on delete cascade,
        at timestamptz(3) not null,
        primary key (group_id, release)
      );
      create index group_regressions_by_release on group_regressions (service_id, release);

      create index deploys_by_creation on deploys (service_id, created_at);
    `);
  }
}
