import { SMALL_FALL_PARTS } from '#modules/metrics/decide/series_points.ts';
import { keysOf } from '#kernel/records.ts';
import { COUNTER, IS_COUNTING, IS_SAMPLE, STALE, START } from '#modules/metrics/store/point_kind_sql.ts';

/** Kinds of a row: `newest_is` and `opening_is` are one of these. */
export const NONE = '0';
export const SAMPLE = '1';
/** Mark in `newest_is`: the series ended; in `opening_is`: its counter began at 0. */
export const MARK = '2';

/** Samples and starts of counters in order of time. */
const COUNTING = `arraySort(groupArrayIf((ts, value, kind), ${IS_COUNTING}))`;
const NEWEST = `kind != ${START}`;

/** Returns the SQL for the growth of a counter between two values, as `growthBetween` computes it. */
export function growthOver(later: string, earlier: string): string {
  const isReset = `${later} < ${earlier} AND (${earlier} - ${later}) * ${SMALL_FALL_PARTS} >= ${earlier}`;
  return `if(${isReset}, ${later}, ${later} - ${earlier})`;
}

/**
 * Columns of a series in an hour or a day, and the SQL that makes them from points. Everything that queries ask of whole
 * hours follows from these, exactly: counters grew by `grown` within the period, and from `closing` of the period before to
 * `opening` of the next.
 */
export const OF_POINTS = {
  samples: `countIf(${IS_SAMPLE})`,
  /** Gauges and deltas, added up. */
  added: `sumIf(value, ${IS_SAMPLE} AND kind != ${COUNTER})`,
  /** The raw values of counters, added up. */
  counted: `sumIf(value, kind = ${COUNTER})`,
  least: `minIf(value, ${IS_SAMPLE})`,
  greatest: `maxIf(value, ${IS_SAMPLE})`,
  newest: `argMaxIf(value, ts, ${NEWEST})`,
  newest_is: `multiIf(countIf(${NEWEST}) = 0, ${NONE}, argMaxIf(kind, ts, ${NEWEST}) = ${STALE}, ${MARK}, ${SAMPLE})`,
  opening: `(${COUNTING}[1]).2`,
  opening_is: `multiIf(countIf(${IS_COUNTING}) = 0, ${NONE}, (${COUNTING}[1]).3 = ${COUNTER}, ${SAMPLE}, ${MARK})`,
  closing: `(${COUNTING}[-1]).2`,
  grown: `arraySum((rise, total, what) -> if(what = ${COUNTER}, if(rise < 0 AND -rise * ${SMALL_FALL_PARTS} >= total - rise, total, rise), 0),
      arrayDifference(${COUNTING}.2), ${COUNTING}.2, ${COUNTING}.3)`,
} as const;

export type RollupColumn = keyof typeof OF_POINTS;

const PERIODS = `arraySort(groupArrayIf((start, opening, closing, opening_is), opening_is != ${NONE}))`;

/** The same from rows of shorter periods. */
export const OF_SHORTER: Readonly<Record<RollupColumn, string>> = {
  samples: 'sum(samples)',
  added: 'sum(added)',
  counted: 'sum(counted)',
  least: 'minIf(least, samples > 0)',
  greatest: 'maxIf(greatest, samples > 0)',
  newest: `argMaxIf(newest, start, newest_is != ${NONE})`,
  newest_is: `argMaxIf(newest_is, start, newest_is != ${NONE})`,
  opening: `(${PERIODS}[1]).2`,
  opening_is: `(${PERIODS}[1]).4`,
  closing: `(${PERIODS}[-1]).3`,
  grown: `sum(grown) + arraySum((later, earlier, what) -> if(what = ${SAMPLE}, ${growthOver('later', 'earlier')}, 0),
      arraySlice(${PERIODS}.2, 2), arrayPopBack(${PERIODS}.3), arraySlice(${PERIODS}.4, 2))`,
};

export const ROLLUP_COLUMNS = keysOf(OF_POINTS);
