import {
  hasSetting,
  RULE_DEFAULTS,
  type RuleSettings,
  settingsOf,
  type StoredSettings,
} from '#modules/rules/decide/rule_settings.ts';
import { METRIC_RULE_DEFAULTS } from '#modules/rules/decide/kind_settings.ts';
import { keysOf, recordOf } from '#kernel/records.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';

/** Settings of a rule while they are edited: an empty field is an empty text. */
export type SettingValues = Readonly<Record<keyof RuleSettings, string | number>>;

export function valuesOfSettings(settings: StoredSettings): SettingValues {
  return recordOf(keysOf(RULE_DEFAULTS), (name) => settingsOf(settings)[name] ?? '');
}

/** Converts the values to settings: an empty field stands for its default. */
export function settingsOfValues(kind: RuleKind, values: SettingValues): StoredSettings {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => hasSetting(kind, name as keyof RuleSettings))
      .map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value] as const)
      .map(([name, value]) => [name, value === '' ? RULE_DEFAULTS[name as keyof RuleSettings] : value]),
  );
}

/** Returns the settings that a rule of this kind has: the server accepts no others. */
export function settingsOfKind(kind: RuleKind, settings: StoredSettings): StoredSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => hasSetting(kind, name as keyof RuleSettings)));
}

/** Settings that are texts. */
const TEXTS = new Set(['noData', 'byLabel', 'severity', 'description', 'runbookUrl']);

/** Returns the settings for a replay while somebody types: a value that is not a number yet counts as the default. */
export function replayedSettings(values: SettingValues): RuleSettings {
  const settingEntries = Object.entries(settingsOfValues('metric_threshold', values));
  return settingsOf(
    Object.fromEntries(
      settingEntries.filter(
        ([name, value]) => TEXTS.has(name) || (typeof value === 'number' && value >= 0) || value === null,
      ),
    ),
  );
}

/** Returns the settings besides the condition, one sentence each. */
export function settingSentences(kind: RuleKind, stored: StoredSettings): string[] {
  const settings = settingsOf(stored);
  const sentences = hasSetting(kind, 'forMinutes') ? metricSentences(settings) : exceptionSentences(settings);
  return [...sentences, ...pagingSentences(settings)];
}

function exceptionSentences(settings: RuleSettings): string[] {
  const { monitors, incidentSeverity } = settings;
  return [
    ...(incidentSeverity === null ? [] : [`Its incidents are of severity ${incidentSeverity}.`]),
    ...(monitors === 'open' ? [] : ['Cron monitors that miss or fail a run open no incident.']),
  ];
}

function pagingSentences({ repageMinutes, groupMinutes }: RuleSettings): string[] {
  return [
    ...(repageMinutes === null ? [] : [`Acknowledged and still open after ${repageMinutes} min, it pages again.`]),
    ...(groupMinutes === 0
      ? []
      : [
          `Within ${groupMinutes} min after another incident of the service it is linked to that one: one page for both.`,
        ]),
  ];
}

function metricSentences(settings: RuleSettings): string[] {
  const { forMinutes, recoveryThreshold, recoveryMinutes, noData, noDataMinutes, flapIncidents, flapMinutes } =
    settings;
  const sentences: string[] = [];
  const { shortWindowMinutes, trafficAtLeast, byLabel, severity } = settings;
  if (severity !== METRIC_RULE_DEFAULTS.severity) sentences.push(`Its incidents have the severity ${severity}.`);
  if (shortWindowMinutes !== null) {
    sentences.push(`The condition has to be true over the last ${shortWindowMinutes} min, too.`);
  }
  if (trafficAtLeast !== null) {
    sentences.push(`Below ${trafficAtLeast} on the lower side of the ratio it does not judge.`);
  }
  if (byLabel !== null) sentences.push(`Each value of ${byLabel} has an incident of its own, up to 100 at a time.`);
  if (forMinutes > 0) sentences.push(`It opens an incident once the condition has been true for ${forMinutes} min.`);
  if (recoveryThreshold !== null || recoveryMinutes !== null) {
    const beyond =
      recoveryThreshold === null ? 'the condition is false' : `the value is past ${recoveryThreshold} again`;
    const lasting = recoveryMinutes === null ? 'for a whole window' : `for ${recoveryMinutes} min`;
    sentences.push(`It is over once ${beyond} ${lasting}.`);
  }
  sentences.push(
    {
      resolve: `When no data arrives for ${noDataMinutes} min, its incident is resolved.`,
      keep: 'When no data arrives, its incident stays open.',
      page: `When no data arrives for ${noDataMinutes} min, it pages.`,
    }[noData],
  );
  if (flapIncidents !== null) {
    sentences.push(
      `From ${flapIncidents} incidents within ${flapMinutes} min on, the last one stays open until the condition has been false for ${flapMinutes} min.`,
    );
  }
  return sentences;
}
