import { type Static, Type } from 'typebox';

import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { EXAMPLE_STAMPS } from '#actions/example_stamps.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { RuleConfigView } from '#modules/rules/config_fields.ts';
import { isBehind } from '#modules/rules/decide/breach.ts';
import { RuleSettingsView, shownSettings } from '#modules/rules/settings_fields.ts';
import { MissingMetricView } from '#modules/rules/missing_metric.ts';
import { RULE_KIND_NAMES } from '#modules/rules/decide/rule_kinds.ts';
import { unreadableRule } from '#modules/rules/decide/stored_rule.ts';
import { RULE_STATUSES, ruleStatusOf } from '#modules/rules/decide/rule_status.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { AlertRuleRow } from '#modules/rules/store/alert_rule_store.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

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
