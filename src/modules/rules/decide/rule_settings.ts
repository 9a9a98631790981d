import type { Fault } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { faultsOf, ok, type Parsed } from '#modules/contacts/decide/parsed.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { readExpression } from '#modules/metrics/decide/expression.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { expressionFaults } from '#modules/metrics/decide/selector.ts';
import {
  DESCRIPTION_LENGTH_MAX,
  EXCEPTION_RULE_DEFAULTS,
  type ExceptionRuleSettings,
  guidanceFaults,
  METRIC_RULE_DEFAULTS,
  type MetricRuleSettings,
  MONITOR_CHOICES,
  NO_DATA_CHOICES,
  RULE_GUIDANCE_DEFAULTS,
  type RuleGuidance,
  RUNBOOK_LENGTH_MAX,
} from './kind_settings.ts';
import type { RuleKindDeclaration } from './rule_kind.ts';
import { RULE_KINDS, type RuleConfig, type RuleKind } from './rule_kinds.ts';

/** Settings of a rule in the console, besides its config. */
export interface RuleSettings extends MetricRuleSettings, ExceptionRuleSettings, RuleGuidance {
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
  ...RULE_GUIDANCE_DEFAULTS,
  repageMinutes: null,
  groupMinutes: 0,
};

/** Limit on durations in minutes, a day: a longer one would be another window. */
const MINUTES_MAX = 1_440;
export const GROUP_MINUTES_MAX = 15;
const RATE = { minimum: 0, maximum: 1_000_000_000 };
const FLAP_INCIDENTS = { minimum: 2, maximum: 100 };

const LABEL_LENGTH_MAX = 200;
const CONDITION = { type: 'string', minLength: 1, maxLength: 200 };

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
  shortWindowMinutes: orNull({
    type: 'integer',
    minimum: 1,
    maximum: WINDOW_MINUTES_MAX,
    description:
      'the condition has to be true over this shorter window, too; null: only over windowMinutes. It makes an incident end soon after its cause',
  }),
  trafficAtLeast: orNull({
    type: 'number',
    minimum: 0,
    description:
      'of a ratio: while its lower side is less over windowMinutes, the rule does not judge, as if no data came; null: any traffic is enough',
  }),
  byLabel: orNull({
    type: 'string',
    minLength: 1,
    maxLength: LABEL_LENGTH_MAX,
    description:
      'a label: each of its values opens, ends and pages as an incident of its own, up to 100 at a time; the others share one. null: one incident for all',
  }),
  eventsOver: orNull({
    type: 'integer',
    ...RATE,
    description:
      'a group opens an incident when more events of it that meet the conditions have come within rateMinutes; null: no limit',
  }),
  usersOver: orNull({
    type: 'integer',
    ...RATE,
    description:
      'a group opens an incident when events that meet the conditions have affected more users within rateMinutes; null: no limit',
  }),
  rateMinutes: minutes(1),
  monitors: { enum: MONITOR_CHOICES, description: 'whether missed and failed runs of cron monitors open incidents' },
  inEnvironment: orNull({
    ...CONDITION,
    description:
      'only events of this environment: the one that makes an exception new, or those that a rate counts; * stands for anything; null: any',
  }),
  inRelease: orNull({
    ...CONDITION,
    description:
      'only events of this release: the one that makes an exception new, or those that a rate counts; * stands for anything; null: any',
  }),
  withTag: orNull({
    ...CONDITION,
    pattern: '^[^:\\s]+:.+$',
    description:
      'only events with this tag, as key:value: the one that makes an exception new, or those that a rate counts; * in the value stands for anything; null: any',
  }),
  withText: orNull({
    ...CONDITION,
    description: 'only exceptions with this text in their title, in any case; null: any',
  }),
  incidentSeverity: orNull({ enum: LEVELS, description: 'severity of the incidents; null: that of the exception' }),
  severity: {
    enum: LEVELS,
    description:
      'severity of its incidents; an exception has the severity of its event. Policies page at any time from a severity on',
  },
  description: orNull({
    type: 'string',
    minLength: 1,
    maxLength: DESCRIPTION_LENGTH_MAX,
    description: 'meaning of its incidents, in Markdown, for whoever is paged; null for none',
  }),
  runbookUrl: orNull({
    type: 'string',
    minLength: 1,
    maxLength: RUNBOOK_LENGTH_MAX,
    description: 'address of the instructions for its incidents, https:// or http://; null for none',
  }),
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

