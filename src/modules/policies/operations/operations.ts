import type { AnyConsoleOperation } from '#actions/action_context.ts';
import { addEscalationPolicy } from '#modules/policies/operations/add_escalation_policy.ts';
import { getEscalationPolicy } from '#modules/policies/operations/get_escalation_policy.ts';
import { previewEscalation } from '#modules/policies/operations/preview_escalation.ts';
import { replaceEscalationPolicy } from '#modules/policies/operations/replace_escalation_policy.ts';
import { searchEscalationPolicies } from '#modules/policies/operations/search_escalation_policies.ts';
import { simulateEscalation } from '#modules/policies/operations/simulate_escalation.ts';

/** Operations of the console for escalation policies. */
export const POLICY_OPERATIONS = [
  searchEscalationPolicies,
  getEscalationPolicy,
  previewEscalation,
  addEscalationPolicy,
  replaceEscalationPolicy,
  simulateEscalation,
] as const satisfies readonly AnyConsoleOperation[];
