import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { ASK_EVERY_DAYS, ASKS_MAX, NUMBER_STATES, numberStateOf } from '#modules/contacts/decide/number_campaign.ts';

const SHOWN = 500;

export const getNumberCampaign = defineOperation({
  name: 'get_number_campaign',
  summary:
    'Show who of the members of teams has not confirmed their number or received a test, and when they were asked.',
  permission: 'organization:manage',
  effect: 'read',
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
  async handle(_input, { caller, stores, now, installation }) {
    const { numberCampaigns } = stores;
    const { simulatedIds } = installation;
    const campaign = await numberCampaigns.find(caller.orgId);
    const { people, done } = await numberCampaigns.count(caller.orgId, simulatedIds, now);
    const open = await numberCampaigns.listOpen(caller.orgId, simulatedIds, now, SHOWN);
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

export const startNumberCampaign = defineOperation({
  name: 'start_number_campaign',
  summary:
    'Ask every member of a team by mail to confirm their number and to receive a test, again every three days, five times at most.',
  permission: 'organization:manage',
  effect: 'write',
  result: Type.Object({ since: Timestamp }),
  async handle(_input, { caller, stores, now, record }) {
    const { orgId, actor } = caller;
    const isNew = await stores.numberCampaigns.start(orgId, actor.kind === 'user' ? actor.userId : null, now);
    const campaign = await stores.numberCampaigns.find(orgId);
    if (isNew) record({ target: orgId, before: { numberCampaign: false }, after: { numberCampaign: true } });
    return { since: toTimestamp(campaign?.since ?? now) };
  },
});

export const stopNumberCampaign = defineOperation({
  name: 'stop_number_campaign',
  summary: 'Stop asking people to confirm their numbers. What they have confirmed stays.',
  permission: 'organization:manage',
  effect: 'write',
  result: Type.Object({}),
  async handle(_input, { caller, stores, record }) {
    const { orgId } = caller;
    if ((await stores.numberCampaigns.find(orgId)) === null) return {};
    await stores.numberCampaigns.stop(orgId);
    record({ target: orgId, before: { numberCampaign: true }, after: { numberCampaign: false } });
    return {};
  },
});
