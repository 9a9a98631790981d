import pLimit from 'p-limit';

import { isUnavailable } from '#kernel/errors.ts';
import { readRows } from '#storage/clickhouse/read_rows.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type Aggregation, COUNTER_LOOKBACK_MS, COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import { BESIDE_BUCKETS, besideBuckets, quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { readCheckedExpression } from '#modules/metrics/decide/selector.ts';
import { emptyWindow, growthBetween } from '#modules/metrics/decide/series_points.ts';
import { findKind } from '#modules/metrics/store/metric_catalog.ts';
import { metricKeyOf } from '#modules/metrics/store/point_rows.ts';
import { findOrphans, findPredecessors, predecessorKey } from '#modules/metrics/store/predecessors.ts';
import type { Needed, PointsBySeries, RecentPoints } from '#modules/metrics/store/recent_points.ts';
import { ruleWindow } from '#modules/rules/decide/breach.ts';
import { windowsOfRule } from '#modules/rules/decide/judged_value.ts';
import { type Comparator, METRIC_RULE_DEFAULTS, type MetricRuleSettings } from '#modules/rules/decide/kind_settings.ts';
import { type Slot, toSlot, windowOf, type Windows, windowsOf } from '#modules/rules/store/rule_answers.ts';
import {
  apartKey,
  concluded,
  type Evaluation,
  type Findings,
  questionsWithoutPoints,
} from '#modules/rules/store/rule_conclusions.ts';
import {
  groupQuestions,
  halve,
  isSelective,
  type PlannedQuestion,
  type QuestionGroup,
  shapesOf,
  type Target,
} from '#modules/rules/store/rule_plan.ts';
import { matchQueryOf, ruleQueryOf } from '#modules/rules/store/rule_query.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { GenerationalCache } from '#storage/clickhouse/generational_cache.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';

/** Question of a rule: one number over its window. */
export interface RuleQuestion {
  readonly ruleId: Id<'rule'>;
  readonly serviceId: Id<'service'>;
  /** Metric, with or without a selector, or a ratio of two. */
  readonly metricName: string;
  readonly windowMinutes: number;
  readonly aggregation: Aggregation;
  /** Older points are as if they were not there. */
  readonly keptSince: Temporal.Instant;
  /** Needed with two windows only. */
  readonly comparator?: Comparator;
  readonly settings?: Pick<MetricRuleSettings, 'shortWindowMinutes' | 'trafficAtLeast' | 'byLabel'>;
}

type Row = readonly unknown[];

/** Time limit of one query, in seconds; targets that take longer are queried apart from the rest. */
const QUERY_SECONDS_MAX = 10;
const CONCURRENT_QUERIES = 3;
/** A target whose own query failed is skipped for this long. */
const RESPITE_MS = 60_000;
/** Limit on the targets of one evaluation whose kind is asked for; others wait for the next. */
const KINDS_ASKED_MAX = 50;
const DELTA_HOLDS_MS = 3_600_000;
const OTHER_HOLDS_MS = 60_000;

/**
 * Reads for the evaluation of rules: of points that are in memory what is new, and the whole windows of all others in a few
 * grouped queries. Late samples count while the window contains their time.
 */
export class RuleReader {
  readonly #client: ClickHouseClient;
  /** Readings by service and metric of a rule. */
  readonly #meanings = new GenerationalCache<Reading>();
  /**
   * Matches by target and series: the bucket of a series that is meant, else null. A series never changes its labels,
   * so a match stays true.
   */
  readonly #matches = new GenerationalCache<string | null>();
  /** Whether targets are counted only when it happens; asked again after a while if they are not, or not yet. */
  readonly #deltas = new GenerationalCache<{ readonly isOfDeltas: boolean; readonly untilMs: number }>();
  /** Targets whose own query failed, and until when they are skipped. */
  readonly #resting = new Map<string, number>();

  readonly #recent: Pick<RecentPoints, 'read'> | null;

  /** Creates the reader. Without `recent`, every window is read from the store each time. */
  constructor(client: ClickHouseClient, recent: Pick<RecentPoints, 'read'> | null = null) {
    this.#client = client;
    this.#recent = recent;
  }

