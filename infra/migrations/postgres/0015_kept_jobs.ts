import { Migration } from '@mikro-orm/migrations';

/** Durable jobs: accepted data that is stored only here until its job has run. */
export class KeptJobs extends Migration {
  override up(): void {
    this.addSql(`
      create table kept_jobs (
        id text primary key,
        job_name text not null,
        payload json not null,
        kept_at timestamptz(3) not null default now()
      ) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1,
        toast.autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0.1);
      -- It is compressed already.
      alter table kept_jobs alter column payload set storage external;
    `);
  }
}
