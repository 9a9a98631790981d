import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { AppContext } from '#entry/compose.ts';
import { createBadKeyLimiter } from '#auth/sign_in_limiter.ts';
import { authenticateProvisioner, type Provisioner } from '#auth/api_keys.ts';
import { ACTION_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { parseJsonBodies } from '#entry/http/request_body.ts';
import { beginRefusal } from '#entry/http/problem.ts';
import { type Answer, ScimRequests, searchOf } from '#entry/http/scim_requests.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { resourceTypes, schemas, serviceProviderConfig } from '#modules/provisioning/decide/discovery.ts';
import { errorBody } from '#modules/provisioning/decide/scim_values.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { AppError } from '#kernel/errors.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import { systemClock } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';

const MEDIA_TYPE = 'application/scim+json; charset=utf-8';
/** A body of the largest size with a value every 25 bytes. */
const VALUES_MAX = 40_000;
const CONCURRENCY = 16;
const CONCURRENCY_OF_ONE = 8;
const WAITING_MAX = 200;
/** Requests of one identity provider: more than it makes while 200 people a second change. */
const ALLOWANCE = { burst: 30_000, perSecond: 500 };

/**
 * Mounts SCIM 2.0 (RFC 7643, RFC 7644) below `/scim/v2`, for the identity provider of an organization. The token names the
 * organization; it is checked before the body is read.
 */
export async function mountScim(app: FastifyInstance, context: AppContext, limits: SharedLimits): Promise<void> {
  const { db, clock, log, config, actions } = context;
  const baseUrl = `${config.baseUrl}${API_PATHS.scim}`;
  const requests = new ScimRequests(actions, config.baseUrl);
  const running = new KeyedLimit({ concurrency: CONCURRENCY, concurrencyPerKey: CONCURRENCY_OF_ONE });
  const allowance = limits.openLimit('provisioning', ALLOWANCE, systemClock);
  const badKeys = createBadKeyLimiter(clock, limits);
  const provisioners = new WeakMap<FastifyRequest, Provisioner>();

  await app.register(
    async (scope) => {
      parseJsonBodies(scope, { mediaTypes: ['application/scim+json', 'application/json'], valuesMax: VALUES_MAX });
      scope.setErrorHandler((error, request, reply) => {
        const refusal = beginRefusal(error, request, reply, log);
        return reply
          .code(refusal.status)
          .type(MEDIA_TYPE)
          .send(JSON.stringify(errorBody(refusal)));
      });
      scope.addHook('onRequest', async (request, reply) => {
        void reply.header('cache-control', 'no-store').type(MEDIA_TYPE);
        const provisioner = await badKeys.guard(request.ip, () =>
          authenticateProvisioner(storesOf(db.session()), request.headers.authorization, clock.now()),
        );
        setSender(request, provisioner.apiKeyId);
        provisioners.set(request, provisioner);
      });
      const callOf = (request: FastifyRequest) => {
        const provisioner = provisioners.get(request);
        if (provisioner === undefined) throw new Error('the request was not authenticated');
        const { body, query, headers, id, ip } = request;
        const origin = { requestId: id, address: ip };
        return { provisioner, body, query: query as Readonly<Record<string, unknown>>, headers, origin };
      };
      type Call = ReturnType<typeof callOf>;
      const run = async (request: FastifyRequest, work: (call: Call) => Promise<Answer>): Promise<Answer> => {
        const call = callOf(request);
        const sender = call.provisioner.apiKeyId;
        const seconds = await allowance.take(sender, 1);
        if (seconds > 0) throw tooMany(seconds);
        if (running.countOf(sender) >= WAITING_MAX) throw tooMany(1);
        return await running.run(sender, () => work(call));
      };
      const send = (reply: FastifyReply, { status = 200, body, version, location }: Answer): FastifyReply => {
        if (version !== undefined) void reply.header('etag', version);
        if (location !== undefined) void reply.header('location', location);
        void reply.code(status);
        return body === null ? reply.removeHeader('content-type').send() : reply.send(JSON.stringify(body));
      };
      const route = (
        method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
        url: string,
        work: (call: Call, id: string) => Promise<Answer>,
      ): void => {
        scope.route<{ Params: { id?: string } }>({
          method,
          url,
          bodyLimit: ACTION_BODY_BYTES_MAX,
          exposeHeadRoute: false,
          async handler(request, reply) {
            const { id = '' } = request.params;
            // No store can be asked for it.
            if (id.includes('\0')) throw new AppError('not_found', 'nothing here has this id');
            return send(reply, await run(request, (call) => work(call, id)));
          },
        });
      };

      route('GET', '/ServiceProviderConfig', async () => ({
        body: serviceProviderConfig(`${baseUrl}/ServiceProviderConfig`),
      }));
      route('GET', '/ResourceTypes', async () => ({ body: listOf(resourceTypes(baseUrl)) }));
      route('GET', '/ResourceTypes/:id', async (_call, id) => ({ body: named(resourceTypes(baseUrl), id) }));
      route('GET', '/Schemas', async () => ({ body: listOf(schemas(baseUrl)) }));
      route('GET', '/Schemas/:id', async (_call, id) => ({ body: named(schemas(baseUrl), id) }));
      route('GET', '/', (call) => requests.listAll(call));
      route('POST', '/.search', (call) => requests.listAll(searchOf(call)));
      route('GET', '/Users', (call) => requests.listUsers(call));
      route('POST', '/Users/.search', (call) => requests.listUsers(searchOf(call)));
      route('POST', '/Users', (call) => requests.createUser(call));
      route('GET', '/Users/:id', (call, id) => requests.getUser(call, id));
      route('PUT', '/Users/:id', (call, id) => requests.replaceUser(call, id));
      route('PATCH', '/Users/:id', (call, id) => requests.patchUser(call, id));
      route('DELETE', '/Users/:id', (call, id) => requests.deleteUser(call, id));
      route('GET', '/Groups', (call) => requests.listGroups(call));
      route('POST', '/Groups/.search', (call) => requests.listGroups(searchOf(call)));
      route('POST', '/Groups', (call) => requests.createGroup(call));
      route('GET', '/Groups/:id', (call, id) => requests.getGroup(call, id));
      route('PUT', '/Groups/:id', (call, id) => requests.replaceGroup(call, id));
      route('PATCH', '/Groups/:id', (call, id) => requests.patchGroup(call, id));
      route('DELETE', '/Groups/:id', (call, id) => requests.deleteGroup(call, id));
      scope.all('/*', (request) => {
        throw new AppError('not_found', `there is no ${request.url.split('?')[0]} here; use /Users or /Groups`);
      });
    },
    { prefix: API_PATHS.scim },
  );
}

function listOf(resources: readonly object[]): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: resources.length,
    startIndex: 1,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

function named(resources: readonly { readonly id: string }[], id: string): object {
  const resource = resources.find((candidate) => candidate.id.toLowerCase() === id.toLowerCase());
  if (resource === undefined) throw new AppError('not_found', `there is no ${id} here`);
  return resource;
}

function tooMany(retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', 'this identity provider sends too many requests; wait and send fewer', {
    retryAfterSeconds,
  });
}
