import { addAlertRule } from '#modules/rules/operations/create_alert_rule.ts';
import {
  createMaintenance,
  deleteMaintenance,
  listMaintenance,
  previewMaintenance,
  updateMaintenance,
} from '#modules/maintenance/operations/maintenance.ts';
import { createObjective, previewObjective } from '#modules/rules/operations/objectives.ts';
import { readRuleHistory } from '#modules/rules/operations/read_rule_history.ts';
import { replaceAlertRule } from '#modules/rules/operations/update_alert_rule.ts';
import { replayExceptionRule, replayRule } from '#modules/rules/operations/replay_rule.ts';
import { searchRules } from '#modules/rules/operations/search_rules.ts';
import { suggestRules } from '#modules/rules/operations/suggest_rules.ts';

/** Operations of the console for rules, besides the actions. */
export const RULE_OPERATIONS = [
  searchRules,
  suggestRules,
  readRuleHistory,
  replayRule,
  replayExceptionRule,
  replaceAlertRule,
  addAlertRule,
  previewObjective,
  createObjective,
  listMaintenance,
  previewMaintenance,
  createMaintenance,
  updateMaintenance,
  deleteMaintenance,
] as const;
