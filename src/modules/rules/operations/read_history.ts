import type { ActionContext } from '#actions/action_context.ts';
import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import type { RuleHistory } from '#modules/rules/decide/replay.ts';
import { readCheckedExpression } from '#modules/metrics/decide/selector.ts';
import { historyOfSides } from '#modules/metrics/expression_values.ts';
import type { Comparator } from '#modules/rules/decide/comparator.ts';
import { judgedHistory, windowsOfRule } from '#modules/rules/decide/judged_value.ts';
import type { MetricRuleSettings } from '#modules/rules/decide/metric_rule_settings.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

interface WantedHistory {
  readonly metricName: string;
  readonly aggregation: Aggregation;
  readonly windowMinutes: number;
  readonly days: number;
  /** Needed with two windows only. */
  readonly comparator?: Comparator | undefined;
  readonly settings?: Partial<Pick<MetricRuleSettings, 'shortWindowMinutes' | 'trafficAtLeast'>> | undefined;
}

/**
 * Reads the values that a rule would have measured at each full minute of the last days, as far back as the service
 * keeps whole windows: those that its evaluation would have found, with all points that have been stored by now. Those of a
 * rule by label are of all series together.
 */
export async function readHistory(
  service: ServiceWithCapabilities,
  { metricName, aggregation, windowMinutes, days, comparator = '>', settings = {} }: WantedHistory,
  { metrics, now }: Pick<ActionContext, 'metrics' | 'now'>,
): Promise<RuleHistory> {
  const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
  const last = Math.floor(now.epochMilliseconds / MINUTE_MS);
  const wholeSince = Math.ceil(keptSince.epochMilliseconds / MINUTE_MS) + windowMinutes;
  const first = Math.max(last + 1 - (days * DAY_MS) / MINUTE_MS, Math.min(wholeSince, last));
  const times = { firstMs: first * MINUTE_MS, lastMs: last * MINUTE_MS, keptSince };
  const expression = readCheckedExpression(metricName);
  const windows = await Promise.all(
    windowsOfRule(windowMinutes, settings).map((minutes) =>
      historyOfSides(metrics, { serviceId: service.id, aggregation, windowMinutes: minutes, ...times }, expression),
    ),
  );
  const judging = { comparator, factor: expression.factor, trafficAtLeast: settings.trafficAtLeast ?? null };
  return { firstMs: times.firstMs, stepMs: MINUTE_MS, ...judgedHistory(windows, judging) };
}
