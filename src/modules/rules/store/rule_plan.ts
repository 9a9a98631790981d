import { type Aggregation, COUNTER_LOOKBACK_MS, COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import type { BesideBuckets } from '#modules/metrics/decide/quantile.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import type { Id } from '#kernel/ids.ts';

/** Question of a rule: one number over `[fromMs, toMs)`; all questions of an evaluation end at the same time. */
export interface PlannedQuestion {
  readonly ruleId: Id<'rule'>;
  readonly target: Target;
  readonly aggregation: Aggregation;
  /** Start of the window or of what the service keeps, whichever is later; epoch milliseconds. */
  readonly fromMs: number;
  /** Older points are as if they were not there. */
  readonly keptMs: number;
  /**
   * Quantile of the observations in the buckets that the target means, whatever the aggregation; null for the
   * aggregate.
   */
  readonly quantile: number | null;
  /** Its target bounds the observations of a quantile that the same rule asks; null for what is a value of its own. */
  readonly beside: BesideBuckets | null;
  /** Side of the rule's expression: 0, or 1 for the divisor of a ratio. */
  readonly side: number;
  /** Window of the rule: 0, or 1 for the shorter one that it requires too. */
  readonly window: number;
}

/** The series that rules look at. Rules that say the same of the same service share one. */
export interface Target {
  readonly key: string;
  readonly serviceId: Id<'service'>;
  readonly selector: MetricSelector;
  /** Key by which rows name its metric: `metricKeyOf`. */
  readonly metric: string;
  /** Its series are buckets of a histogram, which are answered one by one. */
  readonly isOfBuckets: boolean;
  /** Label whose values are answered one by one; null: all series together. */
  readonly label: string | null;
}

/** Kind of columns that one pass over points returns. */
export type Shape = 'samples' | 'growth';

/** Shapes that each aggregation needs; `sum` adds gauges and deltas as sent, and the growth of counters. */
const SHAPES: Readonly<Record<Aggregation, readonly Shape[]>> = {
  avg: ['samples'],
  min: ['samples'],
  max: ['samples'],
  count: ['samples'],
  sum: ['samples', 'growth'],
  last: ['samples'],
};

/** A quantile is made of what each bucket gained. */
export function shapesOf({ quantile, aggregation }: PlannedQuestion): readonly Shape[] {
  return SHAPES[quantile === null ? aggregation : 'sum'];
}

/** Questions that one query answers. */
export interface QuestionGroup {
  readonly shape: Shape;
  readonly questions: readonly PlannedQuestion[];
  readonly targets: readonly Target[];
  /** Starts of the windows, each once, oldest first. */
  readonly froms: readonly number[];
  /** Points from here on are read, so that counters have something to have grown from. */
  readonly oldestMs: number;
  /** Samples from here on are looked for where a counter has none in that. */
  readonly reachMs: number;
}

/** A query reads as far back as its longest window, so windows of much different length stand apart. */
const BANDS_MINUTES = [5, 20, 60, 240, 1_440, 10_080];
/** Limit on the windows of a query. With the next limit it bounds the rows of an answer. */
const WINDOWS_MAX = 64;
const TARGETS_MAX = 2_000;

/**
 * The fewest groups that are worth it: apart by what is asked, by the length of the windows, and, where a service keeps
 * less than its counters' samples are looked for, by what it keeps.
 */
export function groupQuestions(questions: readonly PlannedQuestion[], toMs: number): QuestionGroup[] {
  const asked = questions.flatMap((question) => shapesOf(question).map((shape) => ({ shape, question })));
  const alike = Map.groupBy(asked, ({ shape, question: { fromMs, keptMs } }) => {
    const band = BANDS_MINUTES.findIndex((minutes) => toMs - fromMs <= minutes * 60_000);
    const kept = keptMs > fromMs - COUNTER_REACH_MS ? keptMs : 'all';
    return `${shape} ${band} ${kept}`;
  });
  return [...alike.values()].flatMap((group) => {
    const shape = group[0]?.shape ?? 'samples';
    const ofGroup = group.map(({ question }) => question);
    return chunksBy(ofGroup, ({ fromMs }) => fromMs, WINDOWS_MAX)
      .flatMap((part) => chunksBy(part, ({ target }) => target.key, TARGETS_MAX))
      .map((part) => toGroup(shape, part));
  });
}

/** Whether labels decide which of its series count. */
export function isSelective({ selector, isOfBuckets, label }: Target): boolean {
  return isOfBuckets || label !== null || selector.matchers.length > 0;
}

/** The same questions in two halves of their targets; null when there is only one left. */
export function halve({ shape, questions, targets }: QuestionGroup): readonly [QuestionGroup, QuestionGroup] | null {
  if (targets.length < 2) return null;
  const first = new Set(targets.slice(0, Math.ceil(targets.length / 2)).map(({ key }) => key));
  return [
    toGroup(
      shape,
      questions.filter(({ target }) => first.has(target.key)),
    ),
    toGroup(
      shape,
      questions.filter(({ target }) => !first.has(target.key)),
    ),
  ];
}

function toGroup(shape: Shape, questions: readonly PlannedQuestion[]): QuestionGroup {
  const targets = [...new Map(questions.map(({ target }) => [target.key, target])).values()];
  const froms = [...new Set(questions.map(({ fromMs }) => fromMs))].sort((a, b) => a - b);
  const oldestMs = Math.min(...questions.map(({ fromMs, keptMs }) => Math.max(fromMs - COUNTER_LOOKBACK_MS, keptMs)));
  const reachMs = Math.min(...questions.map(({ fromMs, keptMs }) => Math.max(fromMs - COUNTER_REACH_MS, keptMs)));
  return { shape, questions, targets, froms, oldestMs, reachMs };
}

/** Splits items into chunks that hold at most `max` different keys each; items of one key stay together. */
function chunksBy<Item>(items: readonly Item[], keyOf: (item: Item) => string | number, max: number): Item[][] {
  const byKey = [...Map.groupBy(items, keyOf).values()];
  return Array.from({ length: Math.ceil(byKey.length / max) }, (_, index) =>
    byKey.slice(index * max, (index + 1) * max).flat(),
  );
}
