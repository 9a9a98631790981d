import {
  EXCEPTION_RULE_DEFAULTS,
  type ExceptionRuleSettings,
  MONITOR_CHOICES,
} from '#modules/rules/decide/exception_rule_settings.ts';
import { RULE_KINDS, type RuleConfig, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import {
  METRIC_RULE_DEFAULTS,
  type MetricRuleSettings,
  NO_DATA_CHOICES,
} from '#modules/rules/decide/metric_rule_settings.ts';
import { ok, type Parsed } from '#modules/contacts/decide/parsed.ts';
import type { Fault } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';

/** Settings of a rule in the console, besides its config. */
export interface RuleSettings extends MetricRuleSettings, ExceptionRuleSettings {
  /** Minutes after an acknowledgement at which an incident that is still open pages again; null: it never does. */
  readonly repageMinutes: number | null;
  /** Minutes after another incident of the service in which a new one does not page as well; 0: it always pages. */
  readonly groupMinutes: number;
}

/** Settings as they are stored: those that nobody has set are absent. */
export type StoredSettings = Partial<RuleSettings>;

/** Defaults, with which a rule behaves as its config alone says. */
export const RULE_DEFAULTS: RuleSettings = {
  ...METRIC_RULE_DEFAULTS,
  ...EXCEPTION_RULE_DEFAULTS,
  repageMinutes: null,
  groupMinutes: 0,
};

/** Limit on durations in minutes, a day: a longer one would be another window. */
const MINUTES_MAX = 1_440;
export const GROUP_MINUTES_MAX = 15;
const RATE = { minimum: 0, maximum: 1_000_000_000 };
const FLAP_INCIDENTS = { minimum: 2, maximum: 100 };

const minutes = (minimum: number) => ({ type: 'integer', minimum, maximum: MINUTES_MAX });
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

/** JSON schema of each setting. */
export const RULE_SETTING_SCHEMAS: { readonly [Name in keyof RuleSettings]: object } = {
  forMinutes: {
    ...minutes(0),
    description: 'the condition has to be true for so long before an incident opens; 0: it opens at once',
  },
  recoveryThreshold: orNull({
    type: 'number',
    description: 'the condition counts as false only beyond this value; null: on the other side of the threshold',
  }),
  recoveryMinutes: orNull({
    ...minutes(0),
    description: 'the condition has to be false for so long before the incident is resolved; null: for a whole window',
  }),
  noData: {
    enum: NO_DATA_CHOICES,
    description:
      'without data for noDataMinutes: resolve the open incident, keep it open, or page: keep it, and open one where none is open',
  },
  noDataMinutes: minutes(1),
  flapIncidents: orNull({
    type: 'integer',
    ...FLAP_INCIDENTS,
    description:
      'from so many incidents within flapMinutes on, the last one stays open until the condition has been false for flapMinutes; null: never',
  }),
  flapMinutes: minutes(1),
  eventsOver: orNull({
    type: 'integer',
    ...RATE,
    description: 'a group opens an incident when more events of it have come within rateMinutes; null: no limit',
  }),
  usersOver: orNull({
    type: 'integer',
    ...RATE,
    description: 'a group opens an incident when it has affected more users within rateMinutes; null: no limit',
  }),
  rateMinutes: minutes(1),
  monitors: {
    enum: MONITOR_CHOICES,
    description: 'whether missed and failed runs of cron monitors open incidents',
  },
  repageMinutes: orNull({
    ...minutes(5),
    description:
      'an acknowledged incident that is still open after so long pages again from its first step; null: never',
  }),
  groupMinutes: {
    type: 'integer',
    minimum: 0,
    maximum: GROUP_MINUTES_MAX,
    description:
      'an incident that opens within so many minutes after another one of the service, by the same policy, is linked to it and pages only if that one ends first; 0: it pages by itself',
  },
};

export function settingsOf(stored: StoredSettings | null): RuleSettings {
  return stored === null ? RULE_DEFAULTS : { ...RULE_DEFAULTS, ...stored };
}

/** Whether a rule of this kind has the setting: only metrics have a lasting condition, only exceptions have users. */
export function hasSetting(kind: RuleKind, name: keyof RuleSettings): boolean {
  const isOfMetrics = RULE_KINDS[kind].fedBy === 'metrics';
  return !Object.hasOwn(isOfMetrics ? EXCEPTION_RULE_DEFAULTS : METRIC_RULE_DEFAULTS, name);
}

/** Parses the settings of a rule of this kind; every fault is named under `path`. */
export function parseRuleSettings(
  { kind, config }: { readonly kind: RuleKind; readonly config: RuleConfig },
  settings: unknown,
  path: string,
): Parsed<StoredSettings> {
  const properties = Object.fromEntries(
    Object.entries<object>(RULE_SETTING_SCHEMAS).filter(([name]) => hasSetting(kind, name as keyof RuleSettings)),
  );
  const shape = { type: 'object', properties, required: [], additionalProperties: false };
  const faults = findFaults({ type: 'object', properties: { [path]: shape } }, { [path]: settings });
  if (faults.length > 0) return { kind: 'faults', faults };
  const given = settings as StoredSettings;
  const wrong = recoveryFault(config, given, path);
  return wrong === null ? ok(given) : { kind: 'faults', faults: [wrong] };
}

/** Returns the fault of a recovery threshold that meets the condition: it would open and resolve at the same value. */
function recoveryFault(config: RuleConfig, { recoveryThreshold }: StoredSettings, path: string): Fault | null {
  if (!('comparator' in config) || typeof recoveryThreshold !== 'number') return null;
  const { comparator, threshold } = config;
  const isAbove = comparator === '>' || comparator === '>=';
  if (isAbove ? recoveryThreshold <= threshold : recoveryThreshold >= threshold) return null;
  return {
    path: `${path}.recoveryThreshold`,
    message: `must be ${isAbove ? 'at or below' : 'at or above'} the threshold ${threshold}, as the rule fires ${isAbove ? 'above' : 'below'} it; found ${recoveryThreshold}`,
  };
}
