import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { AnyAction } from '#actions/action_context.ts';
import { findAction, nearestActionNames } from '#actions/registry.ts';
import { type ActionRuntime, requirePermission, runAction } from '#actions/run_action.ts';
import { authenticateApiKey } from '#auth/api_keys.ts';
import { createBadKeyBrake } from '#auth/bad_key_brake.ts';
import type { Caller, RequestOrigin } from '#kernel/caller.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const ACTION_BODY_LIMIT = 1024 * 1024;

interface Invocation {
  readonly caller: Caller;
  readonly action: AnyAction;
  readonly origin: RequestOrigin;
}

/**
 * `POST /api/rest/actions/{action}`. Who calls (401), what (404) and whether they may (403) is settled before the
 * body is read, so that 415, 413 and 400 come after, as decisions §1 asks.
 */
export function mountRest(app: FastifyInstance, runtime: ActionRuntime): void {
  const invocations = new WeakMap<FastifyRequest, Invocation>();
  const brake = createBadKeyBrake(runtime.clock);

  app.route<{ Params: { action: string } }>({
    method: 'POST',
    url: '/api/rest/actions/:action',
    bodyLimit: ACTION_BODY_LIMIT,
    async onRequest(request) {
      const caller = await brake.guard(request.ip, () =>
        authenticateApiKey(storesOf(runtime.db.session()), request.headers.authorization, 'rest', runtime.clock.now()),
      );
      const action = findAction(request.params.action);
      if (action === null) throw unknownAction(request.params.action);
      const origin = { requestId: request.id, address: request.ip };
      await requirePermission(runtime, action, caller, origin);
      invocations.set(request, { caller, action, origin });
    },
    async handler(request) {
      const invocation = invocations.get(request);
      if (invocation === undefined) throw new Error('the request was not authenticated');
      if (request.body === undefined)
        throw invalidInput([{ path: '', message: 'the body is missing; send a JSON object, {} at least' }]);
      const { action, caller, origin } = invocation;
      return { result: await runAction(runtime, action, caller, request.body, origin) };
    },
  });

  app.route({
    method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/api/rest/actions/:action',
    handler: (_request, reply) => {
      void reply.header('allow', 'POST');
      throw new AppError('method_not_allowed', 'actions are invoked with POST');
    },
  });
}

function unknownAction(name: string): AppError {
  const near = nearestActionNames(name);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  return new AppError('unknown_action', `no action is named ${JSON.stringify(name.slice(0, 100))}${hint}`);
}
