import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { PolicyInUseView, readPoliciesInUse } from '#modules/policies/operations/policy_uses.ts';
import { readSimulation, SimulationView } from '#modules/policies/operations/simulation_view.ts';
import { notFound } from '#kernel/errors.ts';

/** Limit on the rules that one page shows. */
const RULES_SHOWN_MAX = 200;

export const getEscalationPolicy = defineAction({
  name: 'get_escalation_policy',
  consoleOnly: true,
  summary:
    'Show an escalation policy: whom its steps would page now, the rules that use it, and what is wrong with it.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ policyId: IdText }, STRICT),
  result: Type.Object({ ...PolicyInUseView.properties, now: SimulationView }),
  example: { policyId: EXAMPLE_IDS.policyId },
  async handle({ policyId }, context) {
    const { stores, caller, now } = context;
    const row = await stores.policies.get(caller.orgId, policyId);
    const [policy] = await readPoliciesInUse([row], RULES_SHOWN_MAX, context);
    if (policy === undefined) throw notFound('policyId', 'escalation policy');
    return { ...policy, now: await readSimulation(row, now, context) };
  },
});
