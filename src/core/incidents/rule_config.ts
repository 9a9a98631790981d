import { type ExceptionRule, parseExceptionRule } from '#core/incidents/exception_rule.ts';
import type { RuleKind } from '#core/incidents/incident.ts';
import { type MetricThreshold, parseMetricThreshold } from '#core/metrics/metric_threshold.ts';
import { ok, type Parsed } from '#core/oncall/parsed.ts';

export type RuleConfig = MetricThreshold | ExceptionRule;

/** Reads the config of a rule of this kind, with its defaults filled in; every fault is named under `path`. */
export function parseRuleConfig(kind: RuleKind, config: unknown, path: string): Parsed<RuleConfig> {
  if (kind === 'exception') return parseExceptionRule(config, path);
  const parsed = parseMetricThreshold(config, path);
  return parsed.kind === 'valid' ? ok(parsed.config) : { kind: 'faults', faults: parsed.faults };
}
