import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, MetricName, nullable, STRICT, Timestamp } from '#actions/fields.ts';
import { readHistory } from '#modules/rules/operations/read_history.ts';
import { COMPARATORS } from '#modules/rules/decide/comparator.ts';
import { parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { RuleSettingsInput } from '#modules/rules/view.ts';
import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { expressionFaults } from '#modules/metrics/decide/selector.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { fromEpochMilliseconds, toTimestamp } from '#kernel/time.ts';

export const REPLAY_DAYS_MAX = 30;

/** Returns the values that the editor of a rule draws, and replays for each threshold that is tried. */
export const readRuleHistory = defineAction({
  name: 'read_rule_history',
  consoleOnly: true,
  summary:
    'Return what a metric rule would have measured at each full minute of the last days, whatever its threshold.',
  permission: 'dashboards:view',
  effect: 'read',
  input: Type.Object(
    {
      serviceId: IdText,
      metricName: MetricName,
      aggregation: Type.Enum([...AGGREGATIONS]),
      windowMinutes: Type.Integer({ minimum: 1, maximum: WINDOW_MINUTES_MAX }),
      days: Type.Integer({ minimum: 1, maximum: REPLAY_DAYS_MAX }),
      comparator: Type.Optional(
        Type.Enum([...COMPARATORS], { description: '> when left out; two windows and rules by label need it' }),
      ),
      settings: Type.Optional(RuleSettingsInput),
    },
    STRICT,
  ),
  result: Type.Object({
    firstAt: Timestamp,
    stepSeconds: Type.Integer(),
    values: Type.Array(nullable(Type.Number()), {
      description:
        'of the windows that end at firstAt and every step later; null without data. By label: that of the value which is furthest beyond the threshold',
    }),
    valueCount: Type.Optional(Type.Integer({ description: 'values of the label, of a rule by label' })),
    moreThan: Type.Array(Type.Integer(), {
      description: 'the positions of quantiles that are more than their value, which is the highest bound',
    }),
  }),
  meaning: ({ metricName }) => (typeof metricName === 'string' ? expressionFaults(metricName) : []),
  example: {
    serviceId: EXAMPLE_IDS.serviceId,
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
      ...(byValue !== null && { valueCount: byValue.size }),
    };
  },
});