/** Returns the severity that an incident of the rule has, or the least that it can have. */
export function expectedSeverity({
  config,
  settings,
}: {
  readonly config: RuleConfig;
  readonly settings: StoredSettings | null;
}): string {
  return 'minSeverity' in config ? config.minSeverity : settingsOf(settings).severity;
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
  const stored = settings as StoredSettings;
  const recovery = recoveryFault(config, stored, path);
  const wrong = [
    ...(recovery === null ? [] : [recovery]),
    ...conditionFaults(config, stored, path),
    ...guidanceFaults(stored, path),
  ];
  return wrong.length > 0 ? { kind: 'faults', faults: wrong } : ok(stored);
}

/** Returns the faults of settings that change what the condition is, against the config. */
function conditionFaults(
  config: RuleConfig,
  { shortWindowMinutes = null, trafficAtLeast = null, byLabel = null, noData }: StoredSettings,
  path: string,
): Fault[] {
  if (!('metricName' in config)) return [];
  const faults: Fault[] = [];
  const add = (field: keyof RuleSettings, message: string): void =>
    void faults.push({ path: `${path}.${field}`, message });
  const { windowMinutes } = config;
  if (shortWindowMinutes !== null && shortWindowMinutes >= windowMinutes) {
    add('shortWindowMinutes', `must be less than the ${windowMinutes} min of windowMinutes`);
  }
  const sides = selectorsIn(config.metricName);
  if (trafficAtLeast !== null && sides.length === 1) {
    add('trafficAtLeast', 'is for ratios only: metricName has no /');
  } else if (trafficAtLeast !== null && noData === 'page') {
    add('trafficAtLeast', 'counts as no data, so that noData must be resolve or keep, or quiet hours would page');
  }
  if (byLabel === '__name__') add('byLabel', 'must be a label, not the name of the metric');
  const wanted = sides.map(({ matchers }) =>
    matchers.find(({ label, operator }) => label === byLabel && operator === '='),
  );
  const [dividend, divisor] = wanted;
  if (dividend !== undefined && divisor !== undefined && dividend.value !== divisor.value) {
    add('byLabel', `the sides of the ratio have no value of ${byLabel} in common`);
  }
  return faults;
}

/** Returns the selectors of an expression; none of one that cannot be read, whose fault is told with the config. */
function selectorsIn(metricName: string): readonly MetricSelector[] {
  try {
    return readExpression(metricName).sides;
  } catch {
    return [];
  }
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

/** Days of an objective: shorter ones have no budget to speak of, longer ones are kept by few. */
export const OBJECTIVE_DAYS = { min: 7, max: 90 };

/** Parses the config of a rule of this kind and fills in its defaults; every fault is named under `path`. */
export function parseRuleConfig(kind: RuleKind, config: unknown, path: string): Parsed<RuleConfig> {
  const { properties, required, defaults, selector }: RuleKindDeclaration<RuleConfig> = RULE_KINDS[kind];
  const shape = { type: 'object', properties, required, additionalProperties: false };
  const faults = findFaults({ type: 'object', properties: { [path]: shape } }, { [path]: config });
  if (selector !== undefined && typeof config === 'object' && config !== null) {
    const text: unknown = Reflect.get(config, selector);
    if (typeof text === 'string') faults.push(...expressionFaults(text, `${path}.${selector}`));
  }
  return faults.length > 0 ? { kind: 'faults', faults } : ok({ ...defaults, ...(config as RuleConfig) });
}

/** A rule as it is stored, whoever wrote it. */
interface StoredRule {
  readonly kind: RuleKind;
  readonly config: unknown;
  readonly settings: unknown;
}

/** Returns why a stored rule cannot be evaluated; null if it can. The evaluation itself checks the selector. */
export function unreadableRule({ kind, config, settings }: StoredRule): string | null {
  const { properties }: RuleKindDeclaration<RuleConfig> = RULE_KINDS[kind];
  const shape = { type: 'object', properties, required: Object.keys(properties) };
  const faults = findFaults({ type: 'object', properties: { config: shape } }, { config });
  if (faults.length > 0) return sentenceOf(faults);
  if (settings === null) return null;
  const wrong = faultsOf(parseRuleSettings({ kind, config: config as RuleConfig }, settings, 'settings'));
  return wrong.length > 0 ? sentenceOf(wrong) : null;
}

function sentenceOf([first]: readonly Fault[]): string {
  return first === undefined ? 'it cannot be read' : `${first.path} ${first.message}`;
}
