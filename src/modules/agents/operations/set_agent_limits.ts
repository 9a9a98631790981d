import { type Static, type TObject, Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { requireOwner } from '#modules/agents/operations/require_owner.ts';
import { AgentSettingsView, HoldMinutes, WritesAnHour } from '#modules/agents/operations/settings_view.ts';
import { renewHolds } from '#modules/agents/agent_lease.ts';
import { AppError } from '#kernel/errors.ts';

const LIMITS = { writesAnHour: WritesAnHour, holdMinutes: HoldMinutes };

type Limits = Static<TObject<typeof LIMITS>>;

export const setAgentLimits = defineAction({
  name: 'set_agent_limits',
  consoleOnly: true,
  summary: 'Cap the changes of each agent within an hour, and set for how long a lease may hold the first step.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: Type.Object(
    {
      ...LIMITS,
      basedOn: Type.Optional(
        Type.Object(LIMITS, { ...STRICT, description: 'what was read: anything else is a conflict' }),
      ),
    },
    STRICT,
  ),
  result: AgentSettingsView,
  refusals: ['forbidden'],
  conflict: 'somebody has changed the limits since they were read',
  example: { writesAnHour: 30, holdMinutes: 0, basedOn: { writesAnHour: null, holdMinutes: 0 } },
  async handle({ writesAnHour, holdMinutes, basedOn = null }, context) {
    const { caller, stores, record } = context;
    await requireOwner(context);
    const before = await stores.responders.lockSettings(caller.orgId);
    if (basedOn !== null && !areSame(basedOn, before)) {
      throw new AppError('conflict', 'somebody has changed the limits since you opened them');
    }
    const after = { ...before, writesAnHour, holdMinutes };
    await stores.responders.setSettings(caller.orgId, after);
    if (holdMinutes !== before.holdMinutes) await renewHolds(context, caller.orgId);
    record({
      target: caller.orgId,
      before: { writesAnHour: before.writesAnHour, holdMinutes: before.holdMinutes },
      after: { writesAnHour, holdMinutes },
    });
    return after;
  },
});

function areSame(a: Limits, b: Limits): boolean {
  return a.writesAnHour === b.writesAnHour && a.holdMinutes === b.holdMinutes;
}
