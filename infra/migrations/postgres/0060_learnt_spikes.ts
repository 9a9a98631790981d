import { Migration } from '@mikro-orm/migrations';

/** Whether the limit of events an hour follows from the usual traffic of a service, what it is then, and as of when. */
export class LearntSpikes extends Migration {
  override up(): void {
    this.addSql(`
      alter table exception_settings
        add column learns_spikes boolean not null default false,
        add column learnt_per_hour bigint,
        add column learnt_at timestamptz(3);
    `);
  }
}
