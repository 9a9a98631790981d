import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { judgePager } from '#modules/notifications/decide/pager_health.ts';

export const getLateness = defineAction({
  name: 'get_lateness',
  consoleOnly: true,
  summary: 'Say what makes this server evaluate rules or page people late, as `/readyz` says it.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    late: Type.Array(Type.String(), {
      description: 'in words; empty while rules are evaluated and pages leave in time',
    }),
  }),
  example: {},
  async handle(_input, { stores, now }) {
    const { unreadyBecause, rulesBehindBecause } = judgePager(await stores.pagerSigns.find(now), now);
    return { late: [...unreadyBecause, ...rulesBehindBecause] };
  },
});
