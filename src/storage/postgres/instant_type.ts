import { p, Type } from '@mikro-orm/postgresql';

import { type Temporal, toDate } from '#kernel/time.ts';

/** A `timestamptz(3)` column. The driver already reads it as an Instant (see `column_parsers.ts`). */
class InstantType extends Type<Temporal.Instant, Temporal.Instant | Date> {
  override convertToDatabaseValue(value: Temporal.Instant): Date {
    return value && toDate(value);
  }

  override convertToJSValue(value: Temporal.Instant): Temporal.Instant {
    return value;
  }

  override compareValues(a: Temporal.Instant | Date, b: Temporal.Instant | Date): boolean {
    return epochOf(a) === epochOf(b);
  }

  override getColumnType(): string {
    return 'timestamptz(3)';
  }
}

/** The property of an entity that holds an instant; unnamed, the unit of work would take the column for a Date. */
export const instant = () => p.type(InstantType).runtimeType('Temporal.Instant');

function epochOf(value: Temporal.Instant | Date): number {
  return value instanceof Date ? value.getTime() : value.epochMilliseconds;
}
