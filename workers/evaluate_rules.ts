import { isDeepStrictEqual } from 'node:util';

import pLimit from 'p-limit';

import { endMember, resolve } from '#actions/incidents/settle.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import { comparisonOf } from '#core/incidents/comparison.ts';
import type { IncidentLimit } from '#core/incidents/storm.ts';
import { decideMetricRule, isBehind, isBreached, type RuleDecision } from '#core/metrics/breach.ts';
import type { MetricThreshold } from '#core/metrics/metric_threshold.ts';
import { comparedTexts, measureOf } from '#core/metrics/quantity.ts';
import { storePoints } from '#jobs/store_points.ts';
import type { Log } from '#kernel/log.ts';
import { settleAll } from '#kernel/settle_all.ts';
import type { Temporal } from '#kernel/time.ts';
import type { RuleReader } from '#storage/clickhouse/rule_reader.ts';
import type { ActiveRule, MetricCheck, OpenIncident } from '#storage/postgres/active_rule_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import type { Cause } from '#workers/open_incident.ts';
import { openIncidents } from '#workers/open_incidents.ts';

export interface EvaluationRuntime extends UnitOfWorkRuntime {
  readonly rules: Pick<RuleReader, 'evaluate'>;
  readonly incidentLimit: IncidentLimit;
  readonly log: Log;
}

/** Which rules, by the length of their window in minutes. */
interface Windows {
  readonly min: number;
  readonly max: number;
}

const ALL_WINDOWS: Windows = { min: 1, max: 10_080 };
/** Long windows cost more to read, so they are evaluated by themselves and hold up no short one. */
export const SHORT_WINDOWS: Windows = { min: 1, max: 15 };
export const LONG_WINDOWS: Windows = { min: 16, max: 10_080 };

/** A rule and what was measured for it. */
interface Measurement {
  readonly rule: MetricCheck;
  readonly value: number | null;
  readonly now: Temporal.Instant;
}

const CONCURRENT_DECISIONS = 8;

/**
 * Evaluates every active metric rule once, in a few grouped queries. An evaluation that fails throws and changes
 * nothing, and a rule of which nothing could be measured, or whose points wait to be stored, stays as it is: neither is
 * taken for "no breach". Two evaluations at the same time decide as one.
 */
export async function evaluateRules(runtime: EvaluationRuntime, windows = ALL_WINDOWS): Promise<void> {
  const now = runtime.clock.now();
  const { activeRules, incidents, durableJobs } = storesOf(runtime.db.session());
  const rules = await activeRules.listMetricChecks(windows);
  if (rules.length === 0) return;
  // Looked at before the points are: what is stored in between is measured.
  const waiting = await durableJobs.listWaiting(storePoints.name);
  const [measurements, open] = await Promise.all([
    measure(runtime, rules, now),
    activeRules.listOpenMetricIncidents().then((found) => new Map(found.map((one) => [one.ruleId, one]))),
  ]);
  const decided = measurements.map((found) => {
    const { ruleId, serviceId, config } = found.rule;
    const isUnknown = isBehind(config.windowMinutes, waiting.get(serviceId) ?? null, now);
    // What is not known is as if there were no data: it opens nothing, and nothing counts as over.
    const measured = isUnknown ? { ...found, value: null } : found;
    const incident = open.get(ruleId) ?? null;
    return { measured, incident, decision: decide(measured, incident) };
  });
  await incidents.setClearSince(
    decided.flatMap(({ incident, decision }) =>
      incident !== null && decision.kind === 'remember'
        ? [{ ...incident, before: incident.clearSince, since: decision.clearSince }]
        : [],
    ),
  );
  const telling = decided.filter(({ decision }) => decision.kind !== 'nothing' && decision.kind !== 'remember');
  const limit = pLimit(CONCURRENT_DECISIONS);
  await settleAll(telling.map(({ measured }) => limit(act, runtime, measured)));
}

async function measure(
  { rules: reader, log }: EvaluationRuntime,
  rules: readonly MetricCheck[],
  now: Temporal.Instant,
): Promise<Measurement[]> {
  const { values, failed } = await reader.evaluate(
    rules.map(({ ruleId, serviceId, config, retentionDays }) => ({
      ruleId,
      serviceId,
      metricName: config.metricName,
      windowMinutes: config.windowMinutes,
      aggregation: config.aggregation,
      keptSince: now.subtract({ hours: 24 * retentionDays }),
    })),
    now,
  );
  for (const [ruleId, error] of failed) log.error({ ruleId, err: error }, 'a rule cannot be evaluated');
  return rules.flatMap((rule) => {
    const value = values.get(rule.ruleId);
    return value === undefined ? [] : [{ rule, value, now }];
  });
}

function decide({ rule: { config }, value, now }: Measurement, open: OpenIncident | null): RuleDecision {
  const breached = isBreached(value, config.comparator, config.threshold);
  return decideMetricRule({ value, isBreached: breached, windowMinutes: config.windowMinutes, open, now });
}

/** Decides again under the rule's lock, by what is true now: the rule may have changed, or somebody else been here. */
async function act(runtime: EvaluationRuntime, measured: Measurement): Promise<void> {
  await inUnitOfWork(runtime, async (unit) => {
    const { activeRules, incidents } = unit.stores;
    const { ruleId, config } = measured.rule;
    await activeRules.lockDecision(ruleId);
    const [rule] = await activeRules.listMetricRules([ruleId]);
    if (rule === undefined || !isDeepStrictEqual(rule.config, config)) return;
    const open = await activeRules.findOpenIncident(ruleId);
    const { kind } = decide(measured, open);
    if (kind === 'open' || kind === 'raise_occurrences') {
      await openIncidents(unit, [{ rule, cause: causeOf(rule, config, measured.value) }], runtime.incidentLimit);
    }
    if (kind !== 'resolve' || open === null) return;
    const incident = await incidents.lock(open.incidentId);
    if (incident === null) return;
    if (open.isMember) await endMember(unit, incident, { ruleId });
    else await resolve(unit, incident, { system: true, via: 'rule' });
  });
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
