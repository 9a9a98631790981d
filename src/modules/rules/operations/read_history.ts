import type { ActionContext } from '#actions/action_context.ts';
import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import type { RuleHistory } from '#modules/rules/decide/replay.ts';
import { readCheckedSelector } from '#modules/metrics/decide/selector.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

interface WantedHistory {
  readonly metricName: string;
  readonly aggregation: Aggregation;
  readonly windowMinutes: number;
  readonly days: number;
}

/**
 * Reads the values that a rule would have measured at each full minute of the last days, as far back as the service
 * keeps whole windows: those that its evaluation would have found, with all points that have been stored by now.
 */
export async function readHistory(
  service: ServiceWithCapabilities,
  { metricName, aggregation, windowMinutes, days }: WantedHistory,
  { metrics, now }: Pick<ActionContext, 'metrics' | 'now'>,
): Promise<RuleHistory> {
  const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
  const last = Math.floor(now.epochMilliseconds / MINUTE_MS);
  const wholeSince = Math.ceil(keptSince.epochMilliseconds / MINUTE_MS) + windowMinutes;
  const first = Math.max(last + 1 - (days * DAY_MS) / MINUTE_MS, Math.min(wholeSince, last));
  const { values, moreThan } = await metrics.readHistory({
    serviceId: service.id,
    selector: readCheckedSelector(metricName),
    aggregation,
    windowMinutes,
    firstMs: first * MINUTE_MS,
    lastMs: last * MINUTE_MS,
    keptSince,
  });
  return { firstMs: first * MINUTE_MS, stepMs: MINUTE_MS, values, moreThan };
}
