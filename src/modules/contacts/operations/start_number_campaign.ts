import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';

export const startNumberCampaign = defineAction({
  name: 'start_number_campaign',
  consoleOnly: true,
  summary:
    'Ask every member of a team by mail to confirm their number and to receive a test, again every three days, five times at most.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({}, STRICT),
  result: Type.Object({ since: Timestamp }),
  example: {},
  async handle(_input, { caller, stores, now, record }) {
    const { orgId, actor } = caller;
    const isNew = await stores.numberCampaigns.start(orgId, actor.kind === 'user' ? actor.userId : null, now);
    const campaign = await stores.numberCampaigns.find(orgId);
    if (isNew) record({ target: orgId, before: { numberCampaign: false }, after: { numberCampaign: true } });
    return { since: toTimestamp(campaign?.since ?? now) };
  },
});
