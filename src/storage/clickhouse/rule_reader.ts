import pLimit from 'p-limit';

import type { Aggregation } from '#core/metrics/aggregation.ts';
import { ruleWindow } from '#core/metrics/breach.ts';
import { quantileQuestionOf } from '#core/metrics/quantile.ts';
import { parseSelector } from '#core/metrics/selector.ts';
import type { MetricSelector } from '#core/metrics/read_selector.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';
import { GenerationalCache } from '#storage/clickhouse/generational_cache.ts';
import {
  quantileWithin,
  type Slot,
  toSlot,
  valueOf,
  windowOf,
  type Windows,
} from '#storage/clickhouse/rule_answers.ts';
import {
  groupQuestions,
  halve,
  isSelective,
  type PlannedQuestion,
  type QuestionGroup,
  type Shape,
  shapesOf,
  type Target,
} from '#storage/clickhouse/rule_plan.ts';
import { matchQueryOf, metricOf, ruleQueryOf } from '#storage/clickhouse/rule_query.ts';

/** What a rule asks of the points: one number over its window. */
export interface RuleQuestion {
  readonly ruleId: Id<'rule'>;
  readonly serviceId: Id<'service'>;
  /** May carry a selector. */
  readonly metricName: string;
  readonly windowMinutes: number;
  readonly aggregation: Aggregation;
  /** Older points are as if they were not there. */
  readonly keptSince: Temporal.Instant;
}

export interface Evaluation {
  /** Of each rule that could be evaluated; null where its window holds no data. Of others nothing is known. */
  readonly values: ReadonlyMap<Id<'rule'>, number | null>;
  /** Called with the reason each time rules could not be evaluated. */
  readonly failed: ReadonlyMap<Id<'rule'>, unknown>;
}

/** What an evaluation has found out so far. */
interface Findings {
  readonly toMs: number;
  readonly answers: Map<PlannedQuestion, Answer>;
  readonly failed: Map<Id<'rule'>, unknown>;
}

interface Answer {
  /** What was read so far. */
  readonly shapes: Set<Shape>;
  /** By bucket; where an aggregate is asked, there is only the one named by the empty text. */
  readonly windows: Map<string, Windows>;
}

type Row = readonly unknown[];

/** Of one query: what takes longer is looked at apart from the rest. */
const QUERY_SECONDS_MAX = 10;
const CONCURRENT_QUERIES = 3;
/** A target whose own query failed is skipped for this long. */
const RESPITE_MS = 60_000;

/**
 * Reads for the evaluation of rules: all of them in a few grouped queries. The window of a
 * rule is read again each time, so that late samples count while the window contains their time.
 */
