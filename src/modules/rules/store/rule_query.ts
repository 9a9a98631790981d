import { COUNTER_LOOKBACK_MS, COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import { anchoredPattern } from '#modules/metrics/decide/pattern_size.ts';
import { uuidOf } from '#kernel/ids.ts';
import { bucketTextOf, senderOf } from '#modules/metrics/store/metric_query.ts';
import { isSelective, type QuestionGroup, type Shape, type Target } from '#modules/rules/store/rule_plan.ts';
import { growthOver } from '#modules/metrics/store/rollups.ts';
import { COUNTER, IS_COUNTING, STALE, START } from '#modules/metrics/store/point_rows.ts';

interface BoundQuery {
  readonly sql: string;
  readonly parameters: Record<string, unknown>;
}

/**
 * Query that passes once over the points for all targets of a group: a row for each metric and slot that has any, and
 * for each series of a metric where labels decide which of them count; elsewhere the series is 0. A slot is named by
 * where the shortest window begins that holds its points, so the value of a window is that of its own slot and of all
 * later ones. All values from callers are parameters.
 */
export function ruleQueryOf(group: QuestionGroup, toMs: number): BoundQuery {
  const selective = metricsOf(group.targets.filter(isSelective));
  return {
    sql: PASSES[group.shape],
    parameters: {
      ...parametersOf(group.targets),
      to: toMs,
      oldest: group.oldestMs,
      from: group.froms[0],
      // Below all others, for growth that counts in no window.
      slots: [0, ...group.froms],
      selective_services: selective.services,
      selective_metrics: selective.metrics,
    },
  };
}

/**
 * Builds the query for which series belong to which targets: rows of the target's place, the series and its
 * `bucketTextOf`, and its value of the target's label.
 */
export function matchQueryOf(targets: readonly Target[], series: readonly string[]): BoundQuery {
  const perMatcher = (say: (matcher: Target['selector']['matchers'][number]) => string) =>
    targets.map(({ selector }) => selector.matchers.map(say));
  return {
    sql: MATCHING,
    parameters: {
      ...parametersOf(targets),
      series: series.map(BigInt),
      names: perMatcher(({ label }) => label),
      operators: perMatcher(({ operator }) => operator),
      // Texts and patterns stand apart, since a text need not be sound as a pattern.
      texts: perMatcher(({ operator, value }) => (isPattern(operator) ? '' : value)),
      patterns: perMatcher(({ operator, value }) => (isPattern(operator) ? anchoredPattern(value) : '')),
      apart_labels: targets.map(({ label }) => label ?? ''),
    },
  };
}

function parametersOf(targets: readonly Target[]): Record<string, unknown> {
  const { services, metrics } = metricsOf(targets);
  return {
    services: [...new Set(services)],
    metrics: [...new Set(metrics)],
    target_services: services,
    target_metrics: metrics,
  };
}

/** Side by side. */
function metricsOf(targets: readonly Target[]): { services: string[]; metrics: string[] } {
  return {
    services: targets.map(({ serviceId }) => uuidOf(serviceId)),
    metrics: targets.map(({ selector }) => selector.name),
  };
}

function isPattern(operator: string): boolean {
  return operator === '=~' || operator === '!~';
}

const OLDEST = "fromUnixTimestamp64Milli({oldest:Int64}, 'UTC')";
const FROM = "fromUnixTimestamp64Milli({from:Int64}, 'UTC')";
const TO = "fromUnixTimestamp64Milli({to:Int64}, 'UTC')";

/** The first two conditions find the rows by the table's order, the last excludes pairs that no rule needs. */
const OF_TARGETS = `service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)}
  AND (service_id, metric) IN arrayZip({target_services:Array(UUID)}, {target_metrics:Array(String)})`;

/**
 * Selects samples as in metric_query.ts, each (series, time) once: of several rows FINAL takes the one that came last.
 * Times are looked at first, as they leave out most of what the index cannot, and are quicker to compare than names.
 */
function samplesSince(since: string): string {
  return `metric_points FINAL PREWHERE ts >= ${since} AND ts < ${TO} AND ${OF_TARGETS}`;
}

function slotOf(epochMs: string): string {
  return `roundDown(${epochMs}, {slots:Array(Int64)}) AS slot`;
}

/** The values of an array one place later, so that each stands where the next one does. */
function before(array: string): string {
  return `arrayPushFront(arrayPopBack(${array}), ${array}[1])`;
}

const METRIC = "concat(toString(service_id), ' ', metric)";
const COUNTED_APART = `if((service_id, metric) IN
  arrayZip({selective_services:Array(UUID)}, {selective_metrics:Array(String)}), series, 0) AS apart`;
const PER_SLOT = 'GROUP BY service_id, metric, apart, slot';

/** SQL of each aggregation (`modules/metrics/decide/aggregation.ts`); the columns behind the slot are those of rule_answers.ts. */
const PASSES: Readonly<Record<Shape, string>> = {
  samples: `
    SELECT ${METRIC}, toString(apart), slot, sum(n), sum(total), min(least), max(greatest), sum(others_n),
      sum(others_total), countIf(is_newest), sumIf(newest, is_newest)
    FROM (
      SELECT *, ${COUNTED_APART},
        newest_kind != ${STALE} AND slot = max(slot) OVER (PARTITION BY service_id, metric, series) AS is_newest
      FROM (
        SELECT service_id, metric, series, ${slotOf('toUnixTimestamp64Milli(ts)')},
          countIf(kind != ${STALE}) AS n, sumIf(value, kind != ${STALE}) AS total,
          min(if(kind = ${STALE}, inf, value)) AS least, max(if(kind = ${STALE}, -inf, value)) AS greatest,
          countIf(kind NOT IN (${COUNTER}, ${STALE})) AS others_n,
          sumIf(value, kind NOT IN (${COUNTER}, ${STALE})) AS others_total,
          argMax(value, ts) AS newest, argMax(kind, ts) AS newest_kind
        FROM ${samplesSince(FROM)} WHERE kind != ${START} GROUP BY service_id, metric, series, slot))
    ${PER_SLOT}`,
  // What a sample grew by counts in windows that reach its predecessor: a sample further than a start.
  growth: `
    SELECT ${METRIC}, toString(apart), ${slotOf('until')}, sum(grown), max(at) FROM (
      SELECT service_id, metric, series, ${COUNTED_APART},
        arraySort(groupArray((toUnixTimestamp64Milli(ts), value, kind))) AS samples, samples.1 AS ats,
        samples.2 AS totals, samples.3 AS kinds,
        arrayMap((now, before) -> ${growthOver('now', 'before')}, totals, ${before('totals')}) AS growths,
        arrayMap((now, before, what) -> least(now, before + if(what = ${COUNTER}, ${COUNTER_REACH_MS}, ${COUNTER_LOOKBACK_MS})),
          ats, ${before('ats')}, ${before('kinds')}) AS untils
      FROM ${samplesSince(OLDEST)} WHERE ${IS_COUNTING} GROUP BY service_id, metric, series)
    ARRAY JOIN ats AS at, growths AS grown, untils AS until, kinds AS one_kind
    WHERE at >= {from:Int64} AND one_kind = ${COUNTER} ${PER_SLOT}`,
};

/** A map gives the empty text for a label that it lacks, as selectors have it. */
const MATCHING = `
  SELECT toString(place), toString(series), ${bucketTextOf(`repeat(toString(${senderOf('labels')}), labels['le'] != '')`, (name) => `labels[${name}]`)}, labels[apart_label] FROM (
    SELECT service_id, metric, series, any(tags) AS labels FROM metric_series
    WHERE ${OF_TARGETS} AND series IN {series:Array(UInt64)} GROUP BY service_id, metric, series) AS seen
  INNER JOIN (
    SELECT target.1 AS service_id, target.2 AS metric, target.3 AS place, target.4 AS names, target.5 AS operators,
      target.6 AS texts, target.7 AS patterns, target.8 AS apart_label
    FROM (SELECT arrayJoin(arrayZip({target_services:Array(UUID)}, {target_metrics:Array(String)},
      range(length({target_metrics:Array(String)})), {names:Array(Array(String))}, {operators:Array(Array(String))},
      {texts:Array(Array(String))}, {patterns:Array(Array(String))}, {apart_labels:Array(String)})) AS target)) AS targets
  USING (service_id, metric)
  WHERE arrayAll((name, operator, text, pattern) -> multiIf(
    operator = '=', labels[name] = text,
    operator = '!=', labels[name] != text,
    operator = '=~', match(labels[name], pattern),
    NOT match(labels[name], pattern)), names, operators, texts, patterns)`;
