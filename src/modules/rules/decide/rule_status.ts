import type { Capability } from '#modules/capabilities/decide/capability.ts';
import { RULE_KINDS, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';

/** Statuses of a rule. `capability_disabled`: the service lacks `oncall` or the capability that feeds the rule. */
export const RULE_STATUSES = ['active', 'disabled', 'capability_disabled'] as const;

export type RuleStatus = (typeof RULE_STATUSES)[number];

/**
 * Returns the status of a rule; only an active one is evaluated. One that was switched off is `disabled`, whatever its
 * service has.
 */
export function ruleStatusOf(
  rule: { readonly kind: RuleKind; readonly enabled: boolean },
  capabilities: readonly Capability[],
): RuleStatus {
  if (!rule.enabled) return 'disabled';
  const isFed = capabilities.includes('oncall') && capabilities.includes(RULE_KINDS[rule.kind].fedBy);
  return isFed ? 'active' : 'capability_disabled';
}
