import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { requireOwner } from '#modules/agents/operations/require_owner.ts';
import { AgentSettingsView } from '#modules/agents/operations/settings_view.ts';
import { endAgentWork } from '#modules/agents/agent_lease.ts';

/** Stops all agents. Stopping must be quick, so admins may do it, too, and nobody is asked for a second factor. */
export const stopAgents = defineAction({
  name: 'stop_agents',
  consoleOnly: true,
  summary:
    'Stop every agent of the organization at once: their next requests are refused, their leases end, and what they proposed expires. Only owners can allow them again.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ stopped: Type.Boolean() }, STRICT),
  result: AgentSettingsView,
  refusals: ['forbidden'],
  example: { stopped: true },
  async handle({ stopped }, context) {
    const { caller, stores, record } = context;
    if (!stopped) await requireOwner(context);
    const before = await stores.responders.lockSettings(caller.orgId);
    const after = { ...before, areStopped: stopped };
    await stores.responders.setSettings(caller.orgId, after);
    const proposalsEnded = stopped ? await endAgentWork(context, caller.orgId, null) : 0;
    record({
      target: caller.orgId,
      before: { areStopped: before.areStopped },
      after: { areStopped: stopped, ...(proposalsEnded > 0 && { proposalsEnded }) },
    });
    return after;
  },
});
