import { isDeepStrictEqual } from 'node:util';

import { comparisonOf } from '#core/incidents/comparison.ts';
import type { IncidentLimit } from '#core/incidents/incident_limit.ts';
import { decideMetricRule } from '#core/metrics/breach.ts';
import type { MetricThreshold } from '#core/metrics/metric_threshold.ts';
import { comparedTexts, measureOf } from '#core/metrics/quantity.ts';
import type { Cause } from '#incidents/open_incident.ts';
import { openIncidents } from '#incidents/open_incidents.ts';
import { endStormMembers, resolve } from '#incidents/resolve.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ActiveRule, MetricCheck } from '#storage/postgres/active_rule_store.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';

/** A metric rule and what was measured for it. */
export interface Measurement {
  readonly rule: MetricCheck;
  readonly value: number | null;
  readonly now: Temporal.Instant;
}

/**
 * Opens, counts or resolves the incident of a metric rule. Decides again under the lock of the rule: the rule may have
 * changed since it was measured, or another process may have acted on it.
 */
export async function applyMetricRule(unit: UnitOfWork, measured: Measurement, limit: IncidentLimit): Promise<void> {
  const { activeRules, incidents } = unit.stores;
  const {
    rule: { ruleId, config },
    value,
    now,
  } = measured;
  await activeRules.lockDecision(ruleId);
  const [rule] = await activeRules.list('metric_threshold', { ruleId });
  if (rule === undefined || !isDeepStrictEqual(rule.config, config)) return;
  const open = await activeRules.findOpenIncident('metric_threshold', ruleId);
  const { kind } = decideMetricRule(config, { value, open, now });
  if (kind === 'open' || kind === 'raise_occurrences') {
    await openIncidents(unit, [{ rule, cause: causeOf(rule, config, value) }], limit);
  }
  if (kind !== 'resolve' || open === null) return;
  const incident = await incidents.lock(open.incidentId);
  if (incident === null) return;
  if (open.isMember) await endStormMembers(unit, incident, { ruleId });
  else await resolve(unit, incident, { system: true, via: 'rule' });
}

function causeOf(rule: ActiveRule, config: MetricThreshold, value: number | null): Cause {
  const { metricName, comparator, threshold, windowMinutes, aggregation } = config;
  const details = { metricName, aggregation, comparator, threshold, windowMinutes, value };
  const of = `${aggregation} of ${metricName}`;
  const shown = comparedTexts(details, measureOf(metricName, aggregation));
  return {
    kind: 'metric_threshold',
    exceptionGroupId: null,
    title: `${rule.name}: ${comparisonOf(details) ?? shown.value} (${of})`,
    severity: 'error',
    details,
    sentence: `${of} over ${windowMinutes} min was ${shown.value} (${comparator} ${shown.threshold})`,
  };
}
