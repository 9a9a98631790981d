import { Migration } from '@mikro-orm/migrations';

/**
 * Workers take durable jobs in turns: by organization, and within an organization by service. Rows of
 * the previous release have no owner and share one turn. `ready_at` is in the future while a worker runs the job or the job
 * waits for a retry.
 */
export class FairTurns extends Migration {
  override up(): void {
    this.addSql(`
      alter table kept_jobs
        add column org_id text not null default '',
        add column service_id text not null default '',
        add column items integer not null default 1,
        add column attempts integer not null default 0,
        add column ready_at timestamptz(3) not null default now();
      create index kept_jobs_turns on kept_jobs (job_name, org_id, service_id, kept_id, number);
    `);
  }
}
