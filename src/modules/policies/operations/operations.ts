import type { AnyConsoleOperation } from '#actions/action_context.ts';
import { addEscalationPolicy } from './create_escalation_policy.ts';
import { getEscalationPolicy, searchEscalationPolicies } from '#modules/policies/operations/policies.ts';
import { replaceEscalationPolicy } from '#modules/policies/operations/update_escalation_policy.ts';
import { previewEscalation, simulateEscalation } from '#modules/policies/operations/simulate_escalation.ts';

export const POLICY_OPERATIONS = [
  searchEscalationPolicies,
  getEscalationPolicy,
  previewEscalation,
  addEscalationPolicy,
  replaceEscalationPolicy,
  simulateEscalation,
] as const satisfies readonly AnyConsoleOperation[];
