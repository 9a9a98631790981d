import { createPrivateKey, hkdfSync, type JsonWebKey } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Configuration, errors, interactionPolicy, type KoaContextWithOIDC, Provider } from 'oidc-provider';

import { createExternalFetch } from '#auth/external_fetch.ts';
import {
  ALL_SCOPES,
  CLIENT_AUTH_METHODS,
  CLIENT_SIGNING_ALGORITHMS,
  normalizeClient,
  OAUTH_PATHS,
  OFFLINE_SCOPE,
  requestedScope,
  SCOPES,
} from './metadata.ts';
import { type ConnectRequest, getConnectRequest } from '#auth/oauth/connect_request.ts';
import { createRateLimit } from '#auth/oauth/rate_limit.ts';
import { hashOfClientSecret, nextRefreshTokens, recordAdapterOf } from '#auth/oauth/record_adapter.ts';
import { newSecretText } from '#auth/secret_text.ts';
import { messageOf } from '#kernel/errors.ts';
import { type Id, newId, SECRET_PREFIXES } from '#kernel/ids.ts';
import { networkOf } from '#kernel/ip_address.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';

/** The head of a PKCS #8 Ed25519 key, before its 32 bytes (RFC 8410 §7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * The key that the provider wants for tokens that say who somebody is. None is ever issued; the key is derived from
 * APP_SECRET, so that every process publishes the same one.
 */
function signingKeyOf(appSecret: string): JsonWebKey {
  const seed = Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', 'oauth-signing', 32));
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  return key.export({ format: 'jwk' });
}

/** Seconds. */
const LIFETIMES = {
  AccessToken: 3_600,
  AuthorizationCode: 60,
  /** Lifetime of a refresh token, renewed at each use, so that an app in use stays connected. */
  RefreshToken: 30 * 86_400,
  /** Lifetime of an interaction, long enough to look up a password or to reset it by mail. */
  Interaction: 1_800,
  Session: 60,
};

interface AuthorizationServerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the number of processes that are alive, which share its limits. */
  readonly processes: () => number;
  /** Limit on the documents of apps that are fetched per network and minute. */
  readonly fetchesPerMinute: number;
  /** Called with the network that has reached this limit. */
  readonly onTooManyFetches: (network: string) => void;
  readonly baseUrl: string;
  readonly appSecret: string;
  /** The one resource that tokens are for (RFC 8707). */
  readonly resource: string;
  /** The page of the console that asks for consent, and the path of its API, for which the cookie of the request is set. */
  readonly consentPaths: { readonly page: string; readonly api: string };
  /** Whether documents of apps may live on addresses that are not public. */
  readonly allowInternalAddresses: boolean;
  /** The client's address, behind any trusted proxies. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Returns the person signed in to the console in the browser that sent this; null if nobody is. */
  readonly signedInUser: (request: IncomingMessage) => Promise<Id<'user'> | null>;
  /** Renders the page that is shown when the request of an app is not valid. */
  readonly errorPage: (about: AuthorizationError) => {
    readonly headers: Readonly<Record<string, string>>;
    readonly html: string;
  };
}

/** Reason why an app cannot be connected. */
interface AuthorizationError {
  readonly sentence: string;
  /** Link that reports the refusal to the app if the person has refused it; null otherwise. */
  readonly wayBack: string | null;
}

/** OAuth 2.1 for the apps that connect. */
export interface AuthorizationServer {
  /** Answers one request. Its body must be unread, and its URL without the path of the base URL. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** The consent request that is open in the browser that sent this. Throws `not_found`. */
  getConnectRequest(uid: string, request: IncomingMessage, response: ServerResponse): Promise<ConnectRequest>;
}

