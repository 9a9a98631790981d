import { Migration } from '@mikro-orm/migrations';

/**
 * The local time at which a rotation was to start, where the clocks skipped it: the start moves forward, and the hand-overs
 * that follow keep that time. Null where the start has it.
 */
export class WallClockOfStarts extends Migration {
  override up(): void {
    this.addSql('alter table schedules add column start_wall text;');
  }
}
