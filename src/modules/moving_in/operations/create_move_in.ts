import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { TOOL_NAMES } from '#modules/moving_in/decide/tool_names.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';

export const createMoveIn = defineAction({
  name: 'create_move_in',
  consoleOnly: true,
  summary: 'Begin to move in from another tool. Nothing is read before files are added or a key is given.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    {
      tool: Type.Enum([...TOOL_NAMES]),
      proofFrom: Type.Optional(
        Type.String({
          maxLength: 40,
          description: 'RFC 3339; the days around the next changes of clocks when left out',
        }),
      ),
    },
    STRICT,
  ),
  result: Type.Object({ moveInId: IdText }),
  example: { tool: 'pagerduty', proofFrom: '2027-03-01T00:00:00Z' },
  async handle({ tool, proofFrom }, { caller, stores, now, record }) {
    const from = proofFrom === undefined ? null : unwrap(parseInstant(proofFrom, 'UTC', 'proofFrom'));
    const createdBy = caller.actor.kind === 'user' ? caller.actor.userId : null;
    const moveInId = await stores.moveIns.insert({ orgId: caller.orgId, tool, proofFrom: from, createdBy }, now);
    record({ target: moveInId, before: null, after: { tool } });
    return { moveInId };
  },
});
