import pLimit from 'p-limit';

import type { IncidentLimit } from '#core/incidents/incident_limit.ts';
import { settingsOf } from '#core/incidents/rule_settings.ts';
import { decideMetricRule, isBehind, type RuleMemory } from '#core/metrics/breach.ts';
import { groupParts } from '#core/queue/work_shares.ts';
import { applyMetricRule, type Measurement } from '#incidents/apply_metric_rule.ts';
import { storePoints } from '#jobs/store_points.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { waitForAll } from '#kernel/wait_for_all.ts';
import type { Temporal } from '#kernel/time.ts';
import type { RuleReader } from '#storage/clickhouse/rule_reader.ts';
import type { MetricCheck } from '#storage/postgres/active_rule_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';
import type { Parts } from '#workers/shared_work.ts';

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
/** Long windows take longer to read, so they are evaluated separately and delay no short one. */
export const SHORT_WINDOWS: Windows = { min: 1, max: 15 };
export const LONG_WINDOWS: Windows = { min: 16, max: 10_080 };

const CONCURRENT_CHANGES = 8;

/** What the rest needs in memory at a time does not grow with the rules that there are. */
const RULES_AT_ONCE = 10_000;

/**
 * Evaluates every active metric rule of these parts once, in a few grouped queries; many rules in groups, one after the other. An
 * evaluation that fails throws and changes nothing of its group. A rule that could not be measured, or whose points still wait to
 * be stored, stays as it is: neither counts as "no breach". Two evaluations at the same time have the effect of one.
 */
export async function evaluateRules(
  runtime: EvaluationRuntime,
  windows = ALL_WINDOWS,
  parts: Parts = null,
  rulesAtOnce = RULES_AT_ONCE,
): Promise<void> {
  const { activeRules } = storesOf(runtime.db.session());
  const rules = await activeRules.listMetricChecks(windows, parts, rulesAtOnce + 1);
  if (rules.length <= rulesAtOnce) return await evaluate(runtime, rules, parts);
  const failures: unknown[] = [];
  for (const group of groupParts(await activeRules.countMetricChecks(parts), rulesAtOnce)) {
    try {
      await evaluate(runtime, await activeRules.listMetricChecks(windows, group), group);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function evaluate(runtime: EvaluationRuntime, rules: readonly MetricCheck[], parts: Parts): Promise<void> {
  if (rules.length === 0) return;
  const now = runtime.clock.now();
  const { activeRules, durableJobs } = storesOf(runtime.db.session());
  // Read before the points: what is stored in between is measured.
  const waiting = await durableJobs.listWaiting(storePoints.name);
  const [measurements, open] = await Promise.all([
    measure(runtime, rules, now),
    activeRules
      .listOpenIncidents('metric_threshold', parts && rules.map(({ ruleId }) => ruleId))
      .then((found) => new Map(found.map((one) => [one.ruleId, one]))),
  ]);
  const decided = measurements.map((found) => {
    const { ruleId, serviceId, config, settings } = found.rule;
    const isWaiting = isBehind(config.windowMinutes, waiting.get(serviceId) ?? null, now);
    const incident = open.get(ruleId) ?? null;
    const memory: RuleMemory = found.rule;
    const judged = { ...config, settings: settingsOf(settings) };
    const decision = decideMetricRule(judged, { ...found, isWaiting, open: incident, memory });
    return { measured: found, incident, decision };
  });
  await activeRules.setClearSince(
    decided.flatMap(({ incident, decision }) =>
      incident !== null && decision.kind === 'remember'
        ? [{ ...incident, before: incident.clearSince, since: decision.clearSince }]
        : [],
    ),
  );
  await activeRules.setMemory(
    decided.flatMap(({ measured: { rule }, decision }) =>
      decision.kind === 'remember' && !isSameMemory(rule, decision.memory)
        ? [{ ruleId: rule.ruleId, ...decision.memory }]
        : [],
    ),
  );
  const changes = decided.filter(({ decision }) => decision.kind !== 'nothing' && decision.kind !== 'remember');
  const limit = pLimit(CONCURRENT_CHANGES);
  await waitForAll(
    changes.map(({ measured }) =>
      limit(() => inUnitOfWork(runtime, (unit) => applyMetricRule(unit, measured, runtime.incidentLimit))),
    ),
  );
}

function isSameMemory(a: RuleMemory, b: RuleMemory): boolean {
  const same = (one: RuleMemory[keyof RuleMemory], other: typeof one): boolean =>
    one?.epochMilliseconds === other?.epochMilliseconds;
  return same(a.breachedSince, b.breachedSince) && same(a.silentSince, b.silentSince);
}

async function measure(
  { rules: reader, log }: EvaluationRuntime,
  rules: readonly MetricCheck[],
  now: Temporal.Instant,
): Promise<Measurement[]> {
  const keptSince = keptSinceOf(rules, now);
  const { values, failed } = await reader.evaluate(
    rules.map(({ ruleId, serviceId, config, retentionDays }) => ({
      ruleId,
      serviceId,
      metricName: config.metricName,
      windowMinutes: config.windowMinutes,
      aggregation: config.aggregation,
      keptSince: keptSince.get(retentionDays) ?? now,
    })),
    now,
  );
  for (const [ruleId, error] of failed) log.error({ ruleId, err: error }, 'rule evaluation failed');
  return rules.flatMap((rule) => {
    const value = values.get(rule.ruleId);
    return value === undefined ? [] : [{ rule, value, now }];
  });
}

/** By the days that services keep points: few, where there are many rules. */
function keptSinceOf(rules: readonly MetricCheck[], now: Temporal.Instant): ReadonlyMap<number, Temporal.Instant> {
  const days = new Set(rules.map(({ retentionDays }) => retentionDays));
  return new Map([...days].map((one) => [one, now.subtract({ hours: 24 * one })]));
}