  /**
   * The values over the windows that end at `now`. Where a query fails, its rules are asked for in halves, down to the
   * ones that cannot be evaluated, which hold up no other. Throws when the store is away, and when nothing at all
   * could be evaluated.
   */
  async evaluate(questions: readonly RuleQuestion[], now: Temporal.Instant): Promise<Evaluation> {
    const { toMs } = ruleWindow(1, now);
    const findings: Findings = { toMs, answers: new Map(), judgings: new Map(), failed: new Map(), deltas: new Set() };
    for (const memory of [this.#meanings, this.#matches, this.#deltas]) memory.turn(toMs);
    const planned = this.#plan(questions, now, findings);
    if (this.#recent !== null) await this.#answerFromMemory(this.#recent, planned, findings);
    const left = planned.filter((question) => !findings.answers.has(question));
    const limit = pLimit(CONCURRENT_QUERIES);
    try {
      await limit.map(groupQuestions(left, toMs), (group) => this.#answer(group, findings));
    } finally {
      limit.clearQueue();
    }
    await this.#findDeltas(planned, findings);
    return concluded(planned, findings);
  }

  /** Finds out which upper sides of ratios without points, whose lower sides have some, are counted only when it happens. */
  async #findDeltas(planned: readonly PlannedQuestion[], { answers, deltas, toMs }: Findings): Promise<void> {
    const unknown = new Map<string, PlannedQuestion>();
    for (const question of questionsWithoutPoints(planned, answers)) {
      const { key } = question.target;
      const cachedKind = this.#deltas.get(key);
      if (cachedKind?.isOfDeltas === true) deltas.add(key);
      if (cachedKind === undefined || cachedKind.untilMs <= toMs) unknown.set(key, question);
    }
    const limit = pLimit(CONCURRENT_QUERIES);
    await limit.map([...unknown].slice(0, KINDS_ASKED_MAX), async ([key, { target, keptMs }]) => {
      const kind = await findKind(this.#client, {
        serviceId: target.serviceId,
        selector: target.selector,
        keptMs,
      }).catch(() => null);
      const isOfDeltas = kind === 'delta';
      this.#deltas.set(key, { isOfDeltas, untilMs: toMs + (isOfDeltas ? DELTA_HOLDS_MS : OTHER_HOLDS_MS) });
      if (isOfDeltas) deltas.add(key);
    });
  }

  #plan(questions: readonly RuleQuestion[], now: Temporal.Instant, { judgings, failed }: Findings): PlannedQuestion[] {
    const nowMs = now.epochMilliseconds;
    const { toMs } = ruleWindow(1, now);
    const keptOf = new Map<Temporal.Instant, number>();
    const planned: PlannedQuestion[] = [];
    for (const question of questions) {
      const { ruleId, serviceId, metricName, windowMinutes, aggregation, keptSince } = question;
      const { comparator = '>', settings = METRIC_RULE_DEFAULTS } = question;
      const { trafficAtLeast, byLabel } = settings;
      const key =
        byLabel === null ? `${serviceId} ${metricName}` : `${serviceId} by ${JSON.stringify(byLabel)} ${metricName}`;
      if (this.#isResting(key, nowMs)) continue;
      try {
        const reading = this.#meanings.get(key) ?? readingOf(serviceId, metricName, byLabel);
        this.#meanings.set(key, reading);
        const { factor, meanings } = reading;
        // Whichever of them cannot be asked, the rule cannot be evaluated.
        if (meanings.some(({ target }) => this.#isResting(target.key, nowMs))) continue;
        const keptMs = keptOf.get(keptSince) ?? keptSince.epochMilliseconds;
        keptOf.set(keptSince, keptMs);
        judgings.set(ruleId, { comparator, factor, trafficAtLeast, isByLabel: byLabel !== null });
        for (const [window, minutes] of windowsOfRule(windowMinutes, settings).entries()) {
          const fromMs = Math.max(toMs - minutes * 60_000, keptMs);
          for (const meaning of meanings) planned.push({ ruleId, aggregation, fromMs, keptMs, window, ...meaning });
        }
      } catch (error) {
        this.#rest(key, nowMs);
        failed.set(ruleId, error);
      }
    }
    return planned;
  }

  #isResting(key: string, nowMs: number): boolean {
    return this.#resting.size > 0 && nowMs < (this.#resting.get(key) ?? 0);
  }

  /** Answers what it can, and leaves the rest. */
  async #answerFromMemory(
    recent: Pick<RecentPoints, 'read'>,
    planned: readonly PlannedQuestion[],
    { toMs, answers }: Findings,
  ): Promise<void> {
    const needed = new Map<string, Needed>();
    for (const { target, fromMs, keptMs } of planned) {
      const oldestMs = Math.max(fromMs - COUNTER_LOOKBACK_MS, keptMs);
      const need = needed.get(target.metric);
      if (need !== undefined && need.oldestMs <= oldestMs) continue;
      needed.set(target.metric, { serviceId: target.serviceId, name: target.selector.name, oldestMs });
    }
    const pointsOf = await recent.read(needed, toMs);
    const answered = planned.flatMap((question) => {
      const points = pointsOf.get(question.target.metric);
      return points === undefined ? [] : [{ question, points }];
    });
    const selective = new Map(
      answered
        .filter(({ question }) => isSelective(question.target))
        .map(({ question: { target }, points }) => [target.key, { target, series: points.keys() }]),
    );
    const isMatched = await this.#learnMatches([...selective.values()]).then(
      () => true,
      () => false,
    );
    for (const { question, points } of answered) {
      // What one pattern spoils for all is found out where questions are asked in halves.
      if (!isMatched && isSelective(question.target)) continue;
      answers.set(question, { shapes: new Set(shapesOf(question)), windows: this.#windowsOf(question, points, toMs) });
    }
  }

  #windowsOf(question: PlannedQuestion, points: PointsBySeries, toMs: number): Map<string, Windows> {
    const { target, fromMs, keptMs } = question;
    const isOfAll = !isSelective(target);
    const withGrowth = shapesOf(question).includes('growth');
    const open = () => emptyWindow({ fromMs, toMs, keptMs, withGrowth });
    const windows = new Map(isWhole(target) ? [['', open()]] : []);
    for (const [name, series] of points) {
      const bucket = isOfAll ? '' : this.#matches.get(pairKey(target, name));
      if (bucket === undefined || bucket === null) continue;
      const window = windows.get(bucket) ?? open();
      windows.set(bucket, window);
      series.addTo(window);
    }
    return new Map([...windows].map(([bucket, window]) => [bucket, windowsOf(window)]));
  }

  async #answer(group: QuestionGroup, findings: Findings): Promise<void> {
    try {
      const slotsOf = await this.#ask(group, findings.toMs);
      for (const question of group.questions) {
        const answer = findings.answers.get(question) ?? { shapes: new Set(), windows: new Map<string, Windows>() };
        findings.answers.set(question, answer);
        answer.shapes.add(group.shape);
        for (const [bucket, slots] of slotsOf(question.target.key)) {
          const windows = answer.windows.get(bucket) ?? {};
          windows[group.shape] = windowOf(group.shape, slots, question.fromMs);
          answer.windows.set(bucket, windows);
        }
      }
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const halves = halve(group);
      for (const half of halves ?? []) await this.#answer(half, findings);
      if (halves !== null) return;
      for (const { key } of group.targets) this.#rest(key, findings.toMs);
      for (const { ruleId } of group.questions) findings.failed.set(ruleId, error);
    }
  }

  /** The slots of each target, by its key, and there by bucket. */
  async #ask(group: QuestionGroup, toMs: number): Promise<(targetKey: string) => ReadonlyMap<string, readonly Slot[]>> {
    const [read, further] = await Promise.all([this.#rows(ruleQueryOf(group, toMs)), this.#furtherGrowth(group, toMs)]);
    const rows = Map.groupBy([...read, ...further], ([metric]) => String(metric));
    const groupRows = group.targets.map((target) => ({ target, rows: rows.get(target.metric) ?? [] }));
    await this.#learnMatches(
      groupRows
        .filter(({ target }) => isSelective(target))
        .map(({ target, rows }) => ({ target, series: rows.map(([, series]) => String(series)) })),
    );
    const slots = groupRows.map(({ target, rows }) => [target.key, this.#slotsOf(target, rows)] as const);
    const byTarget = new Map(slots);
    return (targetKey) => byTarget.get(targetKey) ?? new Map();
  }

  /** Rows of what counters grew by from samples before all that the group reads. */
  async #furtherGrowth({ shape, targets, froms, oldestMs, reachMs }: QuestionGroup, toMs: number): Promise<Row[]> {
    const [fromMs] = froms;
    if (shape !== 'growth' || fromMs === undefined || reachMs >= oldestMs) return [];
    const metrics = targets.map(({ serviceId, selector: { name } }) => ({ serviceId, name }));
    const orphans = await findOrphans(this.#client, metrics, { sinceMs: oldestMs, untilMs: toMs, firstMs: fromMs });
    const series = orphans.map((orphan) => orphan.series);
    const before = await findPredecessors(this.#client, metrics, series, { sinceMs: reachMs, untilMs: oldestMs });
    const selective = new Set(targets.filter(isSelective).map(({ metric }) => metric));
    return orphans.flatMap((orphan): Row[] => {
      const predecessor = before.get(predecessorKey(orphan.metric, orphan.series));
      if (predecessor === undefined) return [];
      const untilMs = Math.min(orphan.atMs, predecessor.atMs + COUNTER_REACH_MS);
      const slot = froms.findLast((from) => from <= untilMs) ?? 0;
      const grown = growthBetween(predecessor.value, orphan.value);
      return [[orphan.metric, selective.has(orphan.metric) ? orphan.series : '0', slot, grown, orphan.atMs]];
    });
  }

  #slotsOf(target: Target, rows: readonly Row[]): ReadonlyMap<string, readonly Slot[]> {
    if (!isSelective(target)) return new Map([['', rows.map(rowToSlot)]]);
    const slots = new Map<string, Slot[]>(isWhole(target) ? [['', []]] : []);
    for (const row of rows) {
      const bucket = this.#matches.get(pairKey(target, row[1]));
      if (bucket === undefined || bucket === null) continue;
      const rules = slots.get(bucket) ?? [];
      rules.push(rowToSlot(row));
      slots.set(bucket, rules);
    }
    return slots;
  }

  /** Labels are looked at when a series is seen for the first time. */
  async #learnMatches(
    groups: readonly { readonly target: Target; readonly series: Iterable<string> }[],
  ): Promise<void> {
    const unknown = groups.flatMap(({ target, series }) =>
      [...series]
        .filter((key) => this.#matches.get(pairKey(target, key)) === undefined)
        .map((key) => ({ target, series: key })),
    );
    if (unknown.length === 0) return;
    const targets = [...new Set(unknown.map(({ target }) => target))];
    const matching = await this.#rows(matchQueryOf(targets, [...new Set(unknown.map(({ series }) => series))]));
    for (const { target, series } of unknown) this.#matches.set(pairKey(target, series), null);
    for (const [place, matched, bucket, value] of matching) {
      const target = targets[Number(place)];
      if (target === undefined) continue;
      const text = target.isOfBuckets ? String(bucket) : '';
      this.#matches.set(pairKey(target, matched), target.label === null ? text : apartKey(String(value), text));
    }
  }

  #rest(key: string, nowMs: number): void {
    this.#resting.set(key, nowMs + RESPITE_MS);
  }

  async #rows({ sql, parameters }: ReturnType<typeof ruleQueryOf>): Promise<Row[]> {
    return await readRows<Row>(this.#client, sql, parameters, {
      ...SEES_ALL_ACKNOWLEDGED,
      max_execution_time: QUERY_SECONDS_MAX,
      output_format_json_quote_denormals: 1,
    });
  }
}

