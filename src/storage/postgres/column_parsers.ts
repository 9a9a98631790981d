import { types } from 'pg';

import { fromDate } from '#kernel/time.ts';

const TIMESTAMPTZ: number = types.builtins.TIMESTAMPTZ;
const INT8: number = types.builtins.INT8;

/**
 * How the driver reads columns: `timestamptz` as Temporal.Instant, `bigint` as a number (no column of ours holds
 * more than 2^53-1), everything else as usual.
 */
export const columnParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    if (oid === TIMESTAMPTZ) return (text: string) => fromDate(new Date(text));
    if (oid === INT8) return Number;
    return types.getTypeParser(oid, format);
  },
};
