import type { Aggregation } from '#core/metrics/aggregate.ts';
import { COUNTER_LOOKBACK_MS } from '#core/metrics/increase.ts';
import type { MetricSelector } from '#core/metrics/selector.ts';
import type { Id } from '#kernel/ids.ts';

/** What a rule asks of the points: one number over the stretch `[fromMs, toMs)`, which all of one evaluation end alike. */
export interface PlannedQuestion {
  readonly ruleId: Id<'rule'>;
  readonly target: Target;
  readonly aggregation: Aggregation;
  /** Where its window begins, or what its service keeps, whichever is later; epoch milliseconds. */
  readonly fromMs: number;
  /** Older points are as if they were not there. */
  readonly keptMs: number;
}

/** The series that rules look at. Rules that say the same of the same service share one. */
export interface Target {
  readonly key: string;
  readonly serviceId: Id<'service'>;
  readonly selector: MetricSelector;
}

/** Questions that one pass over the points answers. */
export interface QuestionGroup {
  readonly questions: readonly PlannedQuestion[];
  readonly targets: readonly Target[];
  /** Where the windows begin, each once, oldest first. */
  readonly froms: readonly number[];
  /** Points from here on are read, so that counters have something to have grown from. */
  readonly oldestMs: number;
}

/** Groups read as far back as their longest window, so windows of much different length stand apart. */
const BANDS_MINUTES = [15, 120, 1_440, 10_080];
/** With the next it bounds the rows of an answer. */
const WINDOWS_MAX = 64;
const TARGETS_MAX = 2_000;

/**
 * The fewest groups that are worth it: apart by the length of the windows, by whether labels have to be looked at,
 * and, where a service keeps less than its counters' lookback reaches, by what it keeps.
 */
export function groupQuestions(questions: readonly PlannedQuestion[], toMs: number): QuestionGroup[] {
  const alike = Map.groupBy(questions, (question) => {
    const band = BANDS_MINUTES.findIndex((minutes) => toMs - question.fromMs <= minutes * 60_000);
    const kept = question.keptMs > question.fromMs - COUNTER_LOOKBACK_MS ? question.keptMs : 'all';
    return `${band} ${question.target.selector.matchers.length > 0} ${kept}`;
  });
  return [...alike.values()].flatMap((group) =>
    chunksBy(group, ({ fromMs }) => fromMs, WINDOWS_MAX).flatMap((part) =>
      chunksBy(part, ({ target }) => target.key, TARGETS_MAX).map(toGroup),
    ),
  );
}

/** The same question in two halves of its targets; null when there is only one left. */
export function halve({ questions }: QuestionGroup): readonly [QuestionGroup, QuestionGroup] | null {
  const keys = [...new Set(questions.map(({ target }) => target.key))];
  if (keys.length < 2) return null;
  const first = new Set(keys.slice(0, Math.ceil(keys.length / 2)));
  return [
    toGroup(questions.filter(({ target }) => first.has(target.key))),
    toGroup(questions.filter(({ target }) => !first.has(target.key))),
  ];
}

function toGroup(questions: readonly PlannedQuestion[]): QuestionGroup {
  const froms = [...new Set(questions.map(({ fromMs }) => fromMs))].sort((a, b) => a - b);
  const targets = [...new Map(questions.map(({ target }) => [target.key, target])).values()];
  const oldestMs = Math.min(...questions.map(({ fromMs, keptMs }) => Math.max(fromMs - COUNTER_LOOKBACK_MS, keptMs)));
  return { questions, targets, froms, oldestMs };
}

/** In parts that hold at most `max` different keys each, those of one key together. */
function chunksBy<Item>(items: readonly Item[], keyOf: (item: Item) => string | number, max: number): Item[][] {
  const byKey = [...Map.groupBy(items, keyOf).values()];
  return Array.from({ length: Math.ceil(byKey.length / max) }, (_, index) =>
    byKey.slice(index * max, (index + 1) * max).flat(),
  );
}
