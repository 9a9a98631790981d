import type { FastifyInstance, FastifyRequest } from 'fastify';

import { agentIdOf, agentsStopped, keyMayOnlyLook } from '#modules/agents/operations/admit_agent_write.ts';
import { recordRefusal } from '#actions/run_action.ts';
import { createBadKeyLimiter } from '#auth/sign_in_limiter.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { AppContext } from '#entry/compose.ts';
import { ACTION_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import { type CallBudget, senderIdOf } from '#entry/http/connections/call_budget.ts';
import { parseJsonBodies } from '#entry/http/request_body.ts';
import {
  authenticateAgent,
  ENVELOPE_BYTES_MAX,
  requireShortBatch,
  sendRpcError,
  toWebRequest,
} from '#entry/http/mcp.ts';
import { requireOwnNames } from '#entry/http/mcp/require_own_names.ts';
import { ToolListWatch } from '#entry/http/mcp/tool_list_watch.ts';
import type { ApprovalLink } from '#entry/http/responder/approval_link.ts';
import { credentialOf, setSender } from '#entry/http/connections/sender.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { AppError } from '#kernel/errors.ts';
import { once } from '#kernel/promises.ts';
import { isPermission } from '#kernel/permissions.ts';
import { storesOf } from '#modules/stores.ts';

/** Modules of the protocol, loaded with the first message. */
const protocol = once(async () => ({
  ...(await import('#entry/http/mcp/answer.ts')),
  ...(await import('#entry/http/responder/approval_link.ts')),
  ...(await import('#entry/http/responder/call_tool.ts')),
  ...(await import('#entry/http/responder/server.ts')),
}));

/**
 * Mounts the endpoint of agents that respond to incidents: MCP with eight tools, for the connections that an owner has
 * enabled. The credentials are those of the MCP endpoint; only their view permissions are used.
 */
export async function mountResponder(
  app: FastifyInstance,
  context: AppContext,
  budget: CallBudget,
  limits: SharedLimits,
): Promise<void> {
  const { baseUrl } = context.config;
  await app.register(async (scope) => {
    parseJsonBodies(scope);
    requireOwnNames(scope, baseUrl);
    scope.setErrorHandler((error, request, reply) => sendRpcError(error, request, reply, context));
    const badKeys = createBadKeyLimiter(context.clock, limits);
    const watch = new ToolListWatch(limits.set);
    scope.addHook('preClose', () => watch.close());
    const callers = new WeakMap<FastifyRequest, Caller>();
    scope.route({
      method: scope.supportedMethods,
      url: API_PATHS.responder,
      bodyLimit: ACTION_BODY_BYTES_MAX + ENVELOPE_BYTES_MAX,
      async onRequest(request, reply) {
        const caller = await badKeys.guard(request.ip, () => authenticateAgent(context, credentialOf(request)));
        setSender(request, senderIdOf(caller));
        callers.set(request, caller);
        if (request.method === 'POST') return;
        void reply.header('allow', 'POST');
        throw new AppError('method_not_allowed', 'this server keeps no MCP sessions; send every message with POST');
      },
      async handler(request) {
        const knownCaller = callers.get(request);
        if (knownCaller === undefined) throw new Error('the request was not authenticated');
        if (request.body === undefined) {
          throw new AppError('invalid_input', 'the body is missing; send a JSON-RPC message');
        }
        requireShortBatch(request.body, context.config);
        const { answer, isOfLinkSession, responderServerWith, sessionIdFor, withLinks } = await protocol();
        const caller = await admit(context, knownCaller, { request, budget });
        const credential = credentialOf(request);
        const origin = { requestId: request.id, address: request.ip };
        const reauthenticate = async () => await admit(context, await authenticateAgent(context, credential), null);
        const links: ApprovalLink[] | null = isOfLinkSession(request) ? [] : null;
        const answered = await answer(
          { request: toWebRequest(request, baseUrl), body: request.body },
          { runtime: context.actions, budget, log: context.log, caller, origin },
          watch,
          { credential: credential.authorization ?? '', caller, reauthenticate },
          responderServerWith(links),
        );
        const sessionId = sessionIdFor(request.body);
        if (sessionId !== null) answered.headers.set('mcp-session-id', sessionId);
        return links === null || links.length === 0 ? answered : await withLinks(answered, links);
      },
    });
  });
}

/**
 * Returns the caller as a responder. Throws `forbidden`, and records it if the call would have changed something; that
 * counts among the calls of the caller.
 */
async function admit(
  context: AppContext,
  caller: Caller,
  asked: { readonly request: FastifyRequest; readonly budget: CallBudget } | null,
): Promise<Caller> {
  const { orgId, actor } = caller;
  const stores = storesOf(context.db.session());
  const agentId = agentIdOf(actor);
  if (agentId === null) throw new Error('nobody calls over MCP without a credential');
  const { areStopped, isResponder } = await stores.responders.getAgentState(orgId, agentId);
  const changes = [...caller.permissions].filter((permission) => !permission.endsWith(':view'));
  const mustOnlyLook = isKey(actor) && changes.length > 0;
  if (isResponder && !areStopped && !mustOnlyLook) {
    const views = [...caller.permissions].filter((permission) => permission.endsWith(':view'));
    return {
      ...caller,
      permissions: new Set(views),
      isReadOnly: true,
      responder: { agentId, agentName: nameOf(actor) },
    };
  }
  const tool = asked === null ? null : (await protocol()).calledWriteTool(asked.request.body);
  if (asked !== null && tool !== null) {
    const origin = { requestId: asked.request.id, address: asked.request.ip };
    await asked.budget.run(senderIdOf(caller), () => recordRefusal(context.actions, tool, caller, origin));
  }
  if (areStopped) throw agentsStopped();
  if (isResponder) throw new AppError('forbidden', keyMayOnlyLook(changes.filter(isPermission)));
  throw new AppError(
    'forbidden',
    'this connection may not respond to incidents: an owner can enable it in the settings, under Agents',
  );
}

function isKey(actor: Caller['actor']): boolean {
  return actor.kind === 'api_key' || (actor.kind === 'user' && actor.apiKeyId !== null);
}

/** Returns the name that people know the caller by. */
function nameOf(actor: Caller['actor']): string {
  if (actor.kind === 'system') return 'Tocsin';
  if (actor.kind === 'user' && actor.connection !== undefined) return actor.connection.clientName;
  return actor.apiKeyName ?? 'an API key';
}
