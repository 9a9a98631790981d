import { Type } from 'typebox';

import { defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, Name, nullable, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseRuleConfig, parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { findMissingMetrics } from '#modules/rules/missing_metric.ts';
import {
  RULE_EXAMPLE,
  RuleConfigInput,
  RuleSettingsInput,
  RuleView,
  shownSettings,
  toRuleView,
} from '#modules/rules/view.ts';

export const updateAlertRule = defineAction({
  name: 'update_alert_rule',
  summary:
    'Update an alert rule. config is replaced as a whole and must fit the kind of the rule; an escalationPolicyId of null takes the policy away, so that incidents page nobody.',
  guidance: 'A field that is left out stays.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    ruleId: IdText,
    name: Type.Optional(Name),
    config: Type.Optional(RuleConfigInput),
    escalationPolicyId: Type.Optional(nullable(IdText)),
    enabled: Type.Optional(Type.Boolean()),
  }),
  result: RuleView,
  example: {
    ruleId: IDS.ruleId,
    name: RULE_EXAMPLE.name,
    config: { ...RULE_EXAMPLE.config, threshold: 1200 },
    escalationPolicyId: null,
    enabled: false,
  },
  exampleResult: {
    ...RULE_EXAMPLE,
    config: { ...RULE_EXAMPLE.config, threshold: 1200 },
    escalationPolicyId: null,
    enabled: false,
    status: 'disabled',
    updatedAt: '2027-02-01T13:20:11.046Z',
  },
  async handle({ ruleId, name, config, escalationPolicyId, enabled }, context) {
    const { stores, caller, now, record } = context;
    const { orgId } = caller;
    const { kind, serviceId } = await stores.alertRules.get(orgId, ruleId);
    const newConfig = config && unwrap(parseRuleConfig(kind, config, 'config'));
    // The policy before the rule: deleting a policy locks in this order too.
    const policy =
      typeof escalationPolicyId === 'string'
        ? await stores.policies.lock(orgId, escalationPolicyId, 'escalationPolicyId')
        : null;
    const rule = await stores.alertRules.lock(orgId, ruleId);
    const service = await stores.services.get(orgId, serviceId, 'ruleId');
    const before = toRuleView(rule, service);
    if (name !== undefined) rule.name = name;
    if (newConfig !== undefined) {
      // What the console set beside the config stays: a config that contradicts it is refused.
      if (rule.settings !== null) unwrap(parseRuleSettings({ kind, config: newConfig }, rule.settings, 'settings'));
      rule.config = newConfig;
    }
    if (escalationPolicyId !== undefined) rule.escalationPolicyId = policy && policy.id;
    if (enabled !== undefined) rule.enabled = enabled;
    await stores.alertRules.save(rule, now);
    const after = toRuleView(rule, service);
    record({ target: rule.id, before, after });
    return { ...after, missingMetric: (await findMissingMetrics(context, service, [rule])).get(rule.id) ?? null };
  },
});

/** Does what `update_alert_rule` does, but refuses to overwrite a change made since the editor read it. */
export const replaceAlertRule = defineOperation({
  name: 'replace_alert_rule',
  summary: 'Replace an alert rule, unless somebody has changed it since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    ruleId: IdText,
    basedOn: Type.String({ maxLength: 40, description: 'the updatedAt of what was read' }),
    name: Name,
    config: RuleConfigInput,
    escalationPolicyId: nullable(IdText),
    enabled: Type.Boolean(),
    settings: Type.Optional(RuleSettingsInput),
  }),
  result: RuleView,
  conflict: 'somebody has changed the rule since it was read',
  example: {
    basedOn: RULE_EXAMPLE.updatedAt,
    name: RULE_EXAMPLE.name,
    config: { ...RULE_EXAMPLE.config, threshold: 1200 },
    escalationPolicyId: null,
    enabled: true,
    settings: { forMinutes: 5, recoveryThreshold: 1000, recoveryMinutes: 10, noData: 'keep' },
  },
  async handle({ ruleId, basedOn, name, config, escalationPolicyId, enabled, settings }, context) {
    const { stores, caller, now, record } = context;
    const { orgId } = caller;
    const { kind, serviceId } = await stores.alertRules.get(orgId, ruleId);
    const newConfig = unwrap(parseRuleConfig(kind, config, 'config'));
    const newSettings = settings && unwrap(parseRuleSettings({ kind, config: newConfig }, settings, 'settings'));
    // The policy before the rule: deleting a policy locks in this order too.
    const policy =
      escalationPolicyId === null ? null : await stores.policies.lock(orgId, escalationPolicyId, 'escalationPolicyId');
    const rule = await stores.alertRules.lock(orgId, ruleId);
    if (newSettings === undefined && rule.settings !== null) {
      unwrap(parseRuleSettings({ kind, config: newConfig }, rule.settings, 'settings'));
    }
    const service = await stores.services.get(orgId, serviceId, 'ruleId');
    const before = { ...toRuleView(rule, service), settings: shownSettings(rule) };
    if (before.updatedAt !== basedOn) {
      throw new AppError('conflict', 'somebody has changed this rule since you opened it');
    }
    Object.assign(rule, { name, config: newConfig, escalationPolicyId: policy && policy.id, enabled });
    if (newSettings !== undefined) rule.settings = newSettings;
    await stores.alertRules.save(rule, now);
    const after = toRuleView(rule, service);
    record({ target: rule.id, before, after: { ...after, settings: shownSettings(rule) } });
    return { ...after, missingMetric: (await findMissingMetrics(context, service, [rule])).get(rule.id) ?? null };
  },
});
