import { Migration } from '@mikro-orm/migrations';

/**
 * The types and units that senders have said the metrics of a service have, in the numbers of Prometheus. `before` is the
 * type before the last change, and `changes` how many there were.
 */
export class MetricTypes extends Migration {
  override up(): void {
    this.addSql(`
      create table metric_types (
        service_id text not null references services on delete cascade,
        name text not null,
        type integer not null,
        unit text not null,
        told_at timestamptz(3) not null,
        before integer,
        changed_at timestamptz(3),
        changes integer not null,
        primary key (service_id, name)
      );
      create index metric_types_by_told_at on metric_types (told_at);
    `);
  }
}