/**
 * Codes with PKCE (S256 only), opaque tokens, rotation of refresh tokens, revocation, dynamic registration and Client
 * ID Metadata Documents. Every URL in its answers is built from the base URL, not from the Host header.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { baseUrl, log } = options;
  const base = new URL(baseUrl);
  const provider = createProvider(baseUrl, options.appSecret, configurationOf(options));
  provider.proxy = true;
  provider.use(async (context, next) => {
    if (context.path === OAUTH_PATHS.authorization) {
      context.query = { ...context.query, scope: requestedScope(context.query['scope']) };
    }
    await next();
  });
  showErrorsHere(provider, options);
  provider.on('server_error', (_context, error) => log.error({ err: error }, 'the authorization server failed'));
  // Without a listener Koa prints such errors, for instance when a sender closes its connection.
  const koa: EventEmitter = provider;
  koa.on('error', (error: unknown) => log.debug({ err: messageOf(error) }, 'an OAuth request was aborted'));
  const handle = provider.callback();
  return {
    handle: (request, response) => handle(atBaseUrl(request, base), response),
    getConnectRequest: (uid, request, response) =>
      getConnectRequest({ ...options, provider }, { uid, request: atBaseUrl(request, base), response }),
  };
}

function configurationOf(options: AuthorizationServerOptions): Configuration {
  const { appSecret, baseUrl, resource, clock, processes, fetchesPerMinute } = options;
  const prefix = pathOf(baseUrl);
  const resources = [resource, `${resource}/`];
  const cookie = { httpOnly: true, sameSite: 'lax' } as const;
  const fetches = createRateLimit(clock, { perMinute: fetchesPerMinute, processes });
  return {
    adapter: recordAdapterOf({ ...options, resources }),
    routes: { ...OAUTH_PATHS, end_session: '/oauth/end' },
    scopes: [...SCOPES, OFFLINE_SCOPE],
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientAuthMethods: [...CLIENT_AUTH_METHODS],
    clientDefaults: { id_token_signed_response_alg: 'EdDSA', token_endpoint_auth_method: 'none' },
    enabledJWA: { clientAuthSigningAlgValues: [...CLIENT_SIGNING_ALGORITHMS], idTokenSigningAlgValues: ['EdDSA'] },
    jwks: { keys: [signingKeyOf(appSecret)] },
    // The provider calls this validator with all metadata before its own checks, but only if one extra property is declared.
    extraClientMetadata: {
      properties: ['software_id'],
      validator: (_context, _key, _value, client) => normalizeClient(client),
    },
    cookies: {
      names: { session: 'tocsin_oauth', interaction: 'tocsin_oauth_request', resume: 'tocsin_oauth_resume' },
      keys: [Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', 'oauth-cookies', 32)).toString('base64url')],
      long: { ...cookie, path: `${prefix}/oauth` },
      short: cookie,
    },
    ttl: LIFETIMES,
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { policy: policyOf(options), url: (context, { uid }) => consentUrl(options, context, uid) },
    // Every approval makes a new connection: earlier approvals are not reused.
    loadExistingGrant: async ({ oidc }) => {
      const connectionId = oidc.result?.consent?.grantId;
      return connectionId === undefined ? undefined : await oidc.provider.Grant.find(connectionId);
    },
    issueRefreshToken: () => true,
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    // Revoking one token of a client ends its connection.
    revokeGrantPolicy: () => true,
    clientBasedCORS: () => true,
    fetch: createExternalFetch(options),
    fetchResponseBodyLimits: { 'client_id metadata document': 16_384, jwks_uri: 16_384, sector_identifier_uri: 1 },
    renderError: (context, { error, error_description: why = error }) => {
      sendErrorPage(context, options, { sentence: why, wayBack: null });
    },
    features: {
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        // One network must not use up the fetches of the others.
        allowFetch: (context) => {
          const network = networkOf(options.addressOf(context.req));
          const mayFetch = fetches.take(network) === 0;
          if (!mayFetch) options.onTooManyFetches(network);
          return Promise.resolve(mayFetch);
        },
        cacheDuration: { min: 300, max: 86_400 },
      },
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      registration: {
        enabled: true,
        idFactory: () => newId('client'),
        secretFactory: () => newSecretText(SECRET_PREFIXES.clientSecret),
        issueRegistrationAccessToken: false,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, asked) => {
          if (!resources.includes(asked))
            throw new errors.InvalidTarget('there is one resource here, the MCP endpoint');
          return { audience: resource, scope: ALL_SCOPES, accessTokenFormat: 'opaque' };
        },
      },
      revocation: { enabled: true, allowedPolicy: (_context, client, token) => token.clientId === client.clientId },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
  };
}

/**
 * An error of the app's request is shown here instead of redirecting to the app. Anybody can register an app, so a redirect
 * before anybody has approved it would make this server an open redirector (RFC 9700 §4.11.2). A person who has refused an
 * app may follow a link that reports the refusal to it.
 */
function showErrorsHere(provider: Provider, options: AuthorizationServerOptions): void {
  const failed = new WeakMap<object, Error>();
  const note = (context: object, error: Error): void => void failed.set(context, error);
  provider.on('authorization.error', note);
  provider.on('server_error', note);
  provider.use(async (context, next) => {
    await next();
    const error = failed.get(context);
    if (error === undefined || !`${context.path}/`.startsWith(`${OAUTH_PATHS.authorization}/`)) return;
    const isOurs = !(error instanceof errors.OIDCProviderError);
    const location = context.response.get('location');
    context.remove('location');
    context.status = isOurs ? 500 : Math.max(error.statusCode, 400);
    const isRefused = error.message === 'access_denied' && location !== '';
    const sentence = isOurs ? 'something went wrong on our side' : (error.error_description ?? error.message);
    sendErrorPage(context, options, { sentence, wayBack: isRefused ? location : null });
  });
}

