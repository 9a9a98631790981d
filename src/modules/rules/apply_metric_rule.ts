import { isDeepStrictEqual } from 'node:util';

import { comparisonOf } from '#modules/incidents/decide/comparison.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { type RuleSettings, settingsOf } from '#modules/rules/decide/rule_settings.ts';
import {
  decideMetricRule,
  isFlapping,
  type MeasuredValue,
  minutesToRecover,
  type MissingSeries,
  type RuleDecision,
} from '#modules/rules/decide/breach.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import { comparedTexts, measureOf } from '#modules/metrics/decide/quantity.ts';
import type { Cause } from '#modules/incidents/paging/firing.ts';
import { openIncidents } from '#modules/incidents/open_incidents.ts';
import { endStormMembers, resolve } from '#modules/incidents/resolve.ts';
import type { TimelineDetails } from '#modules/incidents/paging/stop_escalation.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ActiveRule, MetricCheck, OpenIncident } from '#modules/rules/store/active_rule_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** A metric rule and what was measured for it. */
export interface Measurement extends MeasuredValue {
  readonly rule: MetricCheck;
  /** Series that fell silent since the breach; `unknown` while nobody has looked. */
  readonly missing: MissingSeries | null | 'unknown';
  readonly now: Temporal.Instant;
}

/**
 * Opens, counts or resolves the incident of a metric rule. Decides again under the lock of the rule: the rule may have
 * changed since it was measured, or another process may have acted on it.
 */
export async function applyMetricRule(unit: UnitOfWork, measured: Measurement, limit: IncidentLimit): Promise<void> {
  const { activeRules, incidents } = unit.stores;
  const {
    rule: { ruleId, config, settings: stored },
    value,
    isMoreThan = false,
    missing,
    now,
  } = measured;
  await activeRules.lockDecision(ruleId);
  const [rule] = await activeRules.list('metric_threshold', { ruleId });
  if (rule === undefined || !isDeepStrictEqual([rule.config, rule.settings], [config, stored])) return;
  const settings = settingsOf(stored);
  const open = await activeRules.findOpenIncident('metric_threshold', ruleId);
  const memory = await activeRules.findMemory(ruleId);
  const recentIncidents = open === null ? 0 : await countRecent(unit, open, settings);
  const decision = decideMetricRule(
    { ...config, settings },
    { value, isMoreThan, open, memory, recentIncidents, missing, now },
  );
  if (decision.kind === 'nothing' || decision.kind === 'remember' || decision.kind === 'find_missing') return;
  if (decision.kind === 'keep_open') return await keepOpen(unit, open, decision, { settings, missing });
  await activeRules.clearMemory([ruleId]);
  if (decision.kind !== 'resolve') {
    const isSilent = decision.kind === 'open' && decision.because === 'no_data';
    const cause = isSilent ? silenceOf(rule, config, settings) : causeOf(rule, config, { value, isMoreThan }, settings);
    await openIncidents(unit, [{ rule, cause }], limit);
    if (decision.kind === 'open') await recordFlapping(unit, ruleId, settings);
    return;
  }
  const incident = open && (await incidents.lock(open.incidentId));
  if (open === null || incident === null) return;
  const isSilent = decision.because === 'no_data';
  const by: IncidentActor = { system: true, via: 'rule', ...(isSilent && { because: 'no_data' }) };
  const clearMinutes = minutesToRecover({ ...config, settings }, recentIncidents);
  const isUsual = clearMinutes === config.windowMinutes && settings.recoveryThreshold === null;
  const details: TimelineDetails = isSilent
    ? { noDataMinutes: settings.noDataMinutes, ...(value !== null && silentSeries(missing)) }
    : isUsual
      ? {}
      : { clearMinutes };
  if (open.isMember) await endStormMembers(unit, incident, { ruleId }, by, details);
  else await resolve(unit, incident, by, details);
}

/**
 * Records in the timeline why an incident stays open although the condition is false over the series that still send.
 */
async function keepOpen(
  { stores, now }: UnitOfWork,
  open: OpenIncident | null,
  { clearSince, memory }: Extract<RuleDecision, { kind: 'keep_open' }>,
  { settings, missing }: { readonly settings: RuleSettings; readonly missing: Measurement['missing'] },
): Promise<void> {
  if (open === null) return;
  const { activeRules, timeline } = stores;
  await activeRules.setMemory([{ ruleId: open.ruleId, ...memory }]);
  await activeRules.setClearSince([{ ...open, before: open.clearSince, since: clearSince }]);
  const until = settings.noData === 'resolve' ? { noDataMinutes: settings.noDataMinutes } : {};
  await timeline.record(open.incidentId, 'series_silent', { ...silentSeries(missing), ...until }, now);
}

function silentSeries(missing: Measurement['missing']): { silent?: readonly string[]; silentCount?: number } {
  if (missing === null || missing === 'unknown') return {};
  return { silent: missing.names, silentCount: missing.count };
}

/** Records in the timeline of an incident that has just opened why it will stay open for longer. */
async function recordFlapping(unit: UnitOfWork, ruleId: Id<'rule'>, settings: RuleSettings): Promise<void> {
  const { stores, now } = unit;
  if (settings.flapIncidents === null) return;
  const open = await stores.activeRules.findOpenIncident('metric_threshold', ruleId);
  if (open === null || open.isMember) return;
  const incidents = await countRecent(unit, open, settings);
  if (!isFlapping(settings, incidents)) return;
  const { flapMinutes } = settings;
  await stores.timeline.record(open.incidentId, 'flapping', { incidents, flapMinutes }, now);
}

/** Counts how often a rule has fired recently; only a rule with flap detection needs it. */
async function countRecent(
  { stores }: UnitOfWork,
  { ruleId, openedAt }: OpenIncident,
  { flapIncidents, flapMinutes }: RuleSettings,
): Promise<number> {
  if (flapIncidents === null) return 0;
  return await stores.activeRules.countOpened(ruleId, openedAt, flapMinutes, flapIncidents);
}

/** The cause of an incident of a rule that pages when nothing is measured any more. */
function silenceOf(rule: ActiveRule, config: MetricThreshold, { noDataMinutes }: RuleSettings): Cause {
  const { metricName, comparator, threshold, windowMinutes, aggregation } = config;
  return {
    kind: 'metric_threshold',
    exceptionGroupId: null,
    title: `${rule.name}: no data of ${metricName}`,
    severity: 'error',
    details: { metricName, aggregation, comparator, threshold, windowMinutes, value: null },
    sentence: `${metricName} has sent no data for ${noDataMinutes} min`,
  };
}

function causeOf(
  rule: ActiveRule,
  config: MetricThreshold,
  { value, isMoreThan = false }: MeasuredValue,
  { forMinutes }: RuleSettings,
): Cause {
  const { metricName, comparator, threshold, windowMinutes, aggregation } = config;
  const details = {
    metricName,
    aggregation,
    comparator,
    threshold,
    windowMinutes,
    value,
    ...(isMoreThan && { isMoreThan }),
  };
  const of = `${aggregation} of ${metricName}`;
  const shown = comparedTexts(details, measureOf(metricName, aggregation));
  return {
    kind: 'metric_threshold',
    exceptionGroupId: null,
    title: `${rule.name}: ${comparisonOf(details) ?? shown.value} (${of})`,
    severity: 'error',
    details,
    sentence: `${of} over ${windowMinutes} min was ${shown.value} (${comparator} ${shown.threshold})${forMinutes === 0 ? '' : `, for ${forMinutes} min now`}`,
  };
}
