import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { IdText, nullable, STRICT, Timestamp } from '#actions/fields.ts';
import { ASK_EVERY_DAYS, ASKS_MAX, NUMBER_STATES, numberStateOf } from '#modules/contacts/decide/number_campaign.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

const SHOWN = 500;

export const getNumberCampaign = defineAction({
  name: 'get_number_campaign',
  consoleOnly: true,
  summary:
    'Show who of the members of teams has not confirmed their number or received a test, and when they were asked.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    since: nullable(Timestamp),
    hasMail: Type.Boolean({ description: 'whether mail leaves this server; people are asked by mail' }),
    people: Type.Integer({ description: 'members of teams' }),
    done: Type.Integer({ description: 'members of teams with a confirmed number and a message that arrived' }),
    open: Type.Array(
      Type.Object({
        userId: IdText,
        name: Type.String(),
        state: Type.Enum([...NUMBER_STATES]),
        times: Type.Integer({ description: 'times they were asked' }),
        askedAt: nullable(Timestamp),
        nextAt: nullable(Timestamp),
      }),
      { description: `who still has something to do, by name; at most ${SHOWN}` },
    ),
  }),
  example: {},
  async handle(_input, { caller, stores, now, installation }) {
    const { numberCampaigns } = stores;
    const campaign = await numberCampaigns.find(caller.orgId);
    const { people, done } = await numberCampaigns.count(caller.orgId, now);
    const open = await numberCampaigns.listOpen(caller.orgId, now, SHOWN);
    return {
      since: toTimestampOrNull(campaign?.since ?? null),
      hasMail: installation.hasMail,
      people,
      done,
      open: open.map(({ userId, name, times, askedAt, ...numbers }) => ({
        userId,
        name,
        state: numberStateOf(numbers),
        times: times ?? 0,
        askedAt: toTimestampOrNull(askedAt),
        nextAt:
          campaign === null || askedAt === null || (times ?? 0) >= ASKS_MAX
            ? null
            : toTimestamp(askedAt.add({ hours: 24 * ASK_EVERY_DAYS })),
      })),
    };
  },
});
