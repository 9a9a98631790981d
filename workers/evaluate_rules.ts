import pLimit from 'p-limit';

import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { settingsOf } from '#modules/rules/decide/rule_settings.ts';
import {
  decideMetricRule,
  isBehind,
  NO_MEMORY,
  type RuleDecision,
  type RuleMemory,
} from '#modules/rules/decide/breach.ts';
import { divideByLabel, type MeasuredPart, REST } from '#modules/rules/decide/by_label.ts';
import { inFairTurns } from '#modules/rules/decide/fair_turns.ts';
import { withLabel } from '#modules/metrics/decide/expression.ts';
import { groupShards } from '#storage/queue/shards.ts';
import { applyMetricRule, type Measurement } from '#modules/rules/apply_metric_rule.ts';
import { divideRules, setAsideRule } from '#modules/rules/set_aside_rule.ts';
import { storePoints } from '#storage/queue/jobs.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { waitForAll } from '#kernel/promises.ts';
import { type Temporal, limitBy } from '#kernel/time.ts';
import type { MissingSeriesReader } from '#modules/rules/store/missing_series.ts';
import type { Evaluation, OpenIncident } from '#modules/rules/store/rule_conclusions.ts';
import type { RuleReader } from '#modules/rules/store/rule_reader.ts';
import type { MetricCheck } from '#modules/rules/store/active_rule_store.ts';
import type { PartMemory } from '#modules/rules/store/rule_memory_store.ts';
import { inUnitOfWork, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import type { Shards } from '#workers/sharded_jobs.ts';

export interface EvaluationRuntime extends UnitOfWorkRuntime {
  readonly rules: Pick<RuleReader, 'evaluate'>;
  readonly missingSeries: Pick<MissingSeriesReader, 'find'>;
  readonly incidentLimit: IncidentLimit;
  readonly log: Log;
}

/** Rules to evaluate, by the length of their window in minutes. */
interface Windows {
  readonly min: number;
  readonly max: number;
}

const ALL_WINDOWS: Windows = { min: 1, max: 10_080 };
/** Windows of rules: long ones take longer to read, so they are evaluated separately and delay no short one. */
export const SHORT_WINDOWS: Windows = { min: 1, max: 15 };
export const LONG_WINDOWS: Windows = { min: 16, max: 10_080 };

const CONCURRENT_CHANGES = 8;
/**
 * Limit on the searches of one evaluation; if more rules recover at a time, the others are checked in the next ones.
 */
const SEARCHES_AT_ONCE = 200;
const CONCURRENT_SEARCHES = 3;
/** Time after which no search begins: the next evaluation of all rules waits for the searches of this one. */
const SEARCHING_MS_MAX = 2_000;

/** Limit on the rules evaluated at a time, so that memory does not grow with the number of rules. */
const RULES_AT_ONCE = 10_000;

/**
 * Evaluates every active metric rule of these shards once, in a few grouped queries; many rules in groups, one after the other. An
 * evaluation that fails throws and changes nothing of its group. A rule that could not be measured, or whose points still wait to
 * be stored, stays as it is: neither counts as "no breach". Two evaluations at the same time have the effect of one.
 */
export async function evaluateRules(
  runtime: EvaluationRuntime,
  windows = ALL_WINDOWS,
  shards: Shards = null,
  rulesAtOnce = RULES_AT_ONCE,
): Promise<void> {
  const { activeRules } = storesOf(runtime.db.session());
  const rules = await activeRules.listMetricChecks(windows, shards, rulesAtOnce + 1);
  if (rules.length <= rulesAtOnce) return await evaluate(runtime, rules, shards);
  const failures: unknown[] = [];
  for (const group of groupShards(await activeRules.countMetricChecks(shards), rulesAtOnce)) {
    try {
      await evaluate(runtime, await activeRules.listMetricChecks(windows, group), group);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function evaluate(runtime: EvaluationRuntime, listed: readonly MetricCheck[], shards: Shards): Promise<void> {
  const { readable: rules, unreadable } = divideRules('metric_threshold', listed);
  await setAside(runtime, unreadable);
  if (rules.length === 0) return;
  const now = runtime.clock.now();
  const { activeRules, durableJobs, ruleMemory } = storesOf(runtime.db.session());
  // Read before the points: what is stored in between is measured.
  const waiting = await durableJobs.listWaiting(storePoints.name);
  const [evaluation, open] = await Promise.all([
    measure(runtime, rules, now),
    activeRules.listOpenIncidents('metric_threshold', shards && rules.map(({ ruleId }) => ruleId)),
  ]);
  const openOf = Map.groupBy(open, ({ ruleId }) => ruleId);
  const divided = [
    ...rules.filter(({ settings }) => typeof settings?.byLabel === 'string'),
    ...open.filter(({ ruleId, dedupKey }) => dedupKey !== ruleId),
  ];
  const remembered = await ruleMemory.listParts([...new Set(divided.map(({ ruleId }) => ruleId))]);
  const rememberedOf = Map.groupBy(remembered, ({ ruleId }) => ruleId);
  const decided = rules.flatMap((rule) => {
    const { ruleId, serviceId, config } = rule;
    const before = { open: openOf.get(ruleId) ?? [], remembered: rememberedOf.get(ruleId) ?? [] };
    const isWaiting = isBehind(config.windowMinutes, waiting.get(serviceId) ?? null, now);
    return measurementsOf(rule, evaluation, before, now).map(({ measured, incident }) =>
      decide({ ...measured, missing: 'unknown' }, incident, isWaiting),
    );
  });
  const { wanting = [], certain = [] } = Object.groupBy(decided, ({ decision }) =>
    decision.kind === 'find_missing' ? 'wanting' : 'certain',
  );
  const failures: unknown[] = [];
  // Certain ones first: nobody's breach waits for the searches of other rules, and no recovery for a change that fails.
  for (const decideAll of [() => Promise.resolve(certain), () => findMissing(runtime, wanting)]) {
    try {
      await conclude(runtime, await decideAll());
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Stores what is remembered of the decisions, and makes the changes that they are. */
async function conclude(runtime: EvaluationRuntime, decided: readonly Decided[]): Promise<void> {
  const { activeRules, ruleMemory } = storesOf(runtime.db.session());
  await activeRules.setClearSince(
    decided.flatMap(({ incident, decision }) =>
      incident !== null && decision.kind === 'remember'
        ? [{ ...incident, before: incident.clearSince, since: decision.clearSince }]
        : [],
    ),
  );
  await ruleMemory.set(
    decided.flatMap(({ measured: { rule, part, memory }, decision }) =>
      decision.kind === 'remember' && !isSameMemory(memory, decision.memory)
        ? [{ ruleId: rule.ruleId, part, ...decision.memory }]
        : [],
    ),
  );
  const changes = decided.filter(({ decision }) => !UNCHANGED.has(decision.kind));
  const limit = pLimit(CONCURRENT_CHANGES);
  await waitForAll(
    changes.map(({ measured }) =>
      limit(() => inUnitOfWork(runtime, (unit) => applyMetricRule(unit, measured, runtime.incidentLimit))),
    ),
  );
}

/** Quarantines rules; one for which even that fails is left out all the same. */
async function setAside(runtime: EvaluationRuntime, rules: readonly MetricCheck[]): Promise<void> {
  for (const { ruleId } of rules) {
    const rule = { ruleId, kind: 'metric_threshold' as const };
    try {
      await inUnitOfWork(runtime, (unit) => setAsideRule(unit, rule, runtime.incidentLimit));
    } catch (error) {
      if (isUnavailable(error)) throw error;
      runtime.log.error({ ruleId, err: error }, 'a rule that cannot be read could not be set aside');
    }
  }
}

const UNCHANGED: ReadonlySet<RuleDecision['kind']> = new Set(['nothing', 'remember', 'find_missing']);

interface Decided {
  readonly measured: Measurement;
  readonly incident: OpenIncident | null;
  readonly decision: RuleDecision;
}

function decide(measured: Measurement, incident: OpenIncident | null, isWaiting: boolean): Decided {
  const { config, settings } = measured.rule;
  const { memory } = measured;
  const judged = { ...config, settings: settingsOf(settings) };
  return { measured, incident, decision: decideMetricRule(judged, { ...measured, isWaiting, open: incident, memory }) };
}

/** Decides again where it depends on series that have fallen silent. A rule of which that is not found out stays as it is. */
async function findMissing(
  { missingSeries, clock, log }: EvaluationRuntime,
  wanting: readonly Decided[],
): Promise<readonly Decided[]> {
  const beganAt = performance.now();
  const isKeptOpen = ({ measured }: Decided): boolean => measured.memory.missingSince !== null;
  const asked = new Set(inFairTurns(wanting, isKeptOpen, { most: SEARCHES_AT_ONCE, turn: Math.random() }));
  const limit = pLimit(CONCURRENT_SEARCHES);
  return await Promise.all(
    wanting.map(async (before) => {
      const { measured, incident } = before;
      const { rule, part, labelValue: label, memory, now } = measured;
      const breachedAt = incident?.countedAt ?? memory.breachedSince;
      if (!asked.has(before) || breachedAt === null) return before;
      const { serviceId, config, settings, retentionDays } = rule;
      // The rest has no series of its own: others take its place.
      if (part === REST) return decide({ ...measured, missing: null }, incident, false);
      const byLabel = settings?.byLabel ?? null;
      const isNarrowed = byLabel !== null && label !== null;
      const question = {
        ...config,
        metricName: isNarrowed ? withLabel(config.metricName, byLabel, label) : config.metricName,
        serviceId,
        breachesAbove: config.comparator.startsWith('>'),
        breachedAt,
        isOfSlow: incident === null,
        keptSince: now.subtract({ hours: 24 * retentionDays }),
      };
      try {
        const missing = await limit(async () =>
          performance.now() - beganAt > limitBy(clock, SEARCHING_MS_MAX)
            ? 'unknown'
            : await missingSeries.find(question, now),
        );
        if (missing === 'unknown') return before;
        return decide({ ...measured, missing }, incident, false);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        log.error({ ruleId: rule.ruleId, err: error }, 'series that fell silent could not be looked for');
        return before;
      }
    }),
  );
}

function isSameMemory(a: RuleMemory, b: RuleMemory): boolean {
  const same = (a: RuleMemory[keyof RuleMemory], other: typeof a): boolean =>
    a?.epochMilliseconds === other?.epochMilliseconds;
  return (
    same(a.breachedSince, b.breachedSince) && same(a.silentSince, b.silentSince) && same(a.missingSince, b.missingSince)
  );
}

async function measure(
  { rules: reader, log }: EvaluationRuntime,
  rules: readonly MetricCheck[],
  now: Temporal.Instant,
): Promise<Evaluation> {
  const keptSince = keptSinceOf(rules, now);
  const evaluation = await reader.evaluate(
    rules.map(({ ruleId, serviceId, config, settings, retentionDays }) => ({
      ruleId,
      serviceId,
      metricName: config.metricName,
      windowMinutes: config.windowMinutes,
      aggregation: config.aggregation,
      comparator: config.comparator,
      settings: settingsOf(settings),
      keptSince: keptSince.get(retentionDays) ?? now,
    })),
    now,
  );
  for (const [ruleId, error] of evaluation.failed) log.error({ ruleId, err: error }, 'rule evaluation failed');
  return evaluation;
}

interface OfPart {
  readonly measured: Omit<Measurement, 'missing'>;
  readonly incident: OpenIncident | null;
}

/**
 * Returns what is judged of a rule: the whole, or its parts by label. Incidents of parts that it had before its
 * settings changed are judged by the whole until they end. None for a rule that could not be measured.
 */
function measurementsOf(
  rule: MetricCheck,
  { values, moreThan, byLabel }: Evaluation,
  { open, remembered }: { readonly open: readonly OpenIncident[]; readonly remembered: readonly PartMemory[] },
  now: Temporal.Instant,
): OfPart[] {
  const { ruleId, config, settings } = rule;
  const value = values.get(ruleId);
  if (value === undefined) return [];
  const incidents = new Map(open.map((incident) => [incident.dedupKey.slice(ruleId.length + 1), incident]));
  const memories = new Map(remembered.map((memory) => [memory.part, memory]));
  const label = settings?.byLabel ?? null;
  const whole: MeasuredPart = {
    part: '',
    value: null,
    measured: { value, isMoreThan: moreThan.has(ruleId) },
    breaching: 1,
  };
  const knownParts = { open: new Set(incidents.keys()), remembered: new Set(memories.keys()) };
  const divided =
    label === null ? [whole] : divideByLabel(byLabel.get(ruleId) ?? new Map(), { ...config, label }, knownParts);
  const judged = new Set(divided.map(({ part }) => part));
  const left = [...incidents.keys()].filter((part) => !judged.has(part)).map((part) => ({ ...whole, part }));
  return [...divided, ...left].map(({ part, value: ofLabel, measured, breaching }) => ({
    measured: {
      rule,
      part,
      labelValue: ofLabel,
      breaching,
      memory: part === '' ? rule : (memories.get(part) ?? NO_MEMORY),
      ...measured,
      now,
    },
    incident: incidents.get(part) ?? null,
  }));
}

/** Returns the start of retention by the days for which services keep points: few values, even with many rules. */
function keptSinceOf(rules: readonly MetricCheck[], now: Temporal.Instant): ReadonlyMap<number, Temporal.Instant> {
  const days = new Set(rules.map(({ retentionDays }) => retentionDays));
  return new Map([...days].map((day) => [day, now.subtract({ hours: 24 * day })]));
}
