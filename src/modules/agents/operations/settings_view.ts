import { Type } from 'typebox';

import { nullable } from '#actions/fields.ts';
import { WRITES_AN_HOUR_MAX } from '#modules/agents/decide/agent_settings.ts';
import { HOLD_MINUTES_MAX } from '#modules/agents/decide/hold.ts';

export const WritesAnHour = nullable(
  Type.Integer({
    minimum: 1,
    maximum: WRITES_AN_HOUR_MAX,
    description: 'changes of one agent within any hour; null: no cap',
  }),
);

export const HoldMinutes = Type.Integer({
  minimum: 0,
  maximum: HOLD_MINUTES_MAX,
  description: 'for how long a lease may hold the first step of an escalation',
});

export const AgentSettingsView = Type.Object({
  areStopped: Type.Boolean(),
  writesAnHour: WritesAnHour,
  holdMinutes: HoldMinutes,
});
