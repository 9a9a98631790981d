import type { ConfigSchema, RuleKindDeclaration } from '#modules/rules/decide/rule_kind.ts';
import { METRIC_THRESHOLD } from '#modules/rules/decide/metric_threshold.ts';
import { EXCEPTION_RULE_DEFAULTS, type ExceptionRuleSettings } from '#modules/rules/decide/kind_settings.ts';
import { keysOf } from '#kernel/records.ts';
import type { Capability } from '#modules/capabilities/decide/capability.ts';
import { type Level, LEVELS } from '#modules/exceptions/decide/level.ts';

/** The config of an `exception` rule, complete. */
export interface ExceptionRule {
  readonly minSeverity: Level;
}

/** Opens an incident for a new or regressed group whose event is at least this severe. */
const EXCEPTION: RuleKindDeclaration<ExceptionRule> = {
  title: 'A new exception arrives',
  fedBy: 'exceptions',
  ingests: 'events',
  causes: 'new exceptions',
  properties: { minSeverity: { enum: LEVELS, description: 'default error' } },
  required: [],
  propertiesText: 'minSeverity',
  defaults: { minSeverity: 'error' },
  labels: { minSeverity: 'At least this severe' },
  condition: exceptionText,
};

function exceptionText({ minSeverity }: ExceptionRule, stored: Partial<ExceptionRuleSettings>): string {
  const settings = { ...EXCEPTION_RULE_DEFAULTS, ...stored };
  const conditions = Object.entries({
    'of the environment': settings.inEnvironment,
    'of the release': settings.inRelease,
    'with the tag': settings.withTag,
    'with the title': settings.withText && `*${settings.withText}*`,
  }).flatMap(([words, text]) => (text === null ? [] : [`, ${words} "${text}"`]));
  const limits = Object.entries({ event: settings.eventsOver, user: settings.usersOver }).flatMap(([noun, over]) =>
    over === null ? [] : [`more than ${over.toLocaleString('en')} ${noun}${over === 1 ? '' : 's'}`],
  );
  const when =
    limits.length === 0
      ? `a new exception, or one that came back, is at least "${minSeverity}"`
      : `an exception that is at least "${minSeverity}" has ${limits.join(' or ')} within ${settings.rateMinutes} min`;
  return `When ${when}${conditions.join('')}.`;
}

/** Statuses of a rule. `capability_disabled`: the service lacks `oncall` or the capability that feeds the rule. */
export const RULE_STATUSES = ['active', 'disabled', 'capability_disabled'] as const;

type RuleStatus = (typeof RULE_STATUSES)[number];

/**
 * Returns the status of a rule; only an active one is evaluated. One that was switched off is `disabled`, whatever its
 * service has.
 */
export function ruleStatusOf(
  rule: { readonly kind: RuleKind; readonly enabled: boolean },
  capabilities: readonly Capability[],
): RuleStatus {
  if (!rule.enabled) return 'disabled';
  const isFed = capabilities.includes('oncall') && capabilities.includes(RULE_KINDS[rule.kind].fedBy);
  return isFed ? 'active' : 'capability_disabled';
}

/** Declarations of the kinds of rules, by which incidents open. */
export const RULE_KINDS = { metric_threshold: METRIC_THRESHOLD, exception: EXCEPTION } as const;

export type RuleKind = keyof typeof RULE_KINDS;

export const RULE_KIND_NAMES: readonly RuleKind[] = keysOf(RULE_KINDS);

/** The config of a rule of any kind, complete. */
export type RuleConfig = ConfigOf<(typeof RULE_KINDS)[RuleKind]>;

type ConfigOf<Declaration> = Declaration extends RuleKindDeclaration<infer Config> ? Config : never;

export function isRuleKind(value: unknown): value is RuleKind {
  return typeof value === 'string' && Object.hasOwn(RULE_KINDS, value);
}

/** A property of the config of a kind, as a form shows it. */
interface ConfigField {
  readonly name: string;
  readonly label: string;
  readonly schema: ConfigSchema;
  /** Default of an absent property; undefined for a required one. */
  readonly initial: unknown;
}

export function configFieldsOf(kind: RuleKind): readonly ConfigField[] {
  const { properties, labels, defaults } = RULE_KINDS[kind];
  const titles = new Map(Object.entries<string>(labels));
  const settings = new Map(Object.entries<unknown>(defaults));
  return Object.entries<ConfigSchema>(properties).map(([name, schema]) => ({
    name,
    label: titles.get(name) ?? name,
    schema,
    initial: settings.get(name),
  }));
}

/** A rule, as far as its condition goes. */
interface Condition {
  readonly kind: RuleKind;
  readonly config: RuleConfig;
  readonly settings?: Partial<ExceptionRuleSettings> | null | undefined;
}

export function conditionText({ kind, config, settings }: Condition): string {
  const declaration: RuleKindDeclaration<RuleConfig> = RULE_KINDS[kind];
  return declaration.condition(config, settings ?? {});
}

/** Returns the metric whose points a rule looks at, with its label selector; null for a rule that looks at none. */
export function metricOf({ kind, config }: Condition): string | null {
  const { selector }: RuleKindDeclaration<RuleConfig> = RULE_KINDS[kind];
  const text: unknown = selector === undefined ? null : Object(config)[selector];
  return typeof text === 'string' ? text : null;
}
