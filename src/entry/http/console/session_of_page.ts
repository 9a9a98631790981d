import type { FastifyReply, FastifyRequest } from 'fastify';

import { getSession } from '#actions/account/get_session.ts';
import { runAccountOperation } from '#actions/run_account_operation.ts';
import { authenticateRequest, browserOf } from '#entry/http/console/browser.ts';
import type { Serving } from '#entry/http/console/serving.ts';

/** Who is signed in, as `get_session` answers; null for nobody, or when it cannot be read now. */
export type FindSession = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * For the page that a browser asks for first: it holds who is signed in, so that the console begins with the data of the
 * page instead of a request of its own for that.
 */
export function sessionOfPage(serving: Serving): FindSession {
  const { context, cookie } = serving;
  return async (request, reply) => {
    if (cookie.read(request.headers.cookie) === null) return null;
    try {
      const session = await authenticateRequest(serving, request);
      const origin = { requestId: request.id, address: request.ip };
      const requester = { session, browser: browserOf(serving, request, reply), origin };
      return await runAccountOperation(context.actions, getSession, requester, {});
    } catch {
      // The console asks again, and says what is wrong.
      return null;
    }
  };
}
