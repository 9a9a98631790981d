import { Type } from '@mikro-orm/postgresql';

import { type Temporal, toDate } from '#kernel/time.ts';

/** A `timestamptz(3)` column. The driver already reads it as an Instant (see `column_parsers.ts`). */
export class InstantType extends Type<Temporal.Instant, Temporal.Instant | Date> {
  override convertToDatabaseValue(value: Temporal.Instant): Date {
    return value && toDate(value);
  }

  override convertToJSValue(value: Temporal.Instant): Temporal.Instant {
    return value;
  }

  override compareValues(a: Temporal.Instant | Date, b: Temporal.Instant | Date): boolean {
    return String(a) === String(b);
  }

  override getColumnType(): string {
    return 'timestamptz(3)';
  }
}
