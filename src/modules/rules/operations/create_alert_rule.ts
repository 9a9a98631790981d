import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, Name, StrictObject } from '#actions/fields.ts';
import { faultsOf, unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseRuleConfig, parseRuleSettings, type StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import { isRuleKind, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { findMissingMetrics } from '#modules/rules/missing_metric.ts';
import {
  RULE_EXAMPLE,
  RuleConfigInput,
  RuleKindName,
  RuleSettingsInput,
  RuleView,
  shownSettings,
  toRuleView,
} from '#modules/rules/view.ts';

export const createAlertRule = defineAction({
  name: 'create_alert_rule',
  summary:
    'Create an alert rule for a service: it turns metric breaches or new exceptions into incidents, and pages by the escalation policy if it has one. It is enabled unless enabled is false, and works while its service has oncall and the capability that feeds it.',
  guidance: 'It can wake people: look at the metric with query_metric first. windowMinutes is in minutes.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    serviceId: IdText,
    name: Name,
    kind: RuleKindName,
    config: RuleConfigInput,
    escalationPolicyId: Type.Optional(IdText),
    enabled: Type.Optional(Type.Boolean()),
  }),
  result: RuleView,
  validate: ({ kind, config }) =>
    isRuleKind(kind) && config !== undefined ? faultsOf(parseRuleConfig(kind, config, 'config')) : [],
  example: {
    serviceId: IDS.serviceId,
    name: RULE_EXAMPLE.name,
    kind: 'metric_threshold',
    config: RULE_EXAMPLE.config,
    escalationPolicyId: IDS.policyId,
    enabled: true,
  },
  exampleResult: RULE_EXAMPLE,
  handle: (input, context) => insertRule(input, null, context),
});

interface NewRule {
  readonly serviceId: string;
  readonly name: string;
  readonly kind: RuleKind;
  readonly config: object;
  readonly escalationPolicyId?: string | undefined;
  readonly enabled?: boolean | undefined;
}

export async function insertRule(
  input: NewRule,
  settings: StoredSettings | null,
  context: ActionContext,
): Promise<Static<typeof RuleView>> {
  const { stores, caller, now, record } = context;
  const { orgId } = caller;
  const config = unwrap(parseRuleConfig(input.kind, input.config, 'config'));
  await stores.services.lock(orgId, input.serviceId);
  const service = await stores.services.get(orgId, input.serviceId);
  const policy =
    input.escalationPolicyId === undefined
      ? null
      : await stores.policies.lock(orgId, input.escalationPolicyId, 'escalationPolicyId');
  const rule = await stores.alertRules.insert(
    service,
    {
      name: input.name,
      kind: input.kind,
      config,
      escalationPolicyId: policy && policy.id,
      enabled: input.enabled ?? true,
      settings: settings && unwrap(parseRuleSettings({ kind: input.kind, config }, settings, 'settings')),
    },
    now,
  );
  const after = toRuleView(rule, service);
  record({
    target: rule.id,
    before: null,
    after: settings === null ? after : { ...after, settings: shownSettings(rule) },
  });
  return { ...after, missingMetric: (await findMissingMetrics(context, service, [rule])).get(rule.id) ?? null };
}

/** Does what `create_alert_rule` does, with the rule's settings besides its config. */
export const addAlertRule = defineOperation({
  name: 'add_alert_rule',
  summary: 'Create an alert rule with its settings.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ ...createAlertRule.input.properties, settings: RuleSettingsInput }),
  result: RuleView,
  ...(createAlertRule.validate && { validate: createAlertRule.validate }),
  example: { ...createAlertRule.example, settings: { forMinutes: 5, noData: 'page', noDataMinutes: 10 } },
  handle: ({ settings, ...rule }, context) => insertRule(rule, settings, context),
});
