import { METHODS } from 'node:http';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { AnyAction } from '#actions/action_context.ts';
import { getAction } from '#actions/registry.ts';
import { type ActionRuntime, requirePermission, runAction } from '#actions/run_action.ts';
import { authenticateApiKey } from '#auth/api_keys.ts';
import { createBadKeyLimiter } from '#auth/sign_in_limiter.ts';
import { compressAnswers } from '#entry/http/compress_answers.ts';
import { ACTION_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import { type CallBudget, senderIdOf } from '#entry/http/connections/call_budget.ts';
import { parseJsonBodies } from '#entry/http/request_body.ts';
import { credentialOf, setSender } from '#entry/http/connections/sender.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { API_PATHS } from '#kernel/api_paths.ts';

export const ACTIONS_PATH = API_PATHS.actions;

interface Invocation {
  readonly caller: Caller;
  readonly action: AnyAction;
  readonly origin: RequestOrigin;
}

/**
 * Mounts `POST /api/rest/actions/{action}`. The caller (401), the action (404) and the permission (403) are checked
 * before the body is read, so that 415, 413 and 400 come after.
 */
export async function mountRest(
  app: FastifyInstance,
  runtime: ActionRuntime,
  budget: CallBudget,
  limits: SharedLimits,
): Promise<void> {
  // Otherwise Fastify answers unknown methods before any route runs.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  await app.register(async (scope) => {
    parseJsonBodies(scope);
    await compressAnswers(scope);
    mountActions(scope, runtime, budget, limits);
  });
}

function mountActions(scope: FastifyInstance, runtime: ActionRuntime, budget: CallBudget, limits: SharedLimits): void {
  const invocations = new WeakMap<FastifyRequest, Invocation>();
  const badKeys = createBadKeyLimiter(runtime.clock, limits);
  // Everything after it is the action's name, so that a misspelled one is reported, also one with a slash at its end.
  const url = `${ACTIONS_PATH}/*`;

  scope.route<{ Params: { '*': string } }>({
    method: 'POST',
    url,
    bodyLimit: ACTION_BODY_BYTES_MAX,
    async onRequest(request, reply) {
      // Results may hold credentials.
      void reply.header('cache-control', 'no-store');
      const caller = await badKeys.guard(request.ip, () =>
        authenticateApiKey(runtime, credentialOf(request), 'rest', runtime.clock.now()),
      );
      const action = getAction(request.params['*']);
      const origin = { requestId: request.id, address: request.ip };
      setSender(request, senderIdOf(caller));
      await requirePermission(runtime, action, caller, origin, (work) => budget.run(senderIdOf(caller), work));
      invocations.set(request, { caller, action, origin });
    },
    async handler(request) {
      const invocation = invocations.get(request);
      if (invocation === undefined) throw new Error('the request was not authenticated');
      if (request.body === undefined) {
        throw invalidInput([{ path: '', message: 'the body is missing; send a JSON object, {} at least' }]);
      }
      const { action, caller, origin } = invocation;
      return {
        result: await budget.run(senderIdOf(caller), () => runAction(runtime, action, caller, request.body, origin)),
      };
    },
  });

  scope.route({
    method: scope.supportedMethods.filter((method) => method !== 'POST'),
    url,
    async onRequest(_request, reply) {
      void reply.header('allow', 'POST');
      throw new AppError('method_not_allowed', 'actions are invoked with POST');
    },
    handler: () => {},
  });
}
