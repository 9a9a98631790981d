import { resolve } from '#actions/incidents/settle.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import { decideMetricRule, isBreached } from '#core/metrics/breach.ts';
import type { MetricThreshold } from '#core/metrics/metric_threshold.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { RuleReader } from '#storage/clickhouse/rule_reader.ts';
import type { ActiveRule, OpenIncident } from '#storage/postgres/active_rule_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { type Cause, openIncident } from '#workers/open_incident.ts';

export interface EvaluationRuntime extends UnitOfWorkRuntime {
  readonly rules: RuleReader;
}

/**
 * Evaluates every active metric rule once, in a few grouped queries. An evaluation that fails throws and changes
 * nothing, so that it is never taken for one that found no breach.
 */
export async function evaluateRules(runtime: EvaluationRuntime): Promise<void> {
  const now = runtime.clock.now();
  const { activeRules } = storesOf(runtime.db.session());
  const [rules, incidents] = await Promise.all([activeRules.listMetricRules(), activeRules.listOpenMetricIncidents()]);
  if (rules.length === 0) return;
  const configs = new Map(rules.map((rule) => [rule.ruleId, rule.config as MetricThreshold]));
  const open = new Map(incidents.map((incident) => [incident.ruleId, incident]));
  const values = await runtime.rules.evaluate(
    rules.map(({ ruleId, serviceId }) => ({ ruleId, serviceId, ...configOf(configs, ruleId) })),
    now,
  );
  for (const rule of rules) {
    await applyDecision(
      runtime,
      rule,
      configOf(configs, rule.ruleId),
      values.get(rule.ruleId) ?? null,
      open.get(rule.ruleId),
      now,
    );
  }
}

function configOf(configs: ReadonlyMap<Id<'rule'>, MetricThreshold>, ruleId: Id<'rule'>): MetricThreshold {
  const config = configs.get(ruleId);
  if (config === undefined) throw new Error(`rule ${ruleId} has no config`);
  return config;
}

async function applyDecision(
  runtime: EvaluationRuntime,
  rule: ActiveRule,
  config: MetricThreshold,
  value: number | null,
  open: OpenIncident | undefined,
  now: Temporal.Instant,
): Promise<void> {
  const decision = decideMetricRule({
    value,
    isBreached: isBreached(value, config.comparator, config.threshold),
    windowMinutes: config.windowMinutes,
    open: open ?? null,
    now,
  });
  switch (decision.kind) {
    case 'nothing':
      return;
    case 'open':
    case 'raise_occurrences':
      await inUnitOfWork(runtime, (unit) => openIncident(unit, rule, causeOf(rule, config, value)));
      return;
    case 'remember':
      if (open !== undefined) {
        await storesOf(runtime.db.session()).incidents.setClearSince(open.incidentId, decision.clearSince);
      }
      return;
    case 'resolve':
      await inUnitOfWork(runtime, async (unit) => {
        const incident = open && (await unit.stores.incidents.lock(open.incidentId));
        if (incident) await resolve(unit, incident, { system: true, via: 'rule' });
      });
  }
}

function causeOf(rule: ActiveRule, config: MetricThreshold, value: number | null): Cause {
  const { metricName, comparator, threshold, windowMinutes, aggregation } = config;
  const measured = value === null ? 'unknown' : String(Number(value.toPrecision(6)));
  return {
    kind: 'metric_threshold',
    exceptionGroupId: null,
    title: `${rule.name}: ${aggregation} of ${metricName} is ${measured} (${comparator} ${threshold})`,
    severity: 'error',
    details: { metricName, aggregation, comparator, threshold, windowMinutes, value },
    sentence: `${aggregation} of ${metricName} over ${windowMinutes} min was ${measured}, ${comparator} ${threshold}`,
  };
}
