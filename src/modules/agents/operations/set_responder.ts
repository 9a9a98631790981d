import { Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { requireOwner } from '#modules/agents/operations/require_owner.ts';
import { changesOfKey, keyMayOnlyLook } from '#modules/agents/operations/agent_key.ts';
import { endAgentWork } from '#modules/agents/agent_lease.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { ResponderRow } from '#modules/agents/store/responder_store.ts';

export const setResponder = defineAction({
  name: 'set_responder',
  consoleOnly: true,
  summary:
    'Allow a connected app or an API key to respond to incidents at the endpoint for responders, or end that: its leases then end, and what it proposed expires. A key must have no permission but those to look.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: Type.Object({ agentId: IdText, enabled: Type.Boolean() }, STRICT),
  result: Type.Object({ agentId: IdText, isResponder: Type.Boolean() }),
  refusals: ['forbidden', 'not_found'],
  conflict: 'the key may change things',
  example: { agentId: EXAMPLE_IDS.connectionId, enabled: true },
  async handle({ agentId, enabled }, context) {
    const { caller, stores, now, record } = context;
    const userId = await requireOwner(context);
    await stores.responders.lockSettings(caller.orgId);
    const ids = await findAgent(agentId, context, enabled);
    const before = await stores.responders.isResponder(caller.orgId, agentId);
    if (enabled) {
      const responder: ResponderRow = { agentId, orgId: caller.orgId, ...ids, enabledBy: userId, enabledAt: now };
      await stores.responders.enable(responder);
    } else {
      await stores.responders.disable(caller.orgId, agentId);
      await endAgentWork(context, caller.orgId, agentId);
    }
    record({ target: agentId, before: { isResponder: before }, after: { isResponder: enabled } });
    return { agentId, isResponder: enabled };
  },
});

async function findAgent(
  agentId: string,
  { caller, stores }: ActionContext,
  enabled: boolean,
): Promise<{ connectionId: Id<'connection'> | null; apiKeyId: Id<'apikey'> | null }> {
  const connection = await stores.connections.find(agentId);
  if (connection?.orgId === caller.orgId) return { connectionId: connection.connectionId, apiKeyId: null };
  const key = await stores.apiKeys.find(caller.orgId, agentId);
  if (key === null) throw notFound('agentId', 'connection');
  const role = key.userId === null ? null : await stores.people.findRole(caller.orgId, key.userId);
  if (enabled && changesOfKey(key.permissions, role).length > 0) {
    throw new AppError('conflict', keyMayOnlyLook(changesOfKey(key.permissions, role)));
  }
  return { connectionId: null, apiKeyId: asId('apikey', agentId) };
}
