import type { Aggregation } from '#core/metrics/aggregate.ts';
import { COUNTER_LOOKBACK_MS } from '#core/metrics/increase.ts';
import { anchoredPattern } from '#core/metrics/selector.ts';
import { uuidOf } from '#kernel/ids.ts';
import type { QuestionGroup, Target } from '#storage/clickhouse/rule_plan.ts';

/**
 * What is asked of the points of a target; every answer is a row for each target and slot that has any. A slot is
 * named by where the shortest window begins that holds its points, so a window's value is that of its own slot and
 * of all later ones.
 */
export type Shape = 'samples' | 'growth' | 'last';

/** What each aggregation is made of; `sum` of gauges and deltas as sent, and of counters what they grew by. */
export const SHAPES: Readonly<Record<Aggregation, readonly Shape[]>> = {
  avg: ['samples'],
  min: ['samples'],
  max: ['samples'],
  count: ['samples'],
  sum: ['samples', 'growth'],
  last: ['last'],
};

/** The columns behind target and slot. */
const COLUMNS: Readonly<Record<Shape, string>> = {
  /** How many samples, their sum, least and greatest; and of those that are no counter's, how many and their sum. */
  samples: `sum(samples), sum(total), min(least), max(greatest), sum(others), sum(others_total)`,
  /** The growth; and when the newest sample of a counter was taken, in epoch milliseconds. */
  growth: 'sum(grown), max(newest_at)',
  /** How many series there are, and the sum of their newest samples. */
  last: 'sum(series_count), sum(newest_total)',
};

/** The name of a target in an answer: of those without matchers by what they are, else by their place in the group. */
export function rowKeyOf({ serviceId, selector }: Target, index: number): string {
  return selector.matchers.length > 0 ? String(index) : `${uuidOf(serviceId)} ${selector.name}`;
}

/** One pass over the points that answers one shape for all targets of a group. All that callers say is in the parameters. */
export function ruleQueryOf(shape: Shape, group: QuestionGroup, toMs: number) {
  const hasMatchers = group.targets.some(({ selector }) => selector.matchers.length > 0);
  return {
    sql: hasMatchers ? byMatchers(shape) : byName(shape),
    parameters: {
      to: toMs,
      oldest: group.oldestMs,
      from: group.froms[0],
      // Below all others, for growth that counts in no window.
      slots: [0, ...group.froms],
      services: distinct(group.targets.map(({ serviceId }) => uuidOf(serviceId))),
      metrics: distinct(group.targets.map(({ selector }) => selector.name)),
      target_services: group.targets.map(({ serviceId }) => uuidOf(serviceId)),
      target_metrics: group.targets.map(({ selector }) => selector.name),
      ...(hasMatchers ? matcherParameters(group.targets) : {}),
    },
  };
}

function byName(shape: Shape): string {
  return `SELECT concat(toString(service_id), ' ', metric) AS target, slot, ${COLUMNS[shape]}
    FROM (${PARTS[shape]('service_id, metric')}) AS parts GROUP BY target, slot`;
}

/** The labels are looked at once for each series, not once for each sample. */
function byMatchers(shape: Shape): string {
  return `SELECT toString(place) AS target, slot, ${COLUMNS[shape]}
    FROM (${PARTS[shape]('service_id, metric, series')}) AS parts
    INNER JOIN (${MATCHED}) AS matched USING (service_id, metric, series) GROUP BY target, slot`;
}

const OLDEST = "fromUnixTimestamp64Milli({oldest:Int64}, 'UTC')";
const FROM = "fromUnixTimestamp64Milli({from:Int64}, 'UTC')";

/** The first two conditions find the rows by the table's order, the last leaves out pairs that nobody asks for. */
function rowsSince(since: string): string {
  return `service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)}
    AND ts >= ${since} AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND (service_id, metric) IN arrayZip({target_services:Array(UUID)}, {target_metrics:Array(String)})`;
}

/** As in metric_query.ts, each (series, time) once: of several rows FINAL takes the one that came last. */
function samplesSince(since: string): string {
  return `metric_points FINAL PREWHERE ${rowsSince(since)}`;
}

function slotOf(epochMs: string): string {
  return `roundDown(${epochMs}, {slots:Array(Int64)})`;
}

