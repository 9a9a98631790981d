import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED, IdText, nullable } from '#actions/fields.ts';
import { callerUser } from '#actions/me/caller_user.ts';

/** What the checklist of the home page shows. */
export const getSetupProgress = defineAction({
  name: 'get_setup_progress',
  consoleOnly: true,
  summary: 'Show which parts of paging are set up, from the first service to the first sent message.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({
    hasService: Type.Boolean(),
    hasData: Type.Boolean({ description: 'some service has sent metrics or exceptions that are still kept' }),
    hasTeamWithPolicy: Type.Boolean({ description: 'there is a team with a member and an escalation policy' }),
    canBeReached: Type.Boolean({ description: 'the caller has a phone number or a subscribed browser' }),
    hasPagingRule: Type.Boolean({ description: 'there is an enabled alert rule with an escalation policy' }),
    hasSentMessage: Type.Boolean({ description: 'a message was sent to somebody, a test included' }),
    firstServiceId: nullable(IdText),
  }),
  example: {},
  async handle(_input, { caller, stores, metrics }) {
    const userId = callerUser(caller);
    const services = await stores.services.list(caller.orgId, LIST_LIMIT);
    const { hasExceptions, ...parts } = await stores.setup.find(caller.orgId);
    const phones = await stores.teams.listPhonesOf(caller.orgId, userId);
    const browsers = phones.length > 0 ? [] : await stores.pushSubscriptions.listOf(userId);
    return {
      ...parts,
      hasData: hasExceptions || (await metrics.hasAny(services.map(({ id }) => id))),
      canBeReached: phones.length > 0 || browsers.length > 0,
      firstServiceId: services[0]?.id ?? null,
    };
  },
});
