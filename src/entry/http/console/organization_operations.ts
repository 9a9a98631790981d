import { Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { AnyConsoleOperation, AnyOperation } from '#actions/action_context.ts';
import { getConsoleOperation } from '#actions/registry.ts';
import { requirePermission, runAction } from '#actions/run_action.ts';
import { runReads } from '#actions/run_reads.ts';
import { type MemberCaller, memberCallerOf } from '#auth/sessions.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { authenticateRequest, BODY_BYTES_MAX, type Serving } from '#entry/http/console/browser.ts';
import { toLoggedAppError, toProblem } from '#entry/http/problem.ts';
import type { FileAnswer } from '#kernel/action.ts';
import { invalidInput } from '#kernel/errors.ts';
import type { SessionOfPerson } from '#modules/accounts/store/session_store.ts';
import { storesOf } from '#modules/stores.ts';

const ACTIONS_OF_ORGANIZATION = '/organizations/:org/actions';

interface Invocation {
  readonly operation: AnyOperation;
  readonly caller: MemberCaller;
}

/**
 * Serves every action and operation of the console within an organization: `POST …/actions/<name>` with a JSON body.
 * The caller (401), the membership (404) and the permission (403) are checked before the body is read.
 */
export function serveOrganizationOperations(scope: FastifyInstance, serving: Serving): void {
  const invocations = new WeakMap<FastifyRequest, Invocation>();
  scope.route<{ Params: { org: string; action: string } }>({
    method: 'POST',
    url: `${ACTIONS_OF_ORGANIZATION}/:action`,
    bodyLimit: BODY_BYTES_MAX,
    async onRequest(request) {
      const { caller } = await authenticateMember(serving, request, request.params.org);
      const operation = getConsoleOperation(request.params.action);
      const inTurn = (work: () => Promise<void>) => serving.budget.run(caller.actor.userId, work);
      await requirePermission(serving.context.actions, operation, caller, originOf(request), inTurn);
      invocations.set(request, { operation, caller });
    },
    async handler(request, reply) {
      const invocation = invocations.get(request);
      if (invocation === undefined) throw new Error('the request was not authenticated');
      if (request.body === undefined) {
        throw invalidInput([{ path: '', message: 'the body is missing; send a JSON object, {} at least' }]);
      }
      return await answer(serving, invocation, request.body, request, reply);
    },
  });
}

/** Serves an operation that answers with a file by GET, so that a link downloads it. The query is the input. */
export function serveDownload(scope: FastifyInstance, serving: Serving, operation: AnyConsoleOperation): void {
  scope.get<{ Params: { org: string } }>(
    `${ACTIONS_OF_ORGANIZATION}/${operation.name}`,
    { exposeHeadRoute: false },
    async (request, reply) => {
      const { caller } = await authenticateMember(serving, request, request.params.org);
      const query = { ...(request.query as Readonly<Record<string, unknown>>) };
      return await answer(serving, { operation, caller }, query, request, reply);
    },
  );
}

async function answer(
  { context, budget }: Serving,
  { operation, caller }: Invocation,
  input: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const run = () => runAction(context.actions, operation, caller, input, originOf(request));
  const result = await budget.run(caller.actor.userId, run);
  if (operation.consoleOnly !== true || operation.sends === undefined) return reply.send({ result });
  const { name, mediaType, content } = result as FileAnswer;
  return reply
    .type(mediaType.endsWith('/zip') ? mediaType : `${mediaType}; charset=utf-8`)
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(Readable.from(content));
}

/**
 * Returns the signed-in person as a caller with their role in the organization. Throws `unauthenticated`, `not_found`.
 */
export async function authenticateMember(
  serving: Serving,
  request: FastifyRequest,
  org: string,
): Promise<{ session: SessionOfPerson; caller: MemberCaller }> {
  const { context } = serving;
  const session = await authenticateRequest(serving, request);
  setSender(request, session.userId);
  const place = { orgId: org, address: request.ip };
  return { session, caller: await memberCallerOf(storesOf(context.db.session()), session, place, context.clock.now()) };
}

function originOf(request: FastifyRequest) {
  return { requestId: request.id, address: request.ip };
}

export const READS_PATH = '/organizations/:org/reads';

/** Serves the simultaneous reads of a page in one request: a phone far away waits for one answer, not for eight. */
export function serveReads(scope: FastifyInstance, serving: Serving): void {
  const callers = new WeakMap<FastifyRequest, MemberCaller>();
  const { context, budget } = serving;
  scope.route<{ Params: { org: string } }>({
    method: 'POST',
    url: READS_PATH,
    bodyLimit: BODY_BYTES_MAX,
    async onRequest(request) {
      callers.set(request, (await authenticateMember(serving, request, request.params.org)).caller);
    },
    async handler(request) {
      const caller = callers.get(request);
      if (caller === undefined) throw new Error('the request was not authenticated');
      if (request.body === undefined) {
        throw invalidInput([{ path: '', message: 'the body is missing; send a JSON object with reads' }]);
      }
      const outcomes = await runReads(context.actions, getConsoleOperation, caller, request.body, {
        origin: { requestId: request.id, address: request.ip },
        inTurn: (work) => budget.run(caller.actor.userId, work),
      });
      const answers = outcomes.map((outcome) => {
        if ('result' in outcome) return outcome;
        const error = toLoggedAppError(outcome.error, request.id, context.log);
        return { problem: toProblem(error, request.id), retryAfterSeconds: error.retryAfterSeconds };
      });
      return { result: { answers } };
    },
  });
}
