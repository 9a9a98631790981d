import { COUNTER_LOOKBACK_MS } from '#core/metrics/increase.ts';
import { anchoredPattern } from '#core/metrics/selector.ts';
import { uuidOf } from '#kernel/ids.ts';
import type { QuestionGroup, Shape, Target } from '#storage/clickhouse/rule_plan.ts';

interface BoundQuery {
  readonly sql: string;
  readonly parameters: Record<string, unknown>;
}

/**
 * One pass over the points for all targets of a group: a row for each metric, or series of it, and slot that has any.
 * A slot is named by where the shortest window begins that holds its points, so the value of a window is that of its
 * own slot and of all later ones. All that callers say is in the parameters.
 */
export function ruleQueryOf(group: QuestionGroup, toMs: number): BoundQuery {
  return {
    sql: (group.bySeries ? PER_SERIES : PER_METRIC)[group.shape],
    parameters: {
      ...reachOf(group, toMs),
      from: group.froms[0],
      // Below all others, for growth that counts in no window.
      slots: [0, ...group.froms],
    },
  };
}

/** Which of these series belong to which targets of the group, as rows of the target's place and the series. */
export function matchQueryOf(group: QuestionGroup, toMs: number, series: readonly string[]): BoundQuery {
  const perMatcher = (say: (matcher: Target['selector']['matchers'][number]) => string) =>
    group.targets.map(({ selector }) => selector.matchers.map(say));
  return {
    sql: MATCHING,
    parameters: {
      ...reachOf(group, toMs),
      series: series.map(BigInt),
      names: perMatcher(({ label }) => label),
      operators: perMatcher(({ operator }) => operator),
      // Texts and patterns stand apart, since a text need not be sound as a pattern.
      texts: perMatcher(({ operator, value }) => (isPattern(operator) ? '' : value)),
      patterns: perMatcher(({ operator, value }) => (isPattern(operator) ? anchoredPattern(value) : '')),
    },
  };
}

/** How rows name the metric of a target. */
export function metricOf({ serviceId, selector }: Target): string {
  return `${uuidOf(serviceId)} ${selector.name}`;
}

function reachOf({ targets, oldestMs }: QuestionGroup, toMs: number): Record<string, unknown> {
  const services = targets.map(({ serviceId }) => uuidOf(serviceId));
  const metrics = targets.map(({ selector }) => selector.name);
  return {
    to: toMs,
    oldest: oldestMs,
    services: [...new Set(services)],
    metrics: [...new Set(metrics)],
    target_services: services,
    target_metrics: metrics,
  };
}

function isPattern(operator: string): boolean {
  return operator === '=~' || operator === '!~';
}

const OLDEST = "fromUnixTimestamp64Milli({oldest:Int64}, 'UTC')";
const FROM = "fromUnixTimestamp64Milli({from:Int64}, 'UTC')";

/** The first two conditions find the rows by the table's order, the last leaves out pairs that nobody asks for. */
const OF_TARGETS = `service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)}
  AND (service_id, metric) IN arrayZip({target_services:Array(UUID)}, {target_metrics:Array(String)})`;

/** As in metric_query.ts, each (series, time) once: of several rows FINAL takes the one that came last. */
function samplesSince(since: string): string {
  return `metric_points FINAL PREWHERE ${OF_TARGETS}
    AND ts >= ${since} AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;
}

function slotOf(epochMs: string): string {
  return `roundDown(${epochMs}, {slots:Array(Int64)}) AS slot`;
}

/** The values of an array one place later, so that each stands where the next one does. */
function before(array: string): string {
  return `arrayPushFront(arrayPopBack(${array}), ${array}[1])`;
}

type PerShape = Readonly<Record<Shape, string>>;

const PER_METRIC: PerShape = shapesBy('service_id, metric', "concat(toString(service_id), ' ', metric)");
const PER_SERIES: PerShape = shapesBy(
  'service_id, metric, series',
  "concat(toString(service_id), ' ', metric), toString(series)",
);

/** The meanings of core/metrics/aggregate.ts in SQL; the columns behind the slot are those of rule_answers.ts. */
function shapesBy(key: string, name: string): PerShape {
  return {
    samples: `
      SELECT ${name}, ${slotOf('toUnixTimestamp64Milli(ts)')}, count(), sum(value), min(value), max(value),
        countIf(kind != 'counter'), sumIf(value, kind != 'counter')
      FROM ${samplesSince(FROM)} WHERE kind != 'stale' GROUP BY ${key}, slot`,
    last: `
      SELECT ${name}, slot, count(), sum(newest) FROM (
        SELECT service_id, metric, series, ${slotOf('toUnixTimestamp64Milli(max(ts))')},
          argMax(value, ts) AS newest, argMax(kind, ts) AS newest_kind
        FROM ${samplesSince(FROM)} GROUP BY service_id, metric, series)
      WHERE newest_kind != 'stale' GROUP BY ${key}, slot`,
    // A sample whose predecessor lies before a window's lookback is the first there and grows by nothing: what it grew
    // by counts in windows that begin at most the lookback after the predecessor.
    growth: `
      SELECT ${name}, ${slotOf('until')}, sum(grown), max(at) FROM (
        SELECT service_id, metric, series,
          arraySort(groupArray((toUnixTimestamp64Milli(ts), value))) AS samples, samples.1 AS ats, samples.2 AS totals,
          arrayMap((now, before) -> if(now < before, now, now - before), totals, ${before('totals')}) AS growths,
          arrayMap((now, before) -> least(now, before + ${COUNTER_LOOKBACK_MS}), ats, ${before('ats')}) AS untils
        FROM ${samplesSince(OLDEST)} WHERE kind = 'counter' GROUP BY service_id, metric, series)
      ARRAY JOIN ats AS at, growths AS grown, untils AS until
      WHERE at >= {from:Int64} GROUP BY ${key}, slot`,
  };
}

/** A map gives the empty text for a label that it lacks, as selectors have it. */
const MATCHING = `
  SELECT toString(place), toString(series) FROM (
    SELECT service_id, metric, series, any(tags) AS labels FROM metric_series
    WHERE ${OF_TARGETS} AND series IN {series:Array(UInt64)} GROUP BY service_id, metric, series) AS seen
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
