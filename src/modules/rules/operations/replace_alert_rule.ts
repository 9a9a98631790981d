import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, Name, nullable, STRICT } from '#actions/fields.ts';
import {
  RULE_EXAMPLE,
  RuleConfigInput,
  RuleSettingsInput,
  RuleView,
  shownSettings,
  toRuleView,
} from '#modules/rules/view.ts';
import { findMissingMetrics } from '#modules/rules/missing_metric.ts';
import { parseRuleConfig } from '#modules/rules/decide/rule_config.ts';
import { parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { AppError } from '#kernel/errors.ts';

/** Does what `update_alert_rule` does, but refuses to overwrite a change made since the editor read it. */
export const replaceAlertRule = defineAction({
  name: 'replace_alert_rule',
  consoleOnly: true,
  summary: 'Replace an alert rule, unless somebody has changed it since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      ruleId: IdText,
      basedOn: Type.String({ maxLength: 40, description: 'the updatedAt of what was read' }),
      name: Name,
      config: RuleConfigInput,
      escalationPolicyId: nullable(IdText),
      enabled: Type.Boolean(),
      settings: Type.Optional(RuleSettingsInput),
    },
    STRICT,
  ),
  result: RuleView,
  conflict: 'somebody has changed the rule since it was read',
  example: {
    ruleId: EXAMPLE_IDS.ruleId,
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
