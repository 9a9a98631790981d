import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';

/** Progress of the organization from nothing to its first page. */
export const SetupProgressView = Type.Object({
  hasService: Type.Boolean(),
  hasData: Type.Boolean({ description: 'some service has sent metrics or exceptions that are still kept' }),
  hasTeam: Type.Boolean({ description: 'there is a team, complete or not' }),
  hasTeamWithPolicy: Type.Boolean({ description: 'there is a team with a member and an escalation policy' }),
  canBeReached: Type.Boolean({ description: 'the caller has a phone number or a subscribed browser' }),
  hasPagingRule: Type.Boolean({
    description: 'there is an enabled alert rule, or a route of alerts of other tools, with an escalation policy',
  }),
  hasSentMessage: Type.Boolean({
    description: 'a message was sent to somebody, a test included, and not to the phone simulator',
  }),
  firstServiceId: nullable(IdText),
  paging: nullable(
    Type.Object({ serviceId: IdText, policyId: IdText }, { description: 'of a rule that pages somebody' }),
  ),
});

export async function readSetupProgress({
  caller,
  stores,
  metrics,
  installation,
}: Pick<ActionContext, 'caller' | 'stores' | 'metrics' | 'installation'>): Promise<Static<typeof SetupProgressView>> {
  const userId = callerUser(caller);
  const { simulatedChannels, simulatedIds } = installation;
  const { hasExceptions, ...parts } = await stores.setup.find(caller.orgId, simulatedChannels, simulatedIds);
  const phones = await stores.teams.listPhonesOf(caller.orgId, userId);
  const serviceIds = await stores.services.listIds(caller.orgId, hasExceptions ? 1 : null);
  const browsers = phones.length > 0 ? [] : await stores.pushSubscriptions.listOf(userId);
  return {
    ...parts,
    hasData: hasExceptions || (await metrics.hasAny(serviceIds)),
    canBeReached: phones.length > 0 || browsers.length > 0,
    firstServiceId: serviceIds[0] ?? null,
    paging: await stores.setup.findPagingPair(caller.orgId),
  };
}
