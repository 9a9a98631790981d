import { type Static, type TObject, Type } from 'typebox';

import { type ActionContext, type AnyConsoleOperation, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf, searchInput } from '#actions/list_page.ts';
import { AppError, invalidInput, notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { endAgentWork, renewHolds } from '#modules/agents/agent_lease.ts';
import { WRITES_AN_HOUR_MAX } from '#modules/agents/decide/agent_settings.ts';
import { HOLD_MINUTES_MAX } from '#modules/agents/decide/lease.ts';
import { changesOfKey, keyMayOnlyLook } from '#modules/agents/operations/admit_agent_write.ts';
import { answerProposal } from '#modules/agents/operations/answer_proposal.ts';
import { LeaseView, ProposalView, toLeaseView, toProposalViews } from '#modules/agents/operations/view.ts';
import type { AgentPlace, ResponderRow } from '#modules/agents/store/responder_store.ts';
import { visibleOwner } from '#modules/organizations/roles.ts';

const WritesAnHour = nullable(
  Type.Integer({
    minimum: 1,
    maximum: WRITES_AN_HOUR_MAX,
    description: 'changes of one agent within any hour; null: no cap',
  }),
);

const HoldMinutes = Type.Integer({
  minimum: 0,
  maximum: HOLD_MINUTES_MAX,
  description: 'for how long a lease may hold the first step of an escalation',
});

const AgentSettingsView = Type.Object({
  areStopped: Type.Boolean(),
  writesAnHour: WritesAnHour,
  holdMinutes: HoldMinutes,
});

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

export const getAgents = defineOperation({
  name: 'get_agents',
  summary:
    'What the organization allows its agents, and its connected apps and API keys page by page: those that may ' +
    'respond to incidents first, then by name.',
  permission: 'organization:view',
  effect: 'read',
  input: StrictObject({ text: searchInput('part of the name of the agent or person'), ...pageInput(LIMIT, LIMIT_MAX) }),
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

const LIMITS = { writesAnHour: WritesAnHour, holdMinutes: HoldMinutes };

type Limits = Static<TObject<typeof LIMITS>>;

export const setAgentLimits = defineOperation({
  name: 'set_agent_limits',
  summary: 'Cap the changes of each agent within an hour, and set for how long a lease may hold the first step.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: StrictObject({
    ...LIMITS,
    basedOn: Type.Optional(StrictObject(LIMITS, { description: 'what was read: anything else is a conflict' })),
  }),
  result: AgentSettingsView,
  refusals: ['forbidden'],
  conflict: 'somebody has changed the limits since they were read',
  example: { writesAnHour: 30, holdMinutes: 0, basedOn: { writesAnHour: null, holdMinutes: 0 } },
  async handle({ writesAnHour, holdMinutes, basedOn = null }, context) {
    const { caller, stores, record } = context;
    await requireOwner(context);
    const before = await stores.responders.lockSettings(caller.orgId);
    if (basedOn !== null && !areSame(basedOn, before)) {
      throw new AppError('conflict', 'somebody has changed the limits since you opened them');
    }
    const after = { ...before, writesAnHour, holdMinutes };
    await stores.responders.setSettings(caller.orgId, after);
    if (holdMinutes !== before.holdMinutes) await renewHolds(context, caller.orgId);
    record({
      target: caller.orgId,
      before: { writesAnHour: before.writesAnHour, holdMinutes: before.holdMinutes },
      after: { writesAnHour, holdMinutes },
    });
    return after;
  },
});

function areSame(a: Limits, b: Limits): boolean {
  return a.writesAnHour === b.writesAnHour && a.holdMinutes === b.holdMinutes;
}

export const setResponder = defineOperation({
  name: 'set_responder',
  summary:
    'Allow a connected app or an API key to respond to incidents at the endpoint for responders, or end that: its leases then end, and what it proposed expires. A key must have no permission but those to look.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: StrictObject({ agentId: IdText, enabled: Type.Boolean() }),
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

/** Stops all agents. Stopping must be quick, so admins may do it, too, and nobody is asked for a second factor. */
export const stopAgents = defineOperation({
  name: 'stop_agents',
  summary:
    'Stop every agent of the organization at once: their next requests are refused, their leases end, and what they proposed expires. Only owners can allow them again.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ stopped: Type.Boolean() }),
  result: AgentSettingsView,
  refusals: ['forbidden'],
  example: { stopped: true },
  async handle({ stopped }, context) {
    const { caller, stores, record } = context;
    if (!stopped) await requireOwner(context);
    const before = await stores.responders.lockSettings(caller.orgId);
    const after = { ...before, areStopped: stopped };
    await stores.responders.setSettings(caller.orgId, after);
    const proposalsEnded = stopped ? await endAgentWork(context, caller.orgId, null) : 0;
    record({
      target: caller.orgId,
      before: { areStopped: before.areStopped },
      after: { areStopped: stopped, ...(proposalsEnded > 0 && { proposalsEnded }) },
    });
    return after;
  },
});

const SHOWN = 20;

export const getAgentWork = defineOperation({
  name: 'get_agent_work',
  summary: 'What agents do about an incident: the last lease on it, and what they propose and ask, newest first.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ incidentId: IdText }),
  result: Type.Object({
    lease: nullable(LeaseView),
    proposals: Type.Array(ProposalView, { description: `the newest ${SHOWN}` }),
    total: Type.Integer(),
  }),
  async handle({ incidentId }, context) {
    const { caller, stores, now } = context;
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const lease = await stores.incidentLeases.find(incident.id);
    const proposals = await stores.proposals.listOf(incident.id, SHOWN);
    return {
      lease: lease === null ? null : toLeaseView(lease, now),
      proposals: await toProposalViews(proposals, context),
      total: proposals.length < SHOWN ? proposals.length : await stores.proposals.countOf(incident.id),
    };
  },
});

/** Returns the owner who acts. Throws `forbidden` for anybody else. */
async function requireOwner({ caller, stores }: ActionContext): Promise<Id<'user'>> {
  const userId = callerUser(caller);
  if ((await stores.people.findRole(caller.orgId, userId)) === 'owner') return userId;
  throw new AppError('forbidden', 'only owners decide what agents may do');
}

export const AGENT_OPERATIONS = [
  getAgentWork,
  answerProposal,
  getAgents,
  setResponder,
  setAgentLimits,
  stopAgents,
] as const satisfies readonly AnyConsoleOperation[];
