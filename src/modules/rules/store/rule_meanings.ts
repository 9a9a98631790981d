import { BESIDE_BUCKETS, besideBuckets, quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { readCheckedExpression } from '#modules/metrics/decide/selector.ts';
import type { Id } from '#kernel/ids.ts';
import { metricKeyOf } from '#modules/metrics/store/point_rows.ts';
import type { PlannedQuestion, Target } from '#modules/rules/store/rule_plan.ts';

/** Reading of a side of a rule: its series, or the buckets of a histogram for a quantile, and the bounds of it. */
type Meaning = Pick<PlannedQuestion, 'target' | 'quantile' | 'beside' | 'side'>;

/** Readings of the sides of a rule, and the factor of its ratio. */
export interface Reading {
  readonly factor: number;
  readonly meanings: readonly Meaning[];
}

/** Returns the readings of a rule, of which each value of the label is answered by itself if there is one. */
export function readingOf(serviceId: Id<'service'>, metricName: string, label: string | null): Reading {
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