export class RuleReader {
  readonly #client: ClickHouseClient;
  readonly #selectors = new GenerationalCache<MetricSelector>();
  /**
   * By target and series: the bucket of a series that is meant, else null. A series never changes its labels, so what
   * was found out once stays true.
   */
  readonly #matches = new GenerationalCache<string | null>();
  /** Targets whose own query failed, and until when they are skipped. */
  readonly #resting = new Map<string, number>();

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /**
   * The values over the windows that end at `now`. Where a query fails, its rules are asked for in halves, down to the
   * ones that cannot be evaluated, which hold up no other. Throws when the store is away, and when nothing at all
   * could be evaluated.
   */
  async evaluate(questions: readonly RuleQuestion[], now: Temporal.Instant): Promise<Evaluation> {
    const { toMs } = ruleWindow(1, now);
    const findings: Findings = { toMs, answers: new Map(), failed: new Map() };
    for (const memory of [this.#selectors, this.#matches]) memory.turn(toMs);
    const planned = this.#plan(questions, now, findings.failed);
    const limit = pLimit(CONCURRENT_QUERIES);
    try {
      await limit.map(groupQuestions(planned, toMs), (group) => this.#answer(group, findings));
    } finally {
      limit.clearQueue();
    }
    return concluded(planned, findings);
  }

  #plan(questions: readonly RuleQuestion[], now: Temporal.Instant, failed: Findings['failed']): PlannedQuestion[] {
    const planned: PlannedQuestion[] = [];
    for (const { ruleId, serviceId, metricName, windowMinutes, aggregation, keptSince } of questions) {
      const key = `${serviceId} ${metricName}`;
      const isResting = (targetKey: string): boolean => now.epochMilliseconds < (this.#resting.get(targetKey) ?? 0);
      if (isResting(key)) continue;
      try {
        const selector = this.#selectors.get(metricName) ?? parseSelector(metricName);
        this.#selectors.set(metricName, selector);
        const keptMs = keptSince.epochMilliseconds;
        const fromMs = Math.max(ruleWindow(windowMinutes, now).fromMs, keptMs);
        const asked = { ruleId, aggregation, fromMs, keptMs };
        planned.push({ ...asked, target: { key, serviceId, selector, isOfBuckets: false }, quantile: null });
        const question = quantileQuestionOf(selector);
        if (question === null) continue;
        // Rules that ask different quantiles of the same buckets share their target.
        const bucketsKey = `${serviceId} buckets ${JSON.stringify(question.buckets)}`;
        const target = { key: bucketsKey, serviceId, selector: question.buckets, isOfBuckets: true };
        if (isResting(bucketsKey)) planned.pop();
        else planned.push({ ...asked, target, quantile: question.quantile });
      } catch (error) {
        this.#rest(key, now.epochMilliseconds);
        failed.set(ruleId, error);
      }
    }
    return planned;
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
    const rows = Map.groupBy(await this.#rows(ruleQueryOf(group, toMs)), ([metric]) => String(metric));
    const found = group.targets.map((target) => ({ target, rows: rows.get(metricOf(target)) ?? [] }));
    await this.#learnMatches(found.filter(({ target }) => isSelective(target)));
    const slots = found.map(({ target, rows }) => [target.key, this.#slotsOf(target, rows)] as const);
    const byTarget = new Map(slots);
    return (targetKey) => byTarget.get(targetKey) ?? new Map();
  }

  #slotsOf(target: Target, rows: readonly Row[]): ReadonlyMap<string, readonly Slot[]> {
    if (!isSelective(target)) return new Map([['', rows.map(rowToSlot)]]);
    const slots = new Map<string, Slot[]>(target.isOfBuckets ? [] : [['', []]]);
    for (const row of rows) {
      const bucket = this.#matches.get(pairKey(target, row[1]));
      if (bucket === undefined || bucket === null) continue;
      const own = slots.get(bucket) ?? [];
      own.push(rowToSlot(row));
      slots.set(bucket, own);
    }
    return slots;
  }

  /** Labels are looked at when a series is seen for the first time. */
  async #learnMatches(found: readonly { readonly target: Target; readonly rows: readonly Row[] }[]): Promise<void> {
    const unknown = found.flatMap(({ target, rows }) => {
      const isUnknown = ([, series]: Row): boolean => this.#matches.get(pairKey(target, series)) === undefined;
      return rows.filter(isUnknown).map(([, series]) => ({ target, series: String(series) }));
    });
    if (unknown.length === 0) return;
    const targets = [...new Set(unknown.map(({ target }) => target))];
    const matching = await this.#rows(matchQueryOf(targets, [...new Set(unknown.map(({ series }) => series))]));
    for (const { target, series } of unknown) this.#matches.set(pairKey(target, series), null);
    for (const [place, matched, bucket] of matching) {
      const target = targets[Number(place)];
      if (target !== undefined) this.#matches.set(pairKey(target, matched), target.isOfBuckets ? String(bucket) : '');
    }
  }

  #rest(key: string, nowMs: number): void {
    this.#resting.set(key, nowMs + RESPITE_MS);
  }

  async #rows({ sql, parameters }: ReturnType<typeof ruleQueryOf>): Promise<Row[]> {
    return await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: sql,
        query_params: parameters,
        use_multipart_params_auto: true,
        format: 'JSONCompactEachRow',
        clickhouse_settings: {
          ...SEES_ALL_ACKNOWLEDGED,
          max_execution_time: QUERY_SECONDS_MAX,
          output_format_json_quote_denormals: 1,
        },
      });
      return await result.json<Row>();
    });
  }
}

function pairKey({ key }: Target, series: unknown): string {
  return `${String(series)} ${key}`;
}

function rowToSlot([, , from, ...columns]: Row): Slot {
  return toSlot(from, columns);
}

function concluded(planned: readonly PlannedQuestion[], { answers, failed }: Findings): Evaluation {
  const values = new Map<Id<'rule'>, number | null>();
  for (const [ruleId, own] of Map.groupBy(planned, (question) => question.ruleId)) {
    const isKnown = own.every((question) => {
      const read = answers.get(question)?.shapes;
      return shapesOf(question).every((shape) => read?.has(shape));
    });
    if (isKnown) values.set(ruleId, firstValue(own, answers));
  }
  const [error] = failed.values();
  if (values.size === 0 && error !== undefined) throw error;
  return { values, failed };
}

/** Where series bear the label `quantile` themselves, as those of a summary do, they are what is meant. */
function firstValue(own: readonly PlannedQuestion[], answers: Findings['answers']): number | null {
  for (const question of own) {
    const { aggregation, quantile, fromMs } = question;
    const windows = answers.get(question)?.windows ?? new Map<string, Windows>();
    const value =
      quantile === null
        ? valueOf(aggregation, windows.get('') ?? {}, fromMs)
        : quantileWithin(quantile, windows, fromMs);
    if (value !== null) return value;
  }
  return null;
}
