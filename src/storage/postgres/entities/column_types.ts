import { defineEntity, p, Type } from '@mikro-orm/postgresql';

import type { Id, Kind } from '#kernel/ids.ts';
import { type Temporal, toDate } from '#kernel/time.ts';

/** A table with its columns: the properties of an entity by their name there. */
export function table<const Name extends string, const Columns extends Record<string, { '~options': object }>>(
  name: Name,
  properties: Columns,
) {
  return defineEntity({ name, tableName: name, properties });
}

export const id = <K extends Kind>() => p.text().$type<Id<K>>();

/** A text that is one of a few, or is typed more narrowly for another reason. */
export const text = <T extends string>() => p.text().$type<T>();

/** A `json` column: what is read is parsed; what is written by a query is passed through `json` of `store.ts`. */
export const jsonColumn = <T>() => p.json().$type<T>();

export const bytes = () => p.type(Buffer).columnType('bytea');

/** Column of a bigint, none of which holds more than 2^53-1. */
export const bigint = () => p.bigint('number');

/** A `timestamptz(3)` column. The driver already reads it as an Instant (see `columnParsers` of `database.ts`). */
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
