import { types } from 'pg';

import { fromDate } from '#kernel/time.ts';

type Oid = Parameters<typeof types.getTypeParser>[0];

const { TIMESTAMPTZ, DATE, INT8 } = types.builtins;

/**
 * Parsers of columns: `timestamptz` as Temporal.Instant, `date` as YYYY-MM-DD, `bigint` as a number (no column of ours holds
 * more than 2^53-1), everything else as usual.
 */
export const columnParsers = {
  getTypeParser(oid: Oid, format?: 'text' | 'binary'): unknown {
    if (oid === TIMESTAMPTZ) return (text: string) => fromDate(new Date(text));
    if (oid === DATE) return String;
    if (oid === INT8) return Number;
    return types.getTypeParser(oid, format);
  },
};
