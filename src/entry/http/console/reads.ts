import type { FastifyInstance, FastifyRequest } from 'fastify';

import { getConsoleOperation } from '#actions/registry.ts';
import { runReads } from '#actions/run_reads.ts';
import type { MemberCaller } from '#auth/sessions.ts';
import { authenticateMember } from '#entry/http/console/organization_operations.ts';
import { BODY_BYTES_MAX, type Serving } from '#entry/http/console/serving.ts';
import { toLoggedAppError, toProblem } from '#entry/http/problem.ts';
import { invalidInput } from '#kernel/errors.ts';

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
