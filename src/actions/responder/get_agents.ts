import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { visibleOwner } from '#actions/people/visible_owner.ts';
import { AgentSettingsView } from '#actions/responder/settings_view.ts';
import { toTimestampOrNull } from '#kernel/time.ts';

const AGENTS_MAX = 1_000;

const AgentView = Type.Object({
  agentId: IdText,
  kind: Type.Enum(['app', 'api_key']),
  name: Type.String(),
  userName: nullable(Type.String({ description: 'whom it acts as; null for a key of the organization' })),
  isResponder: Type.Boolean(),
  lastUsedAt: nullable(Timestamp),
});

export const getAgents = defineAction({
  name: 'get_agents',
  consoleOnly: true,
  summary: 'What the organization allows its agents, and which connected apps and API keys may respond to incidents.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({ settings: AgentSettingsView, agents: Type.Array(AgentView) }),
  example: {},
  async handle(_input, { caller, stores }) {
    const owner = visibleOwner(caller);
    const [settings, responders, connections, keys] = await Promise.all([
      stores.responders.getSettings(caller.orgId),
      stores.responders.list(caller.orgId),
      stores.connections.list(caller.orgId, owner),
      stores.apiKeys.list(caller.orgId, owner, AGENTS_MAX),
    ]);
    const enabled = new Set(responders.map(({ agentId }) => agentId));
    const apps = connections.map(({ connectionId, clientName, userName, lastUsedAt }) => ({
      agentId: connectionId as string,
      kind: 'app' as const,
      name: clientName,
      userName,
      isResponder: enabled.has(connectionId),
      lastUsedAt: toTimestampOrNull(lastUsedAt),
    }));
    const ofKeys = keys.map(({ apiKeyId, name, userName, lastUsedAt }) => ({
      agentId: apiKeyId as string,
      kind: 'api_key' as const,
      name,
      userName,
      isResponder: enabled.has(apiKeyId),
      lastUsedAt: toTimestampOrNull(lastUsedAt),
    }));
    return { settings: { ...settings }, agents: [...apps, ...ofKeys] };
  },
});
