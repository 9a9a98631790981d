import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { createAlertRule, insertRule } from '#modules/rules/operations/create_alert_rule.ts';
import { RuleSettingsInput, RuleView } from '#modules/rules/view.ts';

/** Does what `create_alert_rule` does, with the rule's settings besides its config. */
export const addAlertRule = defineAction({
  name: 'add_alert_rule',
  consoleOnly: true,
  summary: 'Create an alert rule with its settings.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ ...createAlertRule.input.properties, settings: RuleSettingsInput }, STRICT),
  result: RuleView,
  ...(createAlertRule.meaning && { meaning: createAlertRule.meaning }),
  example: { ...createAlertRule.example, settings: { forMinutes: 5, noData: 'page', noDataMinutes: 10 } },
  handle: ({ settings, ...rule }, context) => insertRule(rule, settings, context),
});
