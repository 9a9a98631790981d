import { Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, MetricName, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { invalidInput } from '#kernel/errors.ts';
import { fromEpochMilliseconds, toTimestamp } from '#kernel/time.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { type Aggregation, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { LABEL_VALUES_MAX, WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { expressionFaults, readCheckedExpression } from '#modules/metrics/decide/selector.ts';
import { historyOfSides, isZeroWithout } from '#modules/metrics/expression_values.ts';
import { furthest } from '#modules/rules/decide/by_label.ts';
import { judgedHistory, windowsOfRule } from '#modules/rules/decide/judged_value.ts';
import { type Comparator, COMPARATORS, type MetricRuleSettings } from '#modules/rules/decide/kind_settings.ts';
import type { RuleHistory, RuleValues } from '#modules/rules/decide/replay.ts';
import { parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { RuleSettingsInput } from '#modules/rules/view.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Values of a label times minutes of a history by label. */
const VALUES_MAX = 4_000_000;

interface WantedHistory {
  readonly metricName: string;
  readonly aggregation: Aggregation;
  readonly windowMinutes: number;
  readonly days: number;
  /** Needed with two windows, and by label. */
  readonly comparator?: Comparator | undefined;
  readonly settings?:
    | Partial<Pick<MetricRuleSettings, 'shortWindowMinutes' | 'trafficAtLeast' | 'byLabel'>>
    | undefined;
}

/** History of a rule; that of one by label says at each minute the value that is furthest beyond any threshold. */
interface MeasuredHistory extends RuleHistory {
  /** Histories of the values of the label; null for a rule that is not by label. */
  readonly byValue: ReadonlyMap<string, RuleValues> | null;
}

/**
 * Reads the values that a rule would have measured at each full minute of the last days, as far back as the service
 * keeps whole windows: those that its evaluation would have found, with all points that have been stored by now.
 */
export async function readHistory(
  service: ServiceWithCapabilities,
  { metricName, aggregation, windowMinutes, days, comparator = '>', settings = {} }: WantedHistory,
  { metrics, now }: Pick<ActionContext, 'metrics' | 'now'>,
): Promise<MeasuredHistory> {
  const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
  const last = Math.floor(now.epochMilliseconds / MINUTE_MS);
  const wholeSince = Math.ceil(keptSince.epochMilliseconds / MINUTE_MS) + windowMinutes;
  const first = Math.max(last + 1 - (days * DAY_MS) / MINUTE_MS, Math.min(wholeSince, last));
  const times = { firstMs: first * MINUTE_MS, lastMs: last * MINUTE_MS, keptSince };
  const expression = readCheckedExpression(metricName);
  const judging = { comparator, factor: expression.factor, trafficAtLeast: settings.trafficAtLeast ?? null };
  const measure = async (sides: readonly MetricSelector[], isOfDeltas?: boolean): Promise<RuleValues> => {
    const windows = await Promise.all(
      windowsOfRule(windowMinutes, settings).map((minutes) => {
        const query = { serviceId: service.id, aggregation, windowMinutes: minutes, ...times };
        return historyOfSides(metrics, query, { sides, isOfDeltas });
      }),
    );
    return judgedHistory(windows, judging);
  };
  const history = { firstMs: times.firstMs, stepMs: MINUTE_MS };
  const label = settings.byLabel ?? null;
  if (label === null) return { ...history, ...(await measure(expression.sides)), byValue: null };
  const since = fromEpochMilliseconds(times.firstMs).subtract({ minutes: windowMinutes });
  const [upper, ...lower] = expression.sides;
  const asked = { serviceId: service.id, aggregation, keptSince, selector: upper };
  const isOfDeltas = lower.length > 0 && (await isZeroWithout(metrics, asked));
  const listed: string[] = [];
  // Of deltas, a value that only the lower side has is 0.
  for (const side of isOfDeltas ? expression.sides : [upper]) {
    listed.push(...(await listValues(service.id, side, { label, since }, metrics)));
  }
  const labelValues = [...new Set(listed)];
  if (labelValues.length * (last - first + 1) > VALUES_MAX) throw tooManyValues(label, labelValues.length);
  const byValue = new Map<string, RuleValues>();
  // One after the other, so that histories of others have their turn.
  for (const value of labelValues) {
    const ofValue = { label, operator: '=', value } as const;
    const narrowed = expression.sides.map(({ name, matchers }) => ({ name, matchers: [...matchers, ofValue] }));
    byValue.set(value, await measure(narrowed, isOfDeltas));
  }
  return { ...history, ...furthestOf(comparator, [...byValue.values()], last - first + 1), byValue };
}

/** Lists the values of a label that the selector's series had since then; empty text where some have none. */
async function listValues(
  serviceId: ServiceWithCapabilities['id'],
  selector: MetricSelector,
  { label, since }: { readonly label: string; readonly since: ReturnType<typeof fromEpochMilliseconds> },
  { catalog }: Pick<ActionContext['metrics'], 'catalog'>,
): Promise<string[]> {
  const describe = (of: MetricSelector) =>
    catalog.describeLabels(serviceId, { selector: of, since, label, text: '', valuesMax: LABEL_VALUES_MAX });
  const described = await describe(selector);
  const question = described.seriesCount > 0 ? null : quantileQuestionOf(selector);
  const { seriesCount, labels } = question === null ? described : await describe(question.buckets);
  const entry = labels[0] ?? { values: [], valueCount: 0, seriesCount: 0 };
  const values = entry.values.map(({ value }) => value);
  if (entry.valueCount > values.length) throw tooManyValues(label, entry.valueCount);
  return entry.seriesCount < seriesCount ? [...values, ''] : values;
}

function tooManyValues(label: string, count: number) {
  const message = `${label} has ${count} values, too many for so many days: take fewer days, or narrow its labels`;
  return invalidInput([{ path: 'days', message }]);
}

function furthestOf(comparator: Comparator, histories: readonly RuleValues[], minutes: number): RuleValues {
  const moreThan = new Set<number>();
  const values = Array.from({ length: minutes }, (_, place) => {
    const measured = histories.map((history) => {
      return { value: history.values[place] ?? null, isMoreThan: history.moreThan.has(place) };
    });
    const worst = furthest(comparator, measured);
    if (worst?.isMoreThan === true) moreThan.add(place);
    return worst?.value ?? null;
  });
  return { values, moreThan };
}

export const REPLAY_DAYS_MAX = 30;

/** Returns the values that the editor of a rule draws, and replays for each threshold that is tried. */
export const readRuleHistory = defineOperation({
  name: 'read_rule_history',
  summary:
    'Return what a metric rule would have measured at each full minute of the last days, whatever its threshold.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    metricName: MetricName,
    aggregation: Type.Enum([...AGGREGATIONS]),
    windowMinutes: Type.Integer({ minimum: 1, maximum: WINDOW_MINUTES_MAX }),
    days: Type.Integer({ minimum: 1, maximum: REPLAY_DAYS_MAX }),
    comparator: Type.Optional(
      Type.Enum([...COMPARATORS], { description: '> when left out; two windows and rules by label need it' }),
    ),
    settings: Type.Optional(RuleSettingsInput),
  }),
  result: Type.Object({
    firstAt: Timestamp,
    stepSeconds: Type.Integer(),
    values: Type.Array(nullable(Type.Number()), {
      description:
        'of the windows that end at firstAt and every step later; null without data. By label: that of the value which is furthest beyond the threshold',
    }),
    valueCount: Type.Optional(
      Type.Integer({ description: 'values of the label, of a rule by label; 0 where no series has the label' }),
    ),
    moreThan: Type.Array(Type.Integer(), {
      description: 'the positions of quantiles that are more than their value, which is the highest bound',
    }),
  }),
  validate: ({ metricName }) => (typeof metricName === 'string' ? expressionFaults(metricName) : []),
  example: {
    metricName: 'http_request_duration_ms{route="/pay"}',
    aggregation: 'avg',
    windowMinutes: 5,
    days: 7,
    comparator: '>',
    settings: { shortWindowMinutes: 1 },
  },
  async handle({ serviceId, ...wanted }, context) {
    const service = await context.stores.services.get(context.caller.orgId, serviceId);
    const threshold = 0;
    const config = { comparator: '>', threshold, ...wanted } as const;
    // The threshold is tried only later, and so is a recovery past it.
    const { recoveryThreshold: _, ...settings } = wanted.settings ?? {};
    unwrap(parseRuleSettings({ kind: 'metric_threshold', config }, settings, 'settings'));
    const { firstMs, stepMs, values, moreThan, byValue } = await readHistory(service, wanted, context);
    return {
      firstAt: toTimestamp(fromEpochMilliseconds(firstMs)),
      stepSeconds: stepMs / 1_000,
      values: [...values],
      moreThan: [...(moreThan ?? [])],
      ...(byValue !== null && { valueCount: byValue.size - (byValue.has('') ? 1 : 0) }),
    };
  },
});
