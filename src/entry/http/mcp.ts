import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { agentsStopped } from '#modules/agents/operations/admit_agent_write.ts';
import { authenticateApiKey } from '#auth/api_keys.ts';
import { createBadKeyLimiter } from '#auth/sign_in_limiter.ts';
import { authenticateConnection, bearerTokenOf } from '#auth/oauth/connections.ts';
import { ALL_SCOPES } from '#auth/oauth/metadata.ts';
import type { AppContext } from '#entry/compose.ts';
import { type CallBudget, senderIdOf } from '#entry/http/connections/call_budget.ts';
import { parseJsonBodies } from '#entry/http/request_body.ts';
import { requireOwnNames } from '#entry/http/mcp/require_own_names.ts';
import { MCP_PATH, mountResourceMetadata, resourceMetadataUrl } from '#entry/http/mcp/resource_metadata.ts';
import { ToolListWatch } from '#entry/http/mcp/tool_list_watch.ts';
import { noteRefusal, toLoggedAppError, toProblem } from '#entry/http/problem.ts';
import { ACTION_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import { type Credential, credentialOf, setSender } from '#entry/http/connections/sender.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { AppError, type ErrorCode } from '#kernel/errors.ts';
import { once } from '#kernel/promises.ts';
import { findAction } from '#actions/registry.ts';
import { recordRefusal, requirePermission } from '#actions/run_action.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';

/**
 * Throws `insufficient_scope` for a call that the role of the person allows but the connection was not granted. Clients
 * learn from the HTTP status that they can ask for more, so this is checked before the protocol answers.
 */
async function requireGrant(
  { runtime, budget, caller, origin }: Pick<Exchange, 'runtime' | 'budget' | 'caller' | 'origin'>,
  body: unknown,
): Promise<void> {
  for (const message of Array.isArray(body) ? body : [body]) {
    const action = findAction(calledTool(message));
    if (action !== undefined && caller.withheld?.has(action.permission) === true) {
      await requirePermission(runtime, action, caller, origin, (work) => budget.run(senderIdOf(caller), work));
    }
  }
}

/** Throws `forbidden` while the agents of the organization are stopped, and records a change that this refuses. */
async function requireNotStopped(
  { runtime, budget, caller, origin }: Pick<Exchange, 'runtime' | 'budget' | 'caller' | 'origin'>,
  body: unknown,
): Promise<void> {
  if (caller.areAgentsStopped !== true) return;
  const change = (Array.isArray(body) ? body : [body])
    .map((message) => findAction(calledTool(message)))
    .find((action) => action !== undefined && action.effect !== 'read');
  if (change !== undefined) {
    await budget.run(senderIdOf(caller), () => recordRefusal(runtime, change, caller, origin));
  }
  throw agentsStopped();
}

function calledTool(message: unknown): unknown {
  const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: unknown };
  return method === 'tools/call' ? ((params ?? {}) as { readonly name?: unknown }).name : undefined;
}

/** Room for the protocol's envelope around the body of an action. */
export const ENVELOPE_BYTES_MAX = 64 * 1024;

/** Modules of the protocol, loaded with the first message. */
const protocol = once(async () => ({
  ...(await import('#entry/http/mcp/answer.ts')),
  ...(await import('#entry/http/mcp/plain_call.ts')),
}));

/**
 * Mounts the endpoint of agents: Streamable HTTP without sessions, for both generations of the protocol. The caller is
 * authenticated before the body is read, as for REST.
 */
export async function mountMcp(
  app: FastifyInstance,
  context: AppContext,
  budget: CallBudget,
  limits: SharedLimits,
): Promise<void> {
  const { baseUrl } = context.config;
  mountResourceMetadata(app, baseUrl);
  await app.register(async (scope) => {
    parseJsonBodies(scope);
    requireOwnNames(scope, baseUrl);
    scope.setErrorHandler((error, request, reply) => sendRpcError(error, request, reply, context));
    mountEndpoint(scope, context, budget, limits);
  });
}

