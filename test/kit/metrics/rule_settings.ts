import { replaceAlertRule } from '#modules/rules/operations/update_alert_rule.ts';
import type { StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import { toTimestamp } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import type { World } from '#test/kit/world.ts';

/** Sets of a rule what the console sets beside its config, as an editor does. */
export async function setOfRule(w: World, ruleId: string, settings: StoredSettings): Promise<void> {
  const rule = await storesOf(w.context.db.session()).alertRules.get(w.orgId, ruleId);
  const { name, config, escalationPolicyId, enabled, updatedAt } = rule;
  const as = memberCaller(w.orgId, w.owner.userId, 'editor');
  const input = { ruleId, basedOn: toTimestamp(updatedAt), name, config, escalationPolicyId, enabled, settings };
  await runOperation(w, replaceAlertRule, as, input);
}
