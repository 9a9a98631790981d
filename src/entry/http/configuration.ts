import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';

import { checkInput } from '#actions/check_input.ts';
import { type ActionRuntime, recordRefusal } from '#actions/run_action.ts';
import { authenticateApiKey } from '#auth/api_keys.ts';
import { createBadKeyLimiter } from '#auth/sign_in_limiter.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { CONFIGURATION_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import { type CallBudget, senderIdOf } from '#entry/http/connections/call_budget.ts';
import { compressAnswers } from '#entry/http/compress_answers.ts';
import { parseJsonBodies } from '#entry/http/request_body.ts';
import { credentialOf, setSender } from '#entry/http/connections/sender.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { StrictObject } from '#kernel/action.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { configurationSchema } from '#modules/configuration/decide/file.ts';
import { planJson } from '#modules/configuration/decide/plan_text.ts';
import { FileThread } from '#modules/configuration/file_thread.ts';
import { readPlan, requireViews } from '#modules/configuration/read_plan.ts';
import { API_PATHS } from '#kernel/api_paths.ts';

const FIELDS = {
  file: Type.String({ description: 'the configuration file as YAML or JSON' }),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'name of the file; tocsin.yaml if left out' }),
  ),
  prune: Type.Optional(Type.Boolean({ description: 'also delete what the file made and does not have any more' })),
};

const PlanBody = StrictObject(FIELDS);
const ApplyBody = StrictObject({
  ...FIELDS,
  fingerprint: Type.Optional(Type.String({ maxLength: 64, description: 'of the plan that was reviewed' })),
});

/** Name of a refused application in the audit log; one that is made has the names of its changes. */
const APPLICATION = { name: 'apply_configuration' };

const DEFAULT_NAME = 'tocsin.yaml';

function shownTo({ permissions }: Caller): Parameters<typeof planJson>[1] {
  return { phones: permissions.has('oncall:edit'), keys: false };
}

/**
 * Mounts the configuration file for pipelines: `plan` and `apply` below `/api/config`, with an API key that holds the
 * permission of each change, and the schema of the file for everybody.
 */
export async function mountConfiguration(
  app: FastifyInstance,
  runtime: ActionRuntime,
  budget: CallBudget,
  limits: SharedLimits,
): Promise<void> {
  const files = new FileThread();
  app.addHook('onClose', () => files.close());
  app.get(`${API_PATHS.config}/schema`, () => configurationSchema());
  await app.register(async (scope) => {
    parseJsonBodies(scope);
    await compressAnswers(scope);
    const callers = new WeakMap<FastifyRequest, Caller>();
    const badKeys = createBadKeyLimiter(runtime.clock, limits);
    const authenticate = (request: FastifyRequest): Promise<Caller> =>
      authenticateApiKey(runtime, credentialOf(request), 'rest', runtime.clock.now());
    scope.addHook('onRequest', async (request, reply) => {
      void reply.header('cache-control', 'no-store');
      const caller = await badKeys.guard(request.ip, () => authenticate(request));
      setSender(request, senderIdOf(caller));
      callers.set(request, caller);
      const origin = { requestId: request.id, address: request.ip };
      try {
        requireViews(caller);
      } catch (error) {
        if (request.routeOptions.url === `${API_PATHS.config}/apply`) {
          await budget.run(senderIdOf(caller), () => recordRefusal(runtime, APPLICATION, caller, origin));
        }
        throw error;
      }
    });
    const callerOf = (request: FastifyRequest): Caller => {
      const caller = callers.get(request);
      if (caller === undefined) throw new Error('the request was not authenticated');
      return caller;
    };

    scope.post(`${API_PATHS.config}/plan`, { bodyLimit: CONFIGURATION_BODY_BYTES_MAX }, async (request) => {
      const caller = callerOf(request);
      checkInput({ input: PlanBody }, request.body);
      const { file, name = DEFAULT_NAME, prune = false } = request.body as Static<typeof PlanBody>;
      const read = await budget.run(senderIdOf(caller), () =>
        readPlan(runtime, caller, { text: file, fileName: name, prune }, files),
      );
      return planJson(read, shownTo(caller));
    });

    scope.post(`${API_PATHS.config}/apply`, { bodyLimit: CONFIGURATION_BODY_BYTES_MAX }, async (request) => {
      const caller = callerOf(request);
      checkInput({ input: ApplyBody }, request.body);
      const { file, name = DEFAULT_NAME, prune = false, fingerprint } = request.body as Static<typeof ApplyBody>;
      const origin = { requestId: request.id, address: request.ip };
      const done = await budget.run(senderIdOf(caller), () =>
        applyConfiguration(
          runtime,
          caller,
          origin,
          { text: file, fileName: name, prune, expects: fingerprint },
          { files, callerNow: () => authenticate(request) },
        ),
      );
      return { applied: done.applied, ...planJson(done, shownTo(caller)) };
    });
  });
}