/** The values and times of a series one place later, so that each stands where the next one does. */
const BEFORE = (column: string): string => `arrayPushFront(arrayPopBack(${column}), ${column}[1])`;

/** The meanings of core/metrics/aggregate.ts in SQL, by `key` and slot. */
const PARTS: Readonly<Record<Shape, (key: string) => string>> = {
  samples: (key) => `
    SELECT ${key}, ${slotOf('toUnixTimestamp64Milli(ts)')} AS slot, count() AS samples, sum(value) AS total,
      min(value) AS least, max(value) AS greatest,
      countIf(kind != 'counter') AS others, sumIf(value, kind != 'counter') AS others_total
    FROM ${samplesSince(FROM)} WHERE kind != 'stale' GROUP BY ${key}, slot`,
  last: (key) => `
    SELECT ${key}, slot, count() AS series_count, sum(newest) AS newest_total FROM (
      SELECT service_id, metric, series, ${slotOf('toUnixTimestamp64Milli(max(ts))')} AS slot,
        argMax(value, ts) AS newest, argMax(kind, ts) AS newest_kind
      FROM ${samplesSince(FROM)} GROUP BY service_id, metric, series)
    WHERE newest_kind != 'stale' GROUP BY ${key}, slot`,
  // A sample whose predecessor lies before a window's lookback is the first there and grows by nothing: what it grew
  // by counts in windows that begin at most the lookback after the predecessor.
  growth: (key) => `
    SELECT ${key}, ${slotOf('grown_until')} AS slot, sum(grown_by) AS grown, max(at) AS newest_at FROM (
      SELECT service_id, metric, series,
        arraySort(groupArray((toUnixTimestamp64Milli(ts), value))) AS samples, samples.1 AS ats, samples.2 AS counts,
        arrayMap((now, before) -> if(now < before, now, now - before), counts, ${BEFORE('counts')}) AS growths,
        arrayMap((now, before) -> least(now, before + ${COUNTER_LOOKBACK_MS}), ats, ${BEFORE('ats')}) AS untils
      FROM ${samplesSince(OLDEST)} WHERE kind = 'counter' GROUP BY service_id, metric, series)
    ARRAY JOIN ats AS at, growths AS grown_by, untils AS grown_until
    WHERE at >= {from:Int64} GROUP BY ${key}, slot`,
};

/** Which series belong to which targets. A map gives the empty text for a label that it lacks, as selectors have it. */
const MATCHED = `
  SELECT service_id, metric, series, place FROM (
    SELECT service_id, metric, series, any(tags) AS labels FROM metric_points PREWHERE ${rowsSince(OLDEST)}
    GROUP BY service_id, metric, series) AS seen
  INNER JOIN (
    SELECT target.1 AS service_id, target.2 AS metric, target.3 AS place, target.4 AS names, target.5 AS operators,
      target.6 AS texts, target.7 AS patterns
    FROM (SELECT arrayJoin(arrayZip({target_services:Array(UUID)}, {target_metrics:Array(String)},
      range(length({target_metrics:Array(String)})), {names:Array(Array(String))}, {operators:Array(Array(String))},
      {texts:Array(Array(String))}, {patterns:Array(Array(String))})) AS target)) AS targets
  USING (service_id, metric)
  WHERE arrayAll((name, operator, text, pattern) -> multiIf(
    operator = '=', labels[name] = text,
    operator = '!=', labels[name] != text,
    operator = '=~', match(labels[name], pattern),
    NOT match(labels[name], pattern)), names, operators, texts, patterns)`;

/** Texts and patterns apart, since a text need not be sound as a pattern. */
function matcherParameters(targets: readonly Target[]) {
  const perMatcher = (say: (matcher: Target['selector']['matchers'][number]) => string) =>
    targets.map(({ selector }) => selector.matchers.map(say));
  return {
    names: perMatcher(({ label }) => label),
    operators: perMatcher(({ operator }) => operator),
    texts: perMatcher(({ operator, value }) => (isPattern(operator) ? '' : value)),
    patterns: perMatcher(({ operator, value }) => (isPattern(operator) ? anchoredPattern(value) : '')),
  };
}

function isPattern(operator: string): boolean {
  return operator === '=~' || operator === '!~';
}

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}
