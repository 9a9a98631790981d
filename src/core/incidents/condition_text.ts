import type { RuleConfig } from '#core/incidents/rule_kinds.ts';
import { measureOf, quantityText } from '#core/metrics/quantity.ts';

/** When a rule fires, as a sentence. */
export function conditionText(config: RuleConfig): string {
  if ('metricName' in config) {
    const { aggregation, metricName, windowMinutes, comparator, threshold } = config;
    const limit = quantityText(threshold, measureOf(metricName, aggregation), { digits: 6 });
    return `When ${aggregation} of ${metricName} over ${windowMinutes} min is ${comparator} ${limit}.`;
  }
  if ('minSeverity' in config) {
    return `When a new exception, or one that came back, is at least "${config.minSeverity}".`;
  }
  return config satisfies never;
}
