import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { readSimulation, SimulationView } from '#modules/policies/operations/simulation_view.ts';
import { DetailedStepInput, withDefaults } from '#modules/policies/operations/steps.ts';
import { readDetails } from '#modules/policies/decide/stored_steps.ts';
import { asId } from '#kernel/ids.ts';
import { POLICY_DETAILS, POLICY_DETAILS_EXAMPLE, toPolicyDetails } from '#modules/policies/details_fields.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/limits.ts';

/** Previews a draft in the editor with the warnings that its policy would have. People who have left are included. */
export const previewEscalation = defineAction({
  name: 'preview_escalation',
  consoleOnly: true,
  summary: 'Show whom steps that are not saved yet would page now.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      teamId: IdText,
      policyId: Type.Optional(Type.String({ description: 'the policy that is edited; absent for a new one' })),
      steps: Type.Array(DetailedStepInput, { maxItems: POLICY_STEPS_MAX }),
      ...POLICY_DETAILS,
    },
    STRICT,
  ),
  result: Type.Object({ steps: SimulationView }),
  example: {
    teamId: EXAMPLE_IDS.teamId,
    policyId: EXAMPLE_IDS.policyId,
    steps: [{ afterMinutes: 0, channels: ['push', 'sms'], useSchedule: true }],
    ...POLICY_DETAILS_EXAMPLE,
  },
  async handle({ teamId, policyId, steps, repeat, hours }, context) {
    const team = await context.stores.teams.get(context.caller.orgId, teamId);
    const stored = policyId === undefined ? null : await context.stores.policies.get(context.caller.orgId, policyId);
    const wanted = {
      id: stored?.id ?? asId('policy', ''),
      name: stored?.name ?? '',
      teamId: team.id,
      steps: steps.map(withDefaults),
      details: readDetails(toPolicyDetails({ repeat, hours })),
      lastTurn: stored?.lastTurn ?? null,
    };
    return { steps: await readSimulation(wanted, context.now, context) };
  },
});
