import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf, searchInput } from '#actions/list_page.ts';
import { visibleOwner } from '#modules/organizations/visible_owner.ts';
import { AgentSettingsView } from '#modules/agents/operations/settings_view.ts';
import { invalidInput } from '#kernel/errors.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import type { AgentPlace } from '#modules/agents/store/responder_store.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

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
  summary:
    'What the organization allows its agents, and its connected apps and API keys page by page: those that may ' +
    'respond to incidents first, then by name.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name of the agent or person'),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
  result: Type.Object({
    settings: AgentSettingsView,
    agents: Type.Array(AgentView),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  example: {
    text: 'night',
    cursor: cursorOf({ isResponder: true, agentId: EXAMPLE_IDS.connectionId, name: 'Night app' }),
    limit: 20,
  },
  async handle({ text, cursor, limit = LIMIT }, { caller, stores }) {
    const wanted = { ofUser: visibleOwner(caller), text: text?.trim() };
    const after = cursor === undefined ? null : parseCursor(cursor);
    const agents = await stores.responders.listAgents(caller.orgId, wanted, { after, limit: limit + 1 });
    const { shown, nextCursor } = pageOf(agents, limit, cursorOf);
    return {
      settings: { ...(await stores.responders.getSettings(caller.orgId)) },
      agents: shown.map(({ lastUsedAt, ...agent }) => ({ ...agent, lastUsedAt: toTimestampOrNull(lastUsedAt) })),
      total: await stores.responders.countAgents(caller.orgId, wanted),
      nextCursor,
    };
  },
});

function cursorOf({ isResponder, agentId, name }: AgentPlace): string {
  return Buffer.from(`${isResponder ? 1 : 0} ${agentId} ${name}`).toString('base64url');
}

function parseCursor(cursor: string): AgentPlace {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, first, agentId, name] = /^([01]) ((?:connection|apikey)_\w{26}) (.*)$/s.exec(text) ?? [];
  if (agentId === undefined || name === undefined || name.includes('\0')) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
  }
  return { isResponder: first === '1', agentId, name };
}