function mountEndpoint(scope: FastifyInstance, context: AppContext, budget: CallBudget, limits: SharedLimits): void {
  const { actions: runtime, clock, log } = context;
  const callers = new WeakMap<FastifyRequest, Caller>();
  const badKeys = createBadKeyLimiter(clock, limits);
  const watch = new ToolListWatch(limits.set);
  scope.addHook('preClose', () => watch.close());

  /** Returns the present caller of the header: a person through a connected app, or a key. */
  const authenticate = async (credential: Credential): Promise<Caller> => {
    const caller = await authenticateAgent(context, credential);
    if (caller.areAgentsStopped === true) throw agentsStopped();
    return caller;
  };

  scope.route({
    method: scope.supportedMethods,
    url: MCP_PATH,
    bodyLimit: ACTION_BODY_BYTES_MAX + ENVELOPE_BYTES_MAX,
    async onRequest(request, reply) {
      const caller = await badKeys.guard(request.ip, () => authenticateAgent(context, credentialOf(request)));
      setSender(request, senderIdOf(caller));
      callers.set(request, caller);
      if (request.method === 'POST') return;
      if (caller.areAgentsStopped === true) throw agentsStopped();
      void reply.header('allow', 'POST');
      throw new AppError('method_not_allowed', 'this server keeps no MCP sessions; send every message with POST');
    },
    async handler(request, reply) {
      const caller = callers.get(request);
      if (caller === undefined) throw new Error('the request was not authenticated');
      if (request.body === undefined)
        throw new AppError('invalid_input', 'the body is missing; send a JSON-RPC message');
      requireShortBatch(request.body, context.config);
      const origin = { requestId: request.id, address: request.ip };
      const exchange = { runtime, budget, log, caller, origin };
      await requireNotStopped(exchange, request.body);
      await requireGrant(exchange, request.body);
      const { answer, answerPlainCall, plainCallOf } = await protocol();
      const call = plainCallOf(request.headers, request.body);
      if (call !== null) {
        void reply.type('application/json');
        return await answerPlainCall(call, exchange);
      }
      const credential = credentialOf(request);
      return await answer(
        { request: toWebRequest(request, context.config.baseUrl), body: request.body },
        exchange,
        watch,
        { credential: credential.authorization ?? '', caller, reauthenticate: () => authenticate(credential) },
      );
    },
  });
}

/** Throws `invalid_input` if a batch has more messages than are answered at once. */
export function requireShortBatch(body: unknown, { mcpBatchMax }: Pick<Limits, 'mcpBatchMax'>): void {
  if (!Array.isArray(body) || body.length <= mcpBatchMax) return;
  throw new AppError('invalid_input', `a batch holds at most ${mcpBatchMax} messages; send the others after it`, {
    limit: 'mcpBatchMax',
  });
}

/** Returns the person behind a connected app, or the key, with the present permissions. */
export async function authenticateAgent(
  { actions, clock, config, db }: AppContext,
  credential: Credential,
): Promise<Caller> {
  const token = bearerTokenOf(credential.authorization);
  return token === null
    ? await authenticateApiKey(actions, credential, 'mcp', clock.now())
    : await authenticateConnection(
        db.session(),
        { token, resource: config.baseUrl + MCP_PATH, address: credential.address },
        clock.now(),
      );
}

/** Converts to a web request, of which only method and headers are read: the body has been parsed already. */
export function toWebRequest({ method, headers }: FastifyRequest, baseUrl: string): Request {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  return new Request(baseUrl + MCP_PATH, { method, headers: entries });
}

/** Codes of errors of JSON-RPC 2.0. */
const SERVER_ERROR = -32_000;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;

/** Answers a request refused before a message was read: a JSON-RPC error, whose data is the problem of REST. */
export function sendRpcError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  context: AppContext,
): FastifyReply {
  const appError = toLoggedAppError(error, request.id, context.log);
  noteRefusal(request, appError);
  if (appError.retryAfterSeconds !== undefined) void reply.header('retry-after', String(appError.retryAfterSeconds));
  if (appError.code in CHALLENGES) void reply.header('www-authenticate', challenge(request, appError, context));
  return reply
    .code(appError.status)
    .headers({ 'cache-control': 'no-store', 'x-request-id': request.id })
    .send({
      jsonrpc: '2.0',
      id: null,
      error: { code: rpcCode(appError, request), message: appError.message, data: toProblem(appError, request.id) },
    });
}

function rpcCode({ code, status }: AppError, { body }: FastifyRequest): number {
  if (status >= 500) return INTERNAL_ERROR;
  if (code !== 'invalid_input') return SERVER_ERROR;
  return body === undefined ? PARSE_ERROR : INVALID_REQUEST;
}

/** Errors named in the challenge of refusals that signing in, or granting more, would solve. */
const CHALLENGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthenticated: 'invalid_token',
  insufficient_scope: 'insufficient_scope',
};

/**
 * Returns the challenge that tells a client where to sign in (RFC 9728), and to ask for all scopes: the person decides
 * what is granted. Without a token it names no error (RFC 6750).
 */
function challenge({ headers }: FastifyRequest, error: AppError, { config }: AppContext): string {
  const parameters = {
    ...(headers.authorization === undefined ? {} : { error: CHALLENGES[error.code], error_description: error.message }),
    resource_metadata: resourceMetadataUrl(config.baseUrl),
    scope: ALL_SCOPES,
  };
  return `Bearer ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}
