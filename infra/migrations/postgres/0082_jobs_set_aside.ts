import { Migration } from '@mikro-orm/migrations';

/**
 * A job over which workers have died is set aside for hours, so that it does not kill every worker in turn. A run that begins
 * raises the suspicion until its worker says how it ended; a worker that died never does. Workers of the previous release
 * know neither column, and leave alone what is set aside, as it is not ready.
 */
export class JobsSetAside extends Migration {
  override up(): void {
    this.addSql(`
      alter table kept_jobs
        add column suspicion integer not null default 0,
        add column set_aside_at timestamptz(3);
      create index kept_jobs_set_aside on kept_jobs (service_id) where set_aside_at is not null;
    `);
  }
}
