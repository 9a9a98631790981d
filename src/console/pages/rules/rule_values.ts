import type { Rule } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import type { RuleStart } from '#console/pages/rules/rule_filter.ts';
import {
  type SettingValues,
  settingsOfValues,
  valuesOfSettings,
} from '#console/pages/rules/settings/setting_values.ts';
import {
  conditionText,
  configFieldsOf,
  isRuleKind,
  type RuleConfig,
  type RuleKind,
} from '#modules/rules/decide/rule_kinds.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';

/** Config of a rule while it is edited: a number that is not complete yet is a text. */
export type ConfigValues = Readonly<Record<string, string | number>>;

export interface RuleValues {
  readonly name: string;
  readonly kind: RuleKind;
  readonly serviceId: string | null;
  readonly config: ConfigValues;
  readonly settings: SettingValues;
  readonly escalationPolicyId: string | null;
  readonly enabled: boolean;
}

export const RULE_LABELS: Readonly<Record<keyof RuleValues, string>> = {
  name: 'Name',
  kind: 'Fires when',
  serviceId: 'Service',
  config: 'Condition',
  settings: 'Fewer pages',
  escalationPolicyId: 'Pages by',
  enabled: 'Enabled',
};

export function emptyConfig(kind: RuleKind): ConfigValues {
  return Object.fromEntries(
    configFieldsOf(kind).map(({ name, initial }) => {
      return [name, FIRST[name] ?? (typeof initial === 'number' || typeof initial === 'string' ? initial : '')];
    }),
  );
}

/** Initial values of fields without a default; that of the aggregation depends on the metric. */
const FIRST: ConfigValues = { comparator: '>', aggregation: '' };

export function valuesOfRule(rule: Rule): RuleValues {
  const { name, kind, serviceId, config, settings, escalationPolicyId, enabled } = rule;
  const values = { name, kind, serviceId, config: { ...config }, escalationPolicyId, enabled };
  return { ...values, settings: valuesOfSettings(settings) };
}

export function valuesOfStart(start: RuleStart): RuleValues {
  const kind = isRuleKind(start.kind) ? start.kind : 'metric_threshold';
  const { metric, aggregation, comparator, threshold, window } = start;
  const values: Partial<MetricThreshold> = {
    ...(metric !== undefined && { metricName: metric }),
    ...(aggregation !== undefined && { aggregation }),
    ...(comparator !== undefined && { comparator }),
    ...(threshold !== undefined && { threshold }),
    ...(window !== undefined && { windowMinutes: window }),
  };
  return {
    name: start.name ?? '',
    kind,
    serviceId: start.service ?? null,
    config: { ...emptyConfig(kind), ...(kind === 'metric_threshold' && values) },
    settings: valuesOfSettings({}),
    escalationPolicyId: start.policy ?? null,
    enabled: true,
  };
}

/** Comparators in words. */
const COMPARED: Readonly<Record<string, string>> = {
  '>': 'above',
  '>=': 'at or above',
  '<': 'below',
  '<=': 'at or below',
};

/** Returns the rule as one sentence; null until its condition is complete. */
export function ruleSentence({
  kind,
  config,
  settings,
  escalationPolicyId,
}: Pick<RuleValues, 'kind' | 'config' | 'settings' | 'escalationPolicyId'>): string | null {
  const sent = sentConfig(config);
  const isComplete = Object.values(sent).every((value) => String(value).trim() !== '' && value !== '-');
  if (!isComplete) return null;
  const written = conditionText({
    kind,
    config: sent as unknown as RuleConfig,
    settings: settingsOfValues(kind, settings),
  })
    .replace(/^When /, '')
    .replace(/\.$/, '');
  const does = escalationPolicyId === null ? 'Opens an incident and pages nobody' : 'Pages';
  if (kind !== 'metric_threshold') return `${does} when ${written}.`;
  const sign = ` is ${config['comparator']} `;
  const at = written.lastIndexOf(sign);
  const condition = `the ${written.slice(0, at)} is ${COMPARED[config['comparator'] ?? '']} ${written.slice(at + sign.length)}`;
  const held = Number(settings.forMinutes);
  return held > 0 ? `${does} when ${condition} for ${held} min.` : `${does} as soon as ${condition}.`;
}

/** Returns the faults that need no request, by the path of their field. */
export function faultsOf({ name, kind, serviceId, config }: RuleValues): Record<string, string> {
  const faults: Record<string, string> = {};
  const sent = sentConfig(config);
  if (name.trim() === '') faults['name'] = 'A rule needs a name';
  if (serviceId === null) faults['serviceId'] = 'Choose the service that it watches';
  for (const { name: field, label, schema } of configFieldsOf(kind)) {
    const value = sent[field] ?? '';
    const { type, minimum = -Infinity, maximum = Infinity } = schema;
    if (String(value).trim() === '') faults[`config.${field}`] = `${label} is missing`;
    else if (type !== 'number' && type !== 'integer') continue;
    else if (typeof value !== 'number' || !Number.isFinite(value)) faults[`config.${field}`] = 'Enter a number';
    else if (type === 'integer' && !Number.isInteger(value)) faults[`config.${field}`] = 'Enter a whole number';
    else if (value < minimum || value > maximum)
      faults[`config.${field}`] = `It has to be from ${minimum} to ${maximum}`;
  }
  return faults;
}

/** Returns the config to send: a metric that has not arrived yet is measured by its mean. */
export function sentConfig(config: ConfigValues): ConfigValues {
  return config['aggregation'] === '' ? { ...config, aggregation: 'avg' } : config;
}

/** Returns the part of the config that a chart needs; null while it is incomplete. */
export function thresholdOf({ kind, config }: Pick<RuleValues, 'kind' | 'config'>): MetricThreshold | null {
  if (kind !== 'metric_threshold') return null;
  const sent = sentConfig(config);
  const { metricName, threshold, windowMinutes } = sent;
  if (typeof metricName !== 'string' || metricName.trim() === '') return null;
  if (typeof windowMinutes !== 'number' || !Number.isInteger(windowMinutes) || windowMinutes < 1) return null;
  const limit = typeof threshold === 'number' && Number.isFinite(threshold) ? threshold : Number.NaN;
  return { ...(sent as unknown as MetricThreshold), metricName: metricName.trim(), windowMinutes, threshold: limit };
}

/** Returns the server's faults, by the path of the field, which is its name in the form. */
export function serverFaults(error: unknown): Record<string, string> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(error.faults.map(({ path, message }) => [path, capital(message)]));
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