/** Whether all series of a target are answered together. */
function isWhole({ isOfBuckets, label }: Target): boolean {
  return !isOfBuckets && label === null;
}

function pairKey({ key }: Target, series: unknown): string {
  return `${String(series)} ${key}`;
}

function rowToSlot([, , from, ...columns]: Row): Slot {
  return toSlot(from, columns);
}

/** Reading of a side of a rule: its series, or the buckets of a histogram for a quantile, and the bounds of it. */
type Meaning = Pick<PlannedQuestion, 'target' | 'quantile' | 'beside' | 'side'>;

/** Readings of the sides of a rule, and the factor of its ratio. */
interface Reading {
  readonly factor: number;
  readonly meanings: readonly Meaning[];
}

/** Returns the readings of a rule, of which each value of the label is answered by itself if there is one. */
function readingOf(serviceId: Id<'service'>, metricName: string, label: string | null): Reading {
  const { sides, texts, factor } = readCheckedExpression(metricName);
  const apart = label === null ? '' : ` by ${JSON.stringify(label)}`;
  // A side shares its target with the rules that look at nothing else.
  const meanings = sides.flatMap((selector, side) =>
    meaningsOf(`${serviceId} ${texts[side] ?? ''}${apart}`, { serviceId, selector, side, label }),
  );
  return { factor, meanings };
}

