import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { ExceptionConfigView, MetricThresholdConfigView } from '#actions/rules/config_fields.ts';
import { RULE_KINDS } from '#core/incidents/incident.ts';
import { RULE_STATUSES, ruleStatusOf } from '#core/incidents/rule_status.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { AlertRuleRow } from '#storage/postgres/alert_rule_store.ts';
import type { ServiceWithCapabilities } from '#storage/postgres/service_store.ts';

export const RuleKindName = Type.Enum([...RULE_KINDS]);

export const RuleView = Type.Object({
  ruleId: IdText,
  serviceId: IdText,
  name: Type.String(),
  kind: RuleKindName,
  config: Type.Union([MetricThresholdConfigView, ExceptionConfigView]),
  escalationPolicyId: nullable(IdText),
  enabled: Type.Boolean(),
  status: Type.Enum([...RULE_STATUSES], {
    description: 'capability_disabled: the service lacks oncall or the capability that feeds the rule',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export function toRuleView(
  rule: AlertRuleRow,
  service: Pick<ServiceWithCapabilities, 'capabilities'>,
): Static<typeof RuleView> {
  return {
    ruleId: rule.id,
    serviceId: rule.serviceId,
    name: rule.name,
    kind: rule.kind,
    config: rule.config,
    escalationPolicyId: rule.escalationPolicyId,
    enabled: rule.enabled,
    status: ruleStatusOf(rule, service.capabilities),
    createdAt: toTimestamp(rule.createdAt),
    updatedAt: toTimestamp(rule.updatedAt),
  };
}
