import type { FastifyInstance, FastifyRequest, HTTPMethods, RouteGenericInterface } from 'fastify';

import { type ActionRuntime, recordRefusal } from '#actions/run_action.ts';
import { authenticateApiKey } from '#auth/api_keys.ts';
import { createBadKeyLimiter } from '#auth/sign_in_limiter.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { slugOf } from '#modules/releases/decide/release.ts';
import { type CallBudget, senderIdOf } from '#entry/http/connections/call_budget.ts';
import { LOOPBACK_NAMES } from '#kernel/url_fault.ts';
import { credentialOf, setSender } from '#entry/http/connections/sender.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Permission } from '#kernel/permissions.ts';
import type { Requester } from '#modules/releases/deploys.ts';
import { type Stores, storesOf } from '#modules/stores.ts';

/** Context of the endpoints. */
export interface SentryApi {
  readonly runtime: ActionRuntime;
  readonly budget: CallBudget;
  readonly limits: SharedLimits;
  readonly log: Log;
  readonly baseUrl: string;
}

/** Request with a valid key. */
export interface Call {
  readonly requester: Requester;
  readonly caller: Caller;
  readonly stores: Stores;
  /** Parts of the path by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly contentType: string | undefined;
  /** Address by which the client reached the server. */
  readonly address: string;
}

interface Endpoint {
  readonly method: HTTPMethods;
  readonly path: string;
  readonly permission: Permission;
  /** Name in the audit log of the change that it makes; absent: it only reads, or a later call makes the change. */
  readonly change?: string;
  readonly bodyBytesMax?: number;
  readonly status?: number;
  handle(call: Call): Promise<unknown>;
}

export type AddEndpoint = (endpoint: Endpoint) => void;

const JSON_BYTES_MAX = 1024 * 1024;
export const SENTRY_API_PATH = '/api/0';

interface Route extends RouteGenericInterface {
  readonly Params: Readonly<Record<string, string>>;
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/**
 * Returns a function that mounts endpoints, each with and without a slash at its end. The caller, the organization and
 * the permission are checked before the body is read. The organization is the key's; a path that names another one is
 * refused.
 */
export function openEndpoints(scope: FastifyInstance, { runtime, budget, limits, baseUrl }: SentryApi): AddEndpoint {
  const callers = new WeakMap<FastifyRequest, Caller>();
  const badKeys = createBadKeyLimiter(runtime.clock, limits);
  return ({
    method,
    path,
    permission,
    change,
    bodyBytesMax = JSON_BYTES_MAX,
    status = 200,
    handle,
  }: Endpoint): void => {
    for (const url of [`${SENTRY_API_PATH}${path}`, `${SENTRY_API_PATH}${path}/`]) {
      scope.route<Route>({
        method,
        url,
        bodyLimit: bodyBytesMax,
        async onRequest(request, reply) {
          void reply.header('cache-control', 'no-store');
          const stores = storesOf(runtime.db.session());
          const caller = await badKeys.guard(request.ip, () =>
            authenticateApiKey(runtime, credentialOf(request), 'rest', runtime.clock.now()),
          );
          setSender(request, senderIdOf(caller));
          if (!caller.permissions.has(permission)) {
            if (change !== undefined) {
              const origin = { requestId: request.id, address: request.ip };
              await budget.run(senderIdOf(caller), () => recordRefusal(runtime, { name: change }, caller, origin));
            }
            throw new AppError('forbidden', `this needs the permission ${permission}, which the key does not have`);
          }
          const { org } = request.params;
          if (org !== undefined) await requireOrganization(stores, caller, org);
          callers.set(request, caller);
        },
        async handler(request, reply) {
          const caller = callers.get(request);
          if (caller === undefined) throw new Error('the request was not authenticated');
          const { orgId, actor, via } = caller;
          const answer = await budget.run(senderIdOf(caller), () =>
            handle({
              requester: { orgId, actor, via, origin: { requestId: request.id, address: request.ip } },
              caller,
              stores: storesOf(runtime.db.session()),
              params: request.params,
              query: request.query,
              body: request.body,
              contentType: request.headers['content-type'],
              address: addressOf(request, baseUrl),
            }),
          );
          return answer === undefined ? reply.code(204).send() : reply.code(status).send(answer);
        },
      });
    }
  };
}

/**
 * Returns the public address, whatever a proxy makes of `Host`; if that is only this machine itself, the address that
 * the client used.
 */
function addressOf({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>, baseUrl: string): string {
  const base = new URL(baseUrl);
  const isPublic = !LOOPBACK_NAMES.includes(base.hostname);
  return isPublic || host === base.host || host === '' ? base.href.replace(/\/$/, '') : `${protocol}://${host}`;
}

async function requireOrganization(stores: Stores, { orgId }: Caller, named: string): Promise<void> {
  const organization = await stores.people.findOrganization(orgId);
  if (organization === null) throw new AppError('not_found', 'the organization of this key is gone');
  const slug = slugOf(organization.name);
  if (named === orgId || named === slug || slugOf(named) === slug) return;
  throw new AppError('not_found', `this key is for another organization; as organization give ${slug || orgId}`);
}
