import type { Aggregation } from '#core/metrics/aggregate.ts';
import { ruleWindow } from '#core/metrics/breach.ts';
import { type MetricSelector, parseSelector } from '#core/metrics/selector.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type ClickHouseClient, guardClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { RuleAnswers } from '#storage/clickhouse/rule_answers.ts';
import { groupQuestions, halve, type PlannedQuestion, type QuestionGroup } from '#storage/clickhouse/rule_plan.ts';
import { ruleQueryOf, type Shape, SHAPES } from '#storage/clickhouse/rule_query.ts';

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
  /** Why rules could not be evaluated, told once each time it was tried. */
  readonly failed: ReadonlyMap<Id<'rule'>, unknown>;
}

/** Of one query: what takes longer is looked at apart from the rest. */
const QUERY_SECONDS_MAX = 10;
/** A target that failed by itself is left alone for so long. */
const RESPITE_MS = 60_000;

/**
 * Reads for the evaluation of rules: all of them in a few grouped queries. A rule's value is what `aggregateOnce` of
 * core/metrics says of the samples of its window, which is read anew each time, so that late samples count as long as
 * the window holds their time.
 */
export class RuleReader {
  readonly #client: ClickHouseClient;
  #selectors = new Map<string, MetricSelector>();
  /** Targets that failed by themselves, and until when they are not tried again. */
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
    const values = new Map<Id<'rule'>, number | null>();
    const failed = new Map<Id<'rule'>, unknown>();
    const { toMs } = ruleWindow(1, now);
    const planned = this.#plan(questions, now, failed);
    for (const group of groupQuestions(planned, toMs)) await this.#answer(group, toMs, values, failed);
    const [error] = failed.values();
    if (values.size === 0 && error !== undefined) throw error;
    return { values, failed };
  }

  #plan(
    questions: readonly RuleQuestion[],
    now: Temporal.Instant,
    failed: Map<Id<'rule'>, unknown>,
  ): PlannedQuestion[] {
    const selectors = new Map<string, MetricSelector>();
    const planned: PlannedQuestion[] = [];
    for (const { ruleId, serviceId, metricName, windowMinutes, aggregation, keptSince } of questions) {
      const key = `${serviceId} ${metricName}`;
      if (now.epochMilliseconds < (this.#resting.get(key) ?? 0)) continue;
      try {
        const selector = selectors.get(metricName) ?? this.#selectors.get(metricName) ?? parseSelector(metricName);
        selectors.set(metricName, selector);
        const keptMs = keptSince.epochMilliseconds;
        const fromMs = Math.max(ruleWindow(windowMinutes, now).fromMs, keptMs);
        planned.push({ ruleId, target: { key, serviceId, selector }, aggregation, fromMs, keptMs });
      } catch (error) {
        this.#rest(key, now.epochMilliseconds);
        failed.set(ruleId, error);
      }
    }
    // Only those of this evaluation are kept, so that selectors of rules that are gone are forgotten.
    this.#selectors = selectors;
    return planned;
  }

  async #answer(
    group: QuestionGroup,
    toMs: number,
    values: Map<Id<'rule'>, number | null>,
    failed: Map<Id<'rule'>, unknown>,
  ): Promise<void> {
    try {
      const answers = await this.#ask(group, toMs);
      for (const question of group.questions) values.set(question.ruleId, answers.valueOf(question));
      for (const { key } of group.targets) this.#resting.delete(key);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') throw error;
      const halves = halve(group);
      for (const half of halves ?? []) await this.#answer(half, toMs, values, failed);
      if (halves !== null) return;
      for (const { key } of group.targets) this.#rest(key, toMs);
      for (const { ruleId } of group.questions) failed.set(ruleId, error);
    }
  }

  async #ask(group: QuestionGroup, toMs: number): Promise<RuleAnswers> {
    const shapes = new Set(group.questions.flatMap(({ aggregation }) => SHAPES[aggregation]));
    const answers = new RuleAnswers(group);
    await Promise.all([...shapes].map(async (shape) => answers.add(shape, await this.#rows(shape, group, toMs))));
    return answers;
  }

  #rest(key: string, nowMs: number): void {
    this.#resting.set(key, nowMs + RESPITE_MS);
  }

  async #rows(shape: Shape, group: QuestionGroup, toMs: number): Promise<unknown[][]> {
    const { sql, parameters } = ruleQueryOf(shape, group, toMs);
    return await guardClickHouse(async () => {
      const result = await this.#client.query({
        query: sql,
        query_params: parameters,
        use_multipart_params_auto: true,
        format: 'JSONCompactEachRow',
        clickhouse_settings: { max_execution_time: QUERY_SECONDS_MAX, output_format_json_quote_denormals: 1 },
      });
      return await result.json<unknown[]>();
    });
  }
}
