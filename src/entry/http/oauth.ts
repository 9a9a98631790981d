import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { authorizationServerMetadata, OAUTH_PATHS, openIdMetadata } from '#auth/oauth/metadata.ts';
import { createRateLimit } from '#auth/oauth/rate_limit.ts';
import { countAttempt } from '#auth/sign_in_limiter.ts';
import type { AppContext } from '#entry/compose.ts';
import { sendAnswerPage } from '#entry/http/answers/answer_page.ts';
import { clientAddresses } from '#entry/http/connections/addresses.ts';
import { ANONYMOUS_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { networkOf } from '#kernel/ip_address.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import { endProviderSessions } from '#modules/sign_in/end_provider_sessions.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import type { HttpContext } from './http_context.ts';
import { parseRawBodies, rawBodyOf } from './request_body.ts';

const ROUTES = [
  { method: 'GET', url: OAUTH_PATHS.authorization },
  { method: 'GET', url: `${OAUTH_PATHS.authorization}/:uid` },
  { method: 'POST', url: OAUTH_PATHS.token },
  { method: 'OPTIONS', url: OAUTH_PATHS.token },
  { method: 'POST', url: OAUTH_PATHS.registration },
  { method: 'POST', url: OAUTH_PATHS.revocation },
  { method: 'OPTIONS', url: OAUTH_PATHS.revocation },
  { method: 'GET', url: OAUTH_PATHS.jwks },
] as const;

const QUERY_LENGTH_MAX = 4_096;

/** Mounts the authorization server (OAuth 2.1) of the MCP endpoint, and its metadata. */
export async function mountOAuth(app: FastifyInstance, context: HttpContext): Promise<void> {
  mountMetadata(app, context.config.baseUrl);
  const registrations = createRateLimit(context.clock, {
    perMinute: context.config.appRegistrationsPerMinute,
    processes: context.limits.processes,
  });
  const authorizations = createRateLimit(context.clock, {
    perMinute: context.config.appAuthorizationsPerMinute,
    processes: context.limits.processes,
  });
  /**
   * Answers with a page of our own when an address has opened too many, or when a query is longer than those of apps: each
   * request of a person who is not signed in is kept for half an hour, with all that it says.
   */
  const refuseAuthorization = ({ ip, url }: FastifyRequest, reply: FastifyReply): FastifyReply | undefined => {
    const heading = 'This app cannot be connected.';
    const network = networkOf(ip);
    const waitSeconds = authorizations.take(network);
    if (waitSeconds > 0) {
      context.reachedLimits.record('appAuthorizationsPerMinute', network);
      const sentence =
        'Too many apps ask to be connected from this address. Wait a minute, then begin again in the app.';
      void reply.header('retry-after', String(waitSeconds));
      return sendAnswerPage(reply, { status: 429, heading, paragraphs: [sentence] });
    }
    if (url.length - url.indexOf('?') - 1 <= QUERY_LENGTH_MAX || !url.includes('?')) return undefined;
    const sentence = `For its makers: the query has more than ${QUERY_LENGTH_MAX} characters; send a shorter state.`;
    return sendAnswerPage(reply, { status: 400, heading, paragraphs: [sentence] });
  };
  await app.register(async (scope) => {
    // The provider reads the body itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const { method, url } of ROUTES) {
      scope.route({
        method,
        url,
        exposeHeadRoute: false,
        async onRequest(request, reply) {
          const { ip, headers } = request;
          refuseLargeBody(headers);
          if (url.startsWith(OAUTH_PATHS.authorization)) return refuseAuthorization(request, reply);
          const waitSeconds = url === OAUTH_PATHS.registration ? registrations.take(networkOf(ip)) : 0;
          if (waitSeconds === 0) return;
          throw new AppError('rate_limited', 'too many apps register from this address', {
            limit: 'appRegistrationsPerMinute',
            retryAfterSeconds: waitSeconds,
          });
        },
        handler: (request, reply) => handOver(context, request, reply),
      });
    }
  });
}

