import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { unreadableRule } from '#modules/rules/decide/rule_settings.ts';
import { openIncidents } from '#modules/incidents/open_incidents.ts';
import type { Id } from '#kernel/ids.ts';
import type { ActiveRule } from '#modules/rules/store/active_rule_store.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import type { UnitOfWork } from '#modules/stores.ts';

type Stored = Pick<ActiveRule, 'config' | 'settings'>;

/** Rules that can be evaluated, and those that cannot. */
export function divideRules<Rule extends Stored>(
  kind: RuleKind,
  rules: readonly Rule[],
): { readonly readable: Rule[]; readonly unreadable: Rule[] } {
  const { readable = [], unreadable = [] } = Object.groupBy(rules, ({ config, settings }) =>
    unreadableRule({ kind, config, settings }) === null ? 'readable' : 'unreadable',
  );
  return { readable, unreadable };
}

/**
 * Switches off a rule that cannot be read, so that it holds up no other, and opens an incident by its policy that says why.
 * Decides again under the lock of the rule; does nothing for one that can be read.
 */
export async function setAsideRule(
  unit: UnitOfWork,
  { ruleId, kind }: { readonly ruleId: Id<'rule'>; readonly kind: RuleKind },
  limit: IncidentLimit,
): Promise<void> {
  const { activeRules, alertRules } = unit.stores;
  await activeRules.lockDecision(ruleId);
  const [rule] = await activeRules.list(kind, { ruleId });
  const fault = rule === undefined ? null : unreadableRule({ kind, config: rule.config, settings: rule.settings });
  if (rule === undefined || fault === null) return;
  const cause = {
    kind,
    exceptionGroupId: null,
    title: `The rule "${rule.name}" cannot be read and was set aside`,
    severity: 'error',
    details: { ruleId, fault },
    sentence: `the rule cannot be read (${fault}) and is switched off: correct it, then enable it again`,
  };
  await openIncidents(unit, [{ rule: { ...rule, settings: null }, cause }], limit);
  await alertRules.disable(ruleId, unit.now);
  await recordSystemChange(unit, {
    orgId: rule.orgId,
    action: 'set_aside_rule',
    via: 'system',
    target: ruleId,
    before: { enabled: true },
    after: { enabled: false, fault },
  });
}