function sendErrorPage(
  context: { set(headers: Readonly<Record<string, string>>): void; type: string; body: unknown },
  { errorPage }: AuthorizationServerOptions,
  about: AuthorizationError,
): void {
  const { headers, html } = errorPage(about);
  context.set(headers);
  context.type = 'html';
  context.body = html;
}

/** The console decides who is signed in: people without a valid session are asked to sign in again. */
function policyOf({ signedInUser }: AuthorizationServerOptions): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('console_session', 'sign in to the console', async ({ req, oidc }) => {
      const { accountId } = oidc.session ?? {};
      return accountId === undefined || (await signedInUser(req)) !== accountId;
    }),
  );
  return policy;
}

/**
 * The consent page. Its cookie is limited to the path of this request, so that two tabs can ask at the same time.
 */
function consentUrl(
  { baseUrl, consentPaths }: AuthorizationServerOptions,
  context: KoaContextWithOIDC,
  uid: string,
): string {
  const { provider } = context.oidc;
  context.cookies.set(provider.cookieName('interaction'), uid, {
    httpOnly: true,
    sameSite: 'lax',
    path: `${pathOf(baseUrl)}${consentPaths.api}/${uid}`,
    maxAge: LIFETIMES.Interaction * 1000,
  });
  return `${baseUrl}${consentPaths.page}/${uid}`;
}

/**
 * Host, scheme and path come from the base URL, never from the headers of a request: these are the headers and the
 * property that Koa and oidc-provider read behind a proxy.
 */
function atBaseUrl(request: IncomingMessage, base: URL): IncomingMessage {
  request.headers['x-forwarded-host'] = base.host;
  request.headers['x-forwarded-proto'] = base.protocol.slice(0, -1);
  return Object.assign(request, { baseUrl: pathOf(base.href) });
}

function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/+$/, '');
}

/**
 * An oidc-provider whose models are subclasses of its own. Tokens have prefixes, by which secret scanners and our own log
 * recognise them; client secrets are compared by hash, because only their hashes are stored.
 */
function createProvider(baseUrl: string, appSecret: string, configuration: Configuration): Provider {
  const provider = new Provider(baseUrl, configuration);
  const models = {
    AccessToken: accessTokenOf(provider),
    AuthorizationCode: authorizationCodeOf(provider),
    RefreshToken: refreshTokenOf(provider, appSecret),
    Client: clientOf(provider),
  };
  // oidc-provider looks its models up on the provider each time; its own are getters, which properties shadow.
  for (const [name, value] of Object.entries(models)) Object.defineProperty(provider, name, { value });
  return provider;
}

/*
 * The name of each class is the kind under which its records are stored.
 */

function accessTokenOf({ AccessToken: Base }: Provider): typeof Base {
  return class AccessToken extends Base {
    /** Format of the token; oidc-provider sets it when it generates the token's text itself. */
    override readonly format = 'opaque';

    override save(): Promise<string> {
      this.jti ||= newSecretText(SECRET_PREFIXES.accessToken);
      return super.save();
    }
  };
}

function authorizationCodeOf({ AuthorizationCode: Base }: Provider): typeof Base {
  return class AuthorizationCode extends Base {
    override save(): Promise<string> {
      this.jti ||= newSecretText(SECRET_PREFIXES.authorizationCode);
      return super.save();
    }
  };
}

/** A client that uses a token twice at the same time gets the same next one both times. */
function refreshTokenOf({ RefreshToken: Base }: Provider, appSecret: string): typeof Base {
  const nextOf = nextRefreshTokens(appSecret);
  const nextToken = (): string => {
    const rotated = Provider.ctx?.oidc.entities.RotatedRefreshToken?.jti;
    return rotated === undefined ? newSecretText(SECRET_PREFIXES.refreshToken) : nextOf(rotated);
  };
  return class RefreshToken extends Base {
    override save(): Promise<string> {
      this.jti ||= nextToken();
      return super.save();
    }
  };
}

function clientOf({ Client: Base }: Provider): typeof Base {
  return class Client extends Base {
    // In the base they are getters of private static properties, which a subclass does not have.
    static readonly adapter: unknown = Reflect.get(Base, 'adapter');
    static readonly Schema: unknown = Reflect.get(Base, 'Schema');

    override compareClientSecret(secret: string): ReturnType<InstanceType<typeof Base>['compareClientSecret']> {
      return super.compareClientSecret(hashOfClientSecret(secret));
    }
  };
}
