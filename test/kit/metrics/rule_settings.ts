import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseRuleSettings, type StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import { storesOf } from '#modules/stores.ts';
import type { World } from '#test/kit/world.ts';

/** Sets of a rule what the console sets beside its config; leaves what `replace_alert_rule` leaves of it. */
export async function setOfRule(w: World, ruleId: string, settings: StoredSettings): Promise<void> {
  const rule = await storesOf(w.context.db.session()).alertRules.get(w.orgId, ruleId);
  const stored = unwrap(parseRuleSettings(rule, settings, 'settings'));
  await w.context.db.sql.run('update alert_rules set settings = $2, updated_at = $3 where id = $1', [
    ruleId,
    JSON.stringify(stored),
    w.clock.now().toString(),
  ]);
}
