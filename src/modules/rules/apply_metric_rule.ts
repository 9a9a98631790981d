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
  type RuleMemory,
} from '#modules/rules/decide/breach.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import { labelsOf } from '#modules/maintenance/decide/maintenance.ts';
import { isOfValue, keyStartOfValues, OWN_INCIDENTS_MAX, REST } from '#modules/rules/decide/by_label.ts';
import { windowsOfRule } from '#modules/rules/decide/judged_value.ts';
import { AGGREGATION_NOUNS } from '#modules/metrics/decide/aggregation.ts';
import { comparedTexts, measureOf } from '#modules/metrics/decide/quantity.ts';
import type { Cause } from '#modules/incidents/paging/firing.ts';
import { openIncidents } from '#modules/incidents/open_incidents.ts';
import { endStormMembers, resolve } from '#modules/incidents/change_status.ts';
import type { TimelineDetails } from '#modules/incidents/paging/stop_escalation.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ActiveRule, MetricCheck } from '#modules/rules/store/active_rule_store.ts';
import type { OpenIncident } from '#modules/rules/store/rule_conclusions.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** A metric rule, or a part of one by label, and what was measured for it. */
export interface Measurement extends MeasuredValue {
  readonly rule: MetricCheck;
  /** Empty text for the whole rule; see `by_label.ts`. */
  readonly part: string;
  /** Value of the label that the part is; null for the whole, the rest, and a value that sends nothing. */
  readonly labelValue: string | null;
  /** Number of values that breach in the part. */
  readonly breaching: number;
  readonly memory: RuleMemory;
  /** Series that fell silent since the breach; `unknown` while nobody has looked. */
  readonly missing: MissingSeries | null | 'unknown';
  readonly now: Temporal.Instant;
}

/**
 * Opens, counts or resolves the incident of a metric rule or of a part of it. Decides again under the lock of the rule: the rule
 * may have changed since it was measured, or another process may have acted on it.
 */
