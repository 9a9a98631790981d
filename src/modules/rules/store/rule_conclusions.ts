import { type Expression, sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { MeasuredValue } from '#modules/rules/decide/breach.ts';
import { furthest } from '#modules/rules/decide/by_label.ts';
import { judgedValue, type Judging } from '#modules/rules/decide/judged_value.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { boundsWithin, quantileWithin, valueOf, type Windows } from '#modules/rules/store/rule_answers.ts';
import { type PlannedQuestion, type Shape, shapesOf } from '#modules/rules/store/rule_plan.ts';
import type { Row } from '#storage/postgres/store.ts';
import type { Session } from '#storage/postgres/database.ts';
import type { IncidentEntity } from '#storage/postgres/entities/incidents.ts';

export interface Evaluation {
  /** Value of each rule that could be evaluated; null where its window holds no data. Other rules are absent. */
  readonly values: ReadonlyMap<Id<'rule'>, number | null>;
  /** Values of the rules by label that have data, by the value of the label; empty text: series without the label. */
  readonly byLabel: ReadonlyMap<Id<'rule'>, ReadonlyMap<string, MeasuredValue>>;
  /** Rules whose quantile is more than its value, which is the highest bound of a histogram. */
  readonly moreThan: ReadonlySet<Id<'rule'>>;
  /** Called with the reason each time rules could not be evaluated. */
  readonly failed: ReadonlyMap<Id<'rule'>, unknown>;
}

/** Results of an evaluation so far. */
export interface Findings {
  readonly toMs: number;
  readonly answers: Map<PlannedQuestion, Answer>;
  readonly judgings: Map<Id<'rule'>, Judging & { readonly isByLabel: boolean }>;
  readonly failed: Map<Id<'rule'>, unknown>;
  /** Keys of targets that are counted only when it happens: on the upper side of a ratio, none of them are 0. */
  readonly deltas: Set<string>;
}

/** Whether a question is the upper side of a ratio of sums, of which no points may mean 0. */
function mayBeZero(
  { side, aggregation, quantile, beside }: PlannedQuestion,
  ofRule: readonly PlannedQuestion[],
): boolean {
  return (
    side === 0 &&
    aggregation === 'sum' &&
    quantile === null &&
    beside === null &&
    ofRule.some((other) => other.side === 1)
  );
}

/** Returns the upper sides of ratios of sums without points in a window in which the lower side has some. */
export function questionsWithoutPoints(
  planned: readonly PlannedQuestion[],
  answers: Findings['answers'],
): PlannedQuestion[] {
  const ofRatios = new Set(planned.flatMap(({ side, ruleId }) => (side === 1 ? ruleId : [])));
  const byRule = Map.groupBy(
    planned.filter(({ ruleId }) => ofRatios.has(ruleId)),
    ({ ruleId }) => ruleId,
  );
  const windowsOf = (question: PlannedQuestion) => answers.get(question)?.windows ?? new Map<string, Windows>();
  return [...byRule.values()].flatMap((ofRule) =>
    ofRule.filter((question) => {
      if (!mayBeZero(question, ofRule)) return false;
      const { window, fromMs } = question;
      const hasPoints = (windows: Windows = {}): boolean => valueOf('sum', windows, fromMs) !== null;
      return ofRule.some(
        (other) =>
          other.side === 1 &&
          other.window === window &&
          [...windowsOf(other)].some(
            ([key, windows]) => hasPoints(windows) && !hasPoints(windowsOf(question).get(key)),
          ),
      );
    }),
  );
}

interface Answer {
  /** Shapes read so far. */
  readonly shapes: Set<Shape>;
  /** Windows by bucket; an aggregate has only the one named by the empty text. */
  readonly windows: Map<string, Windows>;
}

/** Key of what is answered apart: the value of a label, and the bucket. */
export function apartKey(value: string, bucket: string): string {
  return JSON.stringify([value, bucket]);
}

/** Divides the answers of a question by the values of its label, each by bucket. */
function byValueOf(windows: ReadonlyMap<string, Windows>): Map<string, Map<string, Windows>> {
  const byValue = new Map<string, Map<string, Windows>>();
  for (const [key, shapes] of windows) {
    const [value = '', bucket = '']: string[] = JSON.parse(key);
    byValue.set(value, (byValue.get(value) ?? new Map<string, Windows>()).set(bucket, shapes));
  }
  return byValue;
}

/** Returns the values of the rules of which everything was read. Throws the reason when there are none. */
export function concluded(
  planned: readonly PlannedQuestion[],
  { answers, judgings, failed, deltas }: Findings,
): Evaluation {
  const values = new Map<Id<'rule'>, number | null>();
  const moreThan = new Set<Id<'rule'>>();
  const byLabel = new Map<Id<'rule'>, ReadonlyMap<string, MeasuredValue>>();
  for (const [ruleId, ofRule] of Map.groupBy(planned, (question) => question.ruleId)) {
    const isKnown = ofRule.every((question) => {
      const read = answers.get(question)?.shapes;
      return shapesOf(question).every((shape) => read?.has(shape));
    });
    const judging = judgings.get(ruleId);
    if (!isKnown || judging === undefined) continue;
    const valueBy = (windowsOf: WindowsOf): MeasuredValue =>
      judgedValue(
        groups(ofRule, ({ window }) => window).map((ofWindow) =>
          groups(ofWindow, ({ side }) => side).map((ofSide) => {
            const measured = firstValue(ofSide, windowsOf);
            if (measured.value !== null) return measured;
            const isZero = ofSide.some((question) => deltas.has(question.target.key) && mayBeZero(question, ofRule));
            return isZero ? { value: 0 } : measured;
          }),
        ),
        judging,
      );
    if (!judging.isByLabel) {
      const { value, isMoreThan = false } = valueBy((question) => answers.get(question)?.windows ?? new Map());
      values.set(ruleId, value);
      if (isMoreThan) moreThan.add(ruleId);
      continue;
    }
    const divided = new Map(
      ofRule.map((question) => [question, byValueOf(answers.get(question)?.windows ?? new Map())]),
    );
    const measuredBy = new Map<string, MeasuredValue>();
    for (const label of new Set([...divided.values()].flatMap((byValue) => [...byValue.keys()]))) {
      const measured = valueBy((question) => divided.get(question)?.get(label) ?? new Map());
      if (measured.value !== null) measuredBy.set(label, measured);
    }
    byLabel.set(ruleId, measuredBy);
    values.set(ruleId, furthest(judging.comparator, measuredBy.values())?.value ?? null);
  }
  const [error] = failed.values();
  if (values.size === 0 && error !== undefined) throw error;
  return { values, byLabel, moreThan, failed };
}

function groups<Item>(items: readonly Item[], keyOf: (item: Item) => number): Item[][] {
  return [...Map.groupBy(items, keyOf).values()];
}

type WindowsOf = (question: PlannedQuestion) => ReadonlyMap<string, Windows>;

/** Returns the first value found; series with a label `quantile` of their own, as summaries have, come first. */
function firstValue(planned: readonly PlannedQuestion[], windowsOf: WindowsOf): MeasuredValue {
  for (const question of planned) {
    const { aggregation, quantile, fromMs, beside } = question;
    if (beside !== null) continue;
    const windows = windowsOf(question);
    if (quantile === null) {
      const value = valueOf(aggregation, windows.get('') ?? {}, fromMs);
      if (value !== null) return { value };
      continue;
    }
    const bounds = boundsWithin((what) => {
      const bound = planned.find((other) => other.beside === what);
      return (bound && windowsOf(bound).get('')) ?? {};
    });
    const measured = quantileWithin(quantile, windows, fromMs, bounds);
    if (measured !== null) return measured;
  }
  return { value: null };
}

/** An incident that a rule has opened and that is not resolved. */
export type OpenIncident = Pick<Row<typeof IncidentEntity>, 'countedAt' | 'clearSince'> & {
  readonly incidentId: Id<'incident'>;
  readonly ruleId: Id<'rule'>;
  readonly openedAt: Temporal.Instant;
  /** Id of the rule, and for a part of a rule by label a dot and the part. */
  readonly dedupKey: string;
  /** True when the incident is a storm that stands for this rule among others. */
  readonly isMember: boolean;
};

/** Builds the query for the open incidents of rules of a kind: their own, and storms that stand for them. */
export function openIncidents(db: Session['db'], kind: RuleKind | Expression<RuleKind>) {
  const incidents = db
    .selectFrom('incidents as i')
    .select((eb) => [
      'i.id as incidentId',
      eb.ref('i.rule_id').$notNull().as('ruleId'),
      'i.triggered_at as openedAt',
      'i.counted_at as countedAt',
      'i.clear_since as clearSince',
      'i.dedup_key as dedupKey',
      sql<boolean>`false`.as('isMember'),
    ])
    .where('i.status', '<>', 'resolved')
    .where('i.storm_until', 'is', null)
    .where('i.kind', '=', kind)
    .where('i.rule_id', 'is not', null);
  const members = db
    .selectFrom('incident_members as m')
    .select((eb) => [
      'm.incident_id as incidentId',
      eb.ref('m.rule_id').$notNull().as('ruleId'),
      'm.joined_at as openedAt',
      'm.counted_at as countedAt',
      'm.clear_since as clearSince',
      'm.dedup_key as dedupKey',
      sql<boolean>`true`.as('isMember'),
    ])
    .where('m.ended_at', 'is', null)
    .where('m.kind', '=', kind)
    .where('m.rule_id', 'is not', null);
  return db.selectFrom(incidents.unionAll(members).as('open')).selectAll('open');
}
