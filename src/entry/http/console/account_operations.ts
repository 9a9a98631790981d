import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { AnyAccountOperation } from '#actions/action_context.ts';
import { requireSession, runAccountOperation } from '#actions/run_account_operation.ts';
import { ANONYMOUS_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import { authenticateRequest, BODY_BYTES_MAX, browserOf, type Serving } from '#entry/http/console/browser.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { invalidInput } from '#kernel/errors.ts';
import type { SessionOfPerson } from '#modules/accounts/store/session_store.ts';

/** Serves an operation on an account at its route. The caller is authenticated before the body is read. */
export function serveAccountOperation(scope: FastifyInstance, serving: Serving, operation: AnyAccountOperation): void {
  const { context, budget } = serving;
  const { method, path } = routeOf(operation);
  const sessions = new WeakMap<FastifyRequest, SessionOfPerson>();
  scope.route<{ Params: Readonly<Record<string, string>> }>({
    method,
    url: path,
    bodyLimit: operation.scope === 'anyone' ? ANONYMOUS_BODY_BYTES_MAX : BODY_BYTES_MAX,
    exposeHeadRoute: false,
    async onRequest(request) {
      if (operation.scope === 'anyone') return;
      const session = await authenticateRequest(serving, request);
      setSender(request, session.userId);
      requireSession(operation, session, context.clock.now());
      sessions.set(request, session);
    },
    async handler(request, reply) {
      const session = sessions.get(request) ?? null;
      const browser = browserOf(serving, request, reply);
      const origin = { requestId: request.id, address: request.ip };
      const input = takesBody(method) ? withParameters(request.body, request.params) : request.params;
      const run = () => runAccountOperation(context.actions, operation, { session, browser, origin }, input);
      const result = await (session === null ? run() : budget.run(session.userId, run));
      browser.giveCookies();
      return reply.code(operation.status ?? 200).send({ result });
    },
  });
}

/** Splits a route such as `POST /session` into method and path. */
export function routeOf({ route }: AnyAccountOperation): { readonly method: Method; readonly path: string } {
  const space = route.indexOf(' ');
  return { method: route.slice(0, space) as Method, path: route.slice(space + 1) };
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export function takesBody(method: Method): boolean {
  return method === 'POST' || method === 'PATCH';
}

/** Adds the parameters of the path to the body. A body of the wrong type is passed on for the pipeline to refuse. */
function withParameters(body: unknown, parameters: Readonly<Record<string, string>>): unknown {
  if (body === undefined) return parameters;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const repeated = Object.keys(parameters).filter((name) => Object.hasOwn(body, name));
  if (repeated.length > 0) {
    throw invalidInput(repeated.map((path) => ({ path, message: 'is part of the address; leave it out of the body' })));
  }
  return { ...body, ...parameters };
}