export async function applyMetricRule(unit: UnitOfWork, measured: Measurement, limit: IncidentLimit): Promise<void> {
  const { activeRules, incidents, ruleMemory } = unit.stores;
  const {
    rule: { ruleId, config, settings: stored },
    part,
    value,
    isMoreThan = false,
    missing,
    now,
  } = measured;
  await activeRules.lockDecision(ruleId);
  const [rule] = await activeRules.list('metric_threshold', { ruleId });
  if (rule === undefined || !isDeepStrictEqual([rule.config, rule.settings], [config, stored])) return;
  const settings = settingsOf(stored);
  const dedupKey = part === '' ? ruleId : `${ruleId}.${part}`;
  const open = await activeRules.findOpenIncident('metric_threshold', ruleId, dedupKey);
  const memory = await ruleMemory.find(ruleId, part);
  const recentIncidents = open === null ? 0 : await countRecent(unit, open, settings);
  const decision = decideMetricRule(
    { ...config, settings },
    { value, isMoreThan, open, memory, recentIncidents, missing, now },
  );
  if (decision.kind === 'nothing' || decision.kind === 'remember' || decision.kind === 'find_missing') return;
  if (decision.kind === 'keep_open') return await keepOpen(unit, open, decision, { part, settings, missing });
  await ruleMemory.clear([{ ruleId, part }]);
  if (decision.kind !== 'resolve') {
    const isSilent = decision.kind === 'open' && decision.because === 'no_data';
    const cause = isSilent ? silenceOf(rule, config, settings) : causeOf(rule, measured, settings);
    const key = decision.kind === 'open' ? await keyToOpen(unit, ruleId, part) : dedupKey;
    await openIncidents(unit, [{ rule, cause: { ...cause, dedupKey: key } }], limit);
    if (decision.kind === 'open') await recordFlapping(unit, { ruleId, dedupKey: key }, settings);
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
  if (open.isMember) await endStormMembers(unit, incident, { keys: [dedupKey] }, by, details);
  else await resolve(unit, incident, by, details);
}

/** Returns the key of a new incident. A value is part of the rest where as many as may be have an incident of their own by now. */
async function keyToOpen({ stores }: UnitOfWork, ruleId: Id<'rule'>, part: string): Promise<string> {
  if (part === '') return ruleId;
  if (!isOfValue(part)) return `${ruleId}.${part}`;
  const openValues = await stores.activeRules.countOpenIncidents('metric_threshold', ruleId, keyStartOfValues(ruleId));
  return openValues < OWN_INCIDENTS_MAX ? `${ruleId}.${part}` : `${ruleId}.${REST}`;
}

/**
 * Records in the timeline why an incident stays open although the condition is false over the series that still send.
 */
async function keepOpen(
  { stores, now }: UnitOfWork,
  open: OpenIncident | null,
  { clearSince, memory }: Extract<RuleDecision, { kind: 'keep_open' }>,
  { part, settings, missing }: Pick<Measurement, 'part' | 'missing'> & { readonly settings: RuleSettings },
): Promise<void> {
  if (open === null) return;
  const { activeRules, ruleMemory, timeline } = stores;
  await ruleMemory.set([{ ruleId: open.ruleId, part, ...memory }]);
  await activeRules.setClearSince([{ ...open, before: open.clearSince, since: clearSince }]);
  const until = settings.noData === 'resolve' ? { noDataMinutes: settings.noDataMinutes } : {};
  await timeline.record(open.incidentId, 'series_silent', { ...silentSeries(missing), ...until }, now);
}

function silentSeries(missing: Measurement['missing']): { silent?: readonly string[]; silentCount?: number } {
  if (missing === null || missing === 'unknown') return {};
  return { silent: missing.names, silentCount: missing.count };
}

/** Records in the timeline of an incident that has just opened why it will stay open for longer. */
async function recordFlapping(
  unit: UnitOfWork,
  { ruleId, dedupKey }: Pick<OpenIncident, 'ruleId' | 'dedupKey'>,
  settings: RuleSettings,
): Promise<void> {
  const { stores, now } = unit;
  if (settings.flapIncidents === null) return;
  const open = await stores.activeRules.findOpenIncident('metric_threshold', ruleId, dedupKey);
  if (open === null || open.isMember) return;
  const incidents = await countRecent(unit, open, settings);
  if (!isFlapping(settings, incidents)) return;
  const { flapMinutes } = settings;
  await stores.timeline.record(open.incidentId, 'flapping', { incidents, flapMinutes }, now);
}

/** Counts how often a rule has fired recently; only a rule with flap detection needs it. */
async function countRecent(
  { stores }: UnitOfWork,
  open: OpenIncident,
  { flapIncidents, flapMinutes }: RuleSettings,
): Promise<number> {
  if (flapIncidents === null) return 0;
  return await stores.activeRules.countOpened(open, open.openedAt, flapMinutes, flapIncidents);
}

/** The cause of an incident of a rule that pages when nothing is measured any more. */
function silenceOf(rule: ActiveRule, config: MetricThreshold, { noDataMinutes, severity }: RuleSettings): Cause {
  const { metricName, comparator, threshold, windowMinutes, aggregation } = config;
  return {
    kind: 'metric_threshold',
    exceptionGroupId: null,
    title: `${rule.name}: no data of ${metricName}`,
    severity,
    details: { metricName, aggregation, comparator, threshold, windowMinutes, value: null },
    sentence: `${metricName} has sent no data for ${noDataMinutes} min`,
  };
}

function causeOf(rule: ActiveRule, measured: Measurement, settings: RuleSettings): Cause {
  const { value, isMoreThan = false, labelValue, breaching, part } = measured;
  const { config } = measured.rule;
  const { metricName, comparator, threshold, windowMinutes, aggregation } = config;
  const { forMinutes, shortWindowMinutes, byLabel, severity } = settings;
  const details = {
    metricName,
    aggregation,
    comparator,
    threshold,
    windowMinutes,
    value,
    ...(isMoreThan && { isMoreThan }),
    ...(shortWindowMinutes !== null && { shortWindowMinutes }),
    ...(byLabel !== null && part !== '' && { label: byLabel, labelValue, breaching }),
  };
  const of = `${AGGREGATION_NOUNS[aggregation]} of ${metricName}`;
  const whose = byLabel === null || part === '' ? '' : ` ${whoseText(byLabel, { labelValue, breaching })}`;
  const shown = comparedTexts(details, measureOf(metricName, aggregation));
  const windows = windowsOfRule(windowMinutes, settings).join(' and ');
  return {
    kind: 'metric_threshold',
    exceptionGroupId: null,
    title: `${rule.name}:${whose} ${comparisonOf(details) ?? shown.value} (${of})`,
    severity,
    details,
    ...(byLabel !== null &&
      labelValue !== null && { labels: { ...labelsOf({ kind: 'metric_threshold', config }), [byLabel]: labelValue } }),
    sentence: `${of}${whose} over ${windows} min was ${shown.value} (${comparator} ${shown.threshold})${forMinutes === 0 ? '' : `, for ${forMinutes} min now`}`,
  };
}

/** Longest value of a label in a title. */
const SHOWN_VALUE_MAX = 120;

function whoseText(label: string, { labelValue, breaching }: Pick<Measurement, 'labelValue' | 'breaching'>): string {
  if (labelValue === null)
    return `of ${label}, ${breaching === 1 ? '1 value' : `${breaching} values`} beyond the first ${OWN_INCIDENTS_MAX}:`;
  if (labelValue === '') return `without ${label}:`;
  const value = labelValue.length > SHOWN_VALUE_MAX ? `${labelValue.slice(0, SHOWN_VALUE_MAX)}…` : labelValue;
  return `${label} ${value}:`;
}
