import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { readSimulation, SimulationView } from '#modules/policies/operations/simulation_view.ts';
import { StepInput, withDefaults } from '#modules/policies/operations/steps.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/limits.ts';

/** Previews a draft in the editor with the warnings that its policy would have. People who have left are included. */
export const previewEscalation = defineAction({
  name: 'preview_escalation',
  consoleOnly: true,
  summary: 'Show whom steps that are not saved yet would page now.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ teamId: IdText, steps: Type.Array(StepInput, { maxItems: POLICY_STEPS_MAX }) }, CLOSED),
  result: Type.Object({ steps: SimulationView }),
  example: { teamId: EXAMPLE_IDS.teamId, steps: [{ afterMinutes: 0, channels: ['push', 'sms'], useSchedule: true }] },
  async handle({ teamId, steps }, context) {
    const team = await context.stores.teams.get(context.caller.orgId, teamId);
    const wanted = { teamId: team.id, steps: steps.map(withDefaults) };
    return { steps: await readSimulation(wanted, context.now, context) };
  },
});
