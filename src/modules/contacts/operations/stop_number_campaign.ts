import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const stopNumberCampaign = defineAction({
  name: 'stop_number_campaign',
  consoleOnly: true,
  summary: 'Stop asking people to confirm their numbers. What they have confirmed stays.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({}, STRICT),
  result: Type.Object({}),
  example: {},
  async handle(_input, { caller, stores, record }) {
    const { orgId } = caller;
    if ((await stores.numberCampaigns.find(orgId)) === null) return {};
    await stores.numberCampaigns.stop(orgId);
    record({ target: orgId, before: { numberCampaign: true }, after: { numberCampaign: false } });
    return {};
  },
});
