import { Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { requireOwner } from '#actions/responder/require_owner.ts';
import { endLeases } from '#incidents/agent_lease.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { ResponderRow } from '#storage/postgres/responder_store.ts';

export const setResponder = defineAction({
  name: 'set_responder',
  consoleOnly: true,
  summary:
    'Allow a connected app or an API key to respond to incidents at the endpoint for responders, or end that: its leases then end, and nothing that it proposed is carried out.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: Type.Object({ agentId: IdText, enabled: Type.Boolean() }, CLOSED),
  result: Type.Object({ agentId: IdText, isResponder: Type.Boolean() }),
  refusals: ['forbidden', 'not_found'],
  example: { agentId: EXAMPLE_IDS.connectionId, enabled: true },
  async handle({ agentId, enabled }, context) {
    const { caller, stores, now, record } = context;
    const userId = await requireOwner(context);
    await stores.responders.lockSettings(caller.orgId);
    const ids = await findAgent(agentId, context);
    const before = await stores.responders.isResponder(caller.orgId, agentId);
    if (enabled) {
      const responder: ResponderRow = { agentId, orgId: caller.orgId, ...ids, enabledBy: userId, enabledAt: now };
      await stores.responders.enable(responder);
    } else {
      await stores.responders.disable(caller.orgId, agentId);
      await endLeases(context, caller.orgId, agentId);
    }
    record({ target: agentId, before: { isResponder: before }, after: { isResponder: enabled } });
    return { agentId, isResponder: enabled };
  },
});

async function findAgent(
  agentId: string,
  { caller, stores }: ActionContext,
): Promise<{ connectionId: Id<'connection'> | null; apiKeyId: Id<'apikey'> | null }> {
  const connection = await stores.connections.find(agentId);
  if (connection?.orgId === caller.orgId) return { connectionId: connection.connectionId, apiKeyId: null };
  if ((await stores.apiKeys.find(caller.orgId, agentId)) === null) throw notFound('agentId', 'connection');
  return { connectionId: null, apiKeyId: asId('apikey', agentId) };
}
