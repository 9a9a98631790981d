import type { Capability } from '#core/capabilities/capability.ts';
import type { RuleKind } from '#core/incidents/incident.ts';

/** `capability_disabled`: the service lacks `oncall` or the capability that feeds the rule (decisions §5). */
export const RULE_STATUSES = ['active', 'disabled', 'capability_disabled'] as const;

export type RuleStatus = (typeof RULE_STATUSES)[number];

/** The capability whose data each kind of rule looks at. */
const FED_BY: Record<RuleKind, Capability> = { metric_threshold: 'metrics', exception: 'exceptions' };

/** Only an active rule is evaluated. One that was switched off is `disabled`, whatever its service has. */
export function ruleStatusOf(
  rule: { readonly kind: RuleKind; readonly enabled: boolean },
  capabilities: readonly Capability[],
): RuleStatus {
  if (!rule.enabled) return 'disabled';
  const isFed = capabilities.includes('oncall') && capabilities.includes(FED_BY[rule.kind]);
  return isFed ? 'active' : 'capability_disabled';
}