/** Refuses larger bodies than the provider reads: up to 56 kB, and bodies of unknown length up to there. */
function refuseLargeBody(headers: FastifyRequest['headers']): void {
  const isUnknown = headers['transfer-encoding'] !== undefined;
  if (!isUnknown && Number(headers['content-length'] ?? 0) <= ANONYMOUS_BODY_BYTES_MAX) return;
  throw new AppError(
    'payload_too_large',
    `send at most ${ANONYMOUS_BODY_BYTES_MAX} bytes here, and say how many by Content-Length`,
  );
}

async function handOver(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { handle } = await context.authorizationServer();
  reply.raw.setHeader('x-request-id', request.id);
  reply.hijack();
  clientAddresses.set(request.raw, request.ip);
  await handle(request.raw, reply.raw);
}

/**
 * Mounts the metadata of RFC 8414, and the form of OpenID Connect that some clients request instead. When the product
 * lives below a path, the RFC puts the well-known part before that path: the metadata is served there, too, for proxies
 * that pass it on.
 */
function mountMetadata(app: FastifyInstance, baseUrl: string): void {
  const prefix = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const documents = [
    ['/.well-known/oauth-authorization-server', authorizationServerMetadata(baseUrl)],
    ['/.well-known/openid-configuration', openIdMetadata(baseUrl)],
  ] as const;
  for (const [path, document] of documents) {
    for (const url of new Set([path, path + prefix])) {
      app.get(url, (_request, reply) => reply.header('access-control-allow-origin', '*').send(document));
    }
  }
}

const WINDOW_SECONDS = 15 * 60;

/** Mounts the address to which a provider reports that a person has signed out there (back-channel logout). */
export async function mountProviderLogout(app: FastifyInstance, context: AppContext): Promise<void> {
  await app.register(async (scope) => {
    parseRawBodies(scope);
    scope.post<{ Params: { orgId: string } }>(
      `${API_PATHS.console}/sign-in/:orgId/logout`,
      { bodyLimit: ANONYMOUS_BODY_BYTES_MAX },
      async (request, reply) => {
        const token = new URLSearchParams(rawBodyOf(request).toString('utf8')).get('logout_token') ?? '';
        const origin = { requestId: request.id, address: request.ip };
        await endReported(context, request.params.orgId, { token, origin });
        return reply.code(200).header('cache-control', 'no-store').send();
      },
    );
  });
}

/** Ends what a verified token names. Tries that fail are counted by their network, for each asks the provider for keys. */
async function endReported(
  context: AppContext,
  org: string,
  { token, origin }: { readonly token: string; readonly origin: { requestId: string; address: string } },
): Promise<void> {
  const { openId, limits } = context.actions.installation;
  const stores = storesOf(context.db.session());
  const orgId = asId('org', org);
  const connection = org.includes('\0') ? null : await stores.openId.findConnection(orgId);
  if (connection?.isEnabled !== true) throw new AppError('not_found', 'there is no such provider');
  const key = `provider_logout:${networkOf(origin.address)}`;
  const max = limits.signInsOfAddressMax;
  await countAttempt(stores, context.clock, { key, limit: 'signInsOfAddressMax', max, windowSeconds: WINDOW_SECONDS });
  const logout = await openId.readLogout(connection, token).catch((error: unknown) => {
    if (!(error instanceof ProviderSignInError)) throw error;
    context.log.info({ orgId, err: messageOf(error.cause ?? error) }, 'a logout token was refused');
    throw new AppError(
      'invalid_input',
      'this logout token is not taken: it is not of the provider, not for here, or late',
    );
  });
  const report = { orgId, issuer: connection.issuer, ...logout };
  await inUnitOfWork(context.actions, (unit) => endProviderSessions(unit, report, origin));
  await stores.signInLimits.undoAttempt(key);
}
