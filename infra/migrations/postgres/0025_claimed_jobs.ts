import { Migration } from '@mikro-orm/migrations';

/** Process that runs a durable job, so that others free the jobs of one that is frozen or gone. */
export class ClaimedJobs extends Migration {
  override up(): void {
    this.addSql('alter table durable_jobs add column claimed_by text');
  }
}