interface Side extends Pick<Target, 'serviceId' | 'selector' | 'label'> {
  readonly side: number;
}

function meaningsOf(key: string, { serviceId, selector, side, label }: Side): readonly Meaning[] {
  const targetOf = (targetKey: string, of: MetricSelector, isOfBuckets: boolean): Target => {
    const metric = metricKeyOf({ serviceId, name: of.name });
    return { key: targetKey, serviceId, selector: of, metric, isOfBuckets, label };
  };
  const ofSeries: Meaning = { target: targetOf(key, selector, false), quantile: null, beside: null, side };
  const question = quantileQuestionOf(selector);
  if (question === null) return [ofSeries];
  // Rules that ask different quantiles of the same buckets share their target.
  const bucketsKey = `${serviceId} buckets ${JSON.stringify([question.buckets, label])}`;
  const ofBuckets: Meaning = {
    target: targetOf(bucketsKey, question.buckets, true),
    quantile: question.quantile,
    beside: null,
    side,
  };
  const bounds = BESIDE_BUCKETS.map((what): Meaning => {
    const target = targetOf(`${bucketsKey} ${what}`, besideBuckets(question.buckets, what), false);
    return { target, quantile: null, beside: what, side };
  });
  return [ofSeries, ofBuckets, ...bounds];
}
