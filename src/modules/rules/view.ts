import { type Static, Type } from 'typebox';

import { EXAMPLE_IDS as IDS, EXAMPLE_STAMPS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { isBehind } from '#modules/rules/decide/breach.ts';
import { MissingMetricView } from '#modules/rules/missing_metric.ts';
import {
  RULE_KIND_NAMES,
  RULE_KINDS,
  RULE_STATUSES,
  type RuleConfig,
  type RuleKind,
  ruleStatusOf,
} from '#modules/rules/decide/rule_kinds.ts';
import {
  hasSetting,
  RULE_SETTING_SCHEMAS,
  type RuleSettings,
  settingsOf,
  type StoredSettings,
  unreadableRule,
} from '#modules/rules/decide/rule_settings.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { AlertRuleRow } from '#modules/rules/store/alert_rule_store.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

const FIELDS = Object.fromEntries(
  Object.entries<object>(RULE_SETTING_SCHEMAS).map(([name, schema]) => [
    name,
    Type.Optional(Type.Unsafe<RuleSettings[keyof RuleSettings]>(schema)),
  ]),
);

/** Fields of a rule for whoever is paged by it. */
export const GUIDANCE_FIELDS = {
  description: nullable(Type.String({ description: 'meaning of its incidents, in Markdown' })),
  runbookUrl: nullable(Type.String({ description: 'instructions for its incidents' })),
};

/** Settings of any kind of rule; which of them a kind has is checked with the kind. */
export const RuleSettingsInput = Type.Unsafe<StoredSettings>(StrictObject(FIELDS));

export const RuleSettingsView = Type.Unsafe<StoredSettings>(
  Type.Object(FIELDS, { description: 'what the console sets beside the config, complete for the kind of the rule' }),
);

export function shownSettings({ kind, settings }: Pick<AlertRuleRow, 'kind' | 'settings'>): StoredSettings {
  return Object.fromEntries(
    Object.entries(settingsOf(settings)).filter(([name]) => hasSetting(kind, name as keyof RuleSettings)),
  );
}

const fieldsOf = (kind: RuleKind) =>
  Object.entries<object>(RULE_KINDS[kind].properties).map(([name, schema]) => [name, Type.Unsafe(schema)] as const);

/** Properties of every kind; which of them a kind has, and which it must have, is checked with the kind. */
export const RuleConfigInput = Type.Partial(Type.Object(Object.fromEntries(RULE_KIND_NAMES.flatMap(fieldsOf))), {
  additionalProperties: false,
  description: RULE_KIND_NAMES.map((kind) => `${kind}: ${RULE_KINDS[kind].propertiesText}`).join('; '),
});

/** The complete config of each kind. */
export const RULE_CONFIG_VIEWS = RULE_KIND_NAMES.map((kind) => ({
  kind,
  view: Type.Object(Object.fromEntries(fieldsOf(kind))),
}));

export const RuleConfigView = Type.Unsafe<RuleConfig>(Type.Union(RULE_CONFIG_VIEWS.map(({ view }) => view)));

export const RuleKindName = Type.Enum([...RULE_KIND_NAMES]);

export const RuleView = Type.Object({
  ruleId: IdText,
  serviceId: IdText,
  name: Type.String(),
  kind: RuleKindName,
  config: RuleConfigView,
  escalationPolicyId: nullable(IdText),
  enabled: Type.Boolean(),
  status: Type.Enum([...RULE_STATUSES], {
    description: 'capability_disabled: the service lacks oncall or the capability that feeds the rule',
  }),
  missingMetric: MissingMetricView,
  unreadable: Type.Optional(
    Type.String({ description: 'why the rule as it is stored cannot be read; it was switched off for that' }),
  ),
  settings: Type.Optional(RuleSettingsView),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const RULE_EXAMPLE = {
  ruleId: IDS.ruleId,
  serviceId: IDS.serviceId,
  name: 'Checkout is slow',
  kind: 'metric_threshold',
  config: {
    metricName: 'http_request_duration_ms{route="/pay"}',
    comparator: '>',
    threshold: 800,
    windowMinutes: 5,
    aggregation: 'avg',
  },
  escalationPolicyId: IDS.policyId,
  enabled: true,
  status: 'active',
  missingMetric: null,
  ...EXAMPLE_STAMPS,
} satisfies Static<typeof RuleView>;

/** State of a rule of a service, and whether it can be judged now. */
export const RuleStateView = Type.Object({
  ...RuleView.properties,
  waitingForData: nullable(
    Type.Object(
      { since: Timestamp, behindSeconds: Type.Integer() },
      { description: 'points of the service wait to be stored; until they are, the rule opens and resolves nothing' },
    ),
  ),
});

export function toRuleStateView(
  rule: AlertRuleRow,
  service: Pick<ServiceWithCapabilities, 'capabilities'>,
  waitingSince: Temporal.Instant | null,
  now: Temporal.Instant,
): Static<typeof RuleStateView> {
  const isWaiting =
    'windowMinutes' in rule.config && waitingSince !== null && isBehind(rule.config.windowMinutes, waitingSince, now);
  const waitingForData = isWaiting
    ? { since: toTimestamp(waitingSince), behindSeconds: Math.round(now.since(waitingSince).total('seconds')) }
    : null;
  return { ...toRuleView(rule, service), waitingForData };
}

export function toRuleView(
  rule: AlertRuleRow,
  service: Pick<ServiceWithCapabilities, 'capabilities'>,
): Static<typeof RuleView> {
  const fault = rule.enabled ? null : unreadableRule(rule);
  return {
    ruleId: rule.id,
    serviceId: rule.serviceId,
    name: rule.name,
    kind: rule.kind,
    config: rule.config,
    escalationPolicyId: rule.escalationPolicyId,
    enabled: rule.enabled,
    status: ruleStatusOf(rule, service.capabilities),
    missingMetric: null,
    ...(fault !== null && { unreadable: fault }),
    ...(rule.settings !== null && { settings: shownSettings(rule) }),
    createdAt: toTimestamp(rule.createdAt),
    updatedAt: toTimestamp(rule.updatedAt),
  };
}
