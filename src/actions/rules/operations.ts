import { addAlertRule } from '#actions/rules/add_alert_rule.ts';
import { createMaintenance } from '#actions/rules/create_maintenance.ts';
import { deleteMaintenance } from '#actions/rules/delete_maintenance.ts';
import { listMaintenance } from '#actions/rules/list_maintenance.ts';
import { previewMaintenance } from '#actions/rules/preview_maintenance.ts';
import { readRuleHistory } from '#actions/rules/read_rule_history.ts';
import { replaceAlertRule } from '#actions/rules/replace_alert_rule.ts';
import { replayRule } from '#actions/rules/replay_rule.ts';
import { searchRules } from '#actions/rules/search_rules.ts';
import { suggestRules } from '#actions/rules/suggest_rules.ts';
import { updateMaintenance } from '#actions/rules/update_maintenance.ts';

/** Operations of the console for rules, besides the actions. */
export const RULE_OPERATIONS = [
  searchRules,
  suggestRules,
  readRuleHistory,
  replayRule,
  replaceAlertRule,
  addAlertRule,
  listMaintenance,
  previewMaintenance,
  createMaintenance,
  updateMaintenance,
  deleteMaintenance,
] as const;
