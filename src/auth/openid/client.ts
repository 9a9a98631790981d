import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockSkew,
  clockTolerance,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  type ServerMetadata,
} from 'openid-client';

import type { ProviderFetch } from '#auth/external_fetch.ts';
import type { AttemptKeys } from '#auth/openid/attempt_cookie.ts';
import { readLogoutToken, type ReportedLogout } from '#auth/openid/logout_token.ts';
import { type Clock, limitBy } from '#kernel/time.ts';
import { type Claims, withUserInfo } from '#modules/sign_in/decide/claims.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';

/** Signatures that are accepted: never `none`, and never one by a secret that both sides know. */
const ALGORITHMS: ReadonlySet<string> = new Set(
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' '),
);

const TOLERANCE_SECONDS = 30;
/** An ID token is used at once, so one that claims to be issued later than this is not of now. */
const AHEAD_SECONDS_MAX = 300;
const TIMEOUT_SECONDS = 5;
const DISCOVERY_MS = 60_000;
const DISCOVERIES_MAX = 1_000;

/** The provider of an organization, as far as a sign-in needs it. */
export interface ProviderAccess {
  readonly issuer: string;
  readonly clientId: string;
}

interface Request {
  readonly redirectUri: string;
  readonly scope: string;
  readonly keys: AttemptKeys;
}

interface Answer {
  /** The address that the provider sent the browser to, with its answer. */
  readonly address: URL;
  readonly clientSecret: string;
  readonly keys: AttemptKeys;
  /** Claims without which the provider is asked again, at its userinfo endpoint. */
  readonly wanted: readonly string[];
}

/** Relying party of OpenID Connect. Every method throws `ProviderSignInError`; causes may hold words of the provider. */
export interface OpenIdClient {
  /** Returns the issuer as the provider spells it. */
  findIssuer(issuer: string): Promise<string>;
  /** Returns the address at which the provider asks the person to sign in. */
  begin(provider: ProviderAccess, request: Request): Promise<string>;
  /** Redeems the answer, and returns what the provider says about the person. */
  finish(provider: ProviderAccess, answer: Answer): Promise<Claims>;
  /** Returns the address at which the provider signs the person out; null where it offers none. */
  findSignOut(provider: ProviderAccess, comesBackTo: string): Promise<string | null>;
  /** Verifies a logout token by the keys that the provider has now. */
  readLogout(provider: ProviderAccess, token: string): Promise<ReportedLogout>;
}

/**
 * Creates the client: authorization codes with PKCE (S256), state, nonce and the issuer in the answer. Each sign-in
 * fetches the provider's keys anew, so keys that were rotated count at once; its metadata is remembered for a minute.
 */
export function createOpenIdClient(clock: Clock, fetchProvider: ProviderFetch): OpenIdClient {
  const timeoutSeconds = (): number => limitBy(clock, TIMEOUT_SECONDS);
  const discoveries = new Map<string, { readonly at: number; readonly metadata: Promise<ServerMetadata> }>();

  const discover = async (issuer: string): Promise<ServerMetadata> => {
    const now = clock.now().epochMilliseconds;
    const remembered = discoveries.get(issuer);
    if (remembered !== undefined && now - remembered.at < DISCOVERY_MS) return await remembered.metadata;
    if (discoveries.size >= DISCOVERIES_MAX) discoveries.clear();
    const metadata = readExactly(issuer, fetchProvider, timeoutSeconds());
    discoveries.set(issuer, { at: now, metadata });
    // A failure is not remembered: the provider may be right again at the next try.
    metadata.catch(() => discoveries.delete(issuer));
    return await metadata;
  };

  const configure = (metadata: ServerMetadata, clientId: string, clientSecret: string): Configuration => {
    const skew = Math.round((clock.now().epochMilliseconds - Date.now()) / 1_000);
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const auth = methods.includes('client_secret_basic')
      ? ClientSecretBasic(clientSecret)
      : ClientSecretPost(clientSecret);
    const times = { [clockSkew]: skew, [clockTolerance]: TOLERANCE_SECONDS };
    const configuration = new Configuration({ ...metadata }, clientId, times, auth);
    configuration.timeout = timeoutSeconds();
    enableNonRepudiationChecks(configuration);
    return configuration;
  };

  return {
    findIssuer: async (issuer) => (await readMetadata(issuer, fetchProvider, timeoutSeconds())).issuer,

    async begin({ issuer, clientId }, { redirectUri, scope, keys }) {
      const metadata = await discover(issuer);
      const url = buildAuthorizationUrl(new Configuration(metadata, clientId), {
        redirect_uri: redirectUri,
        scope,
        response_type: 'code',
        state: keys.state,
        nonce: keys.nonce,
        code_challenge: await calculatePKCECodeChallenge(keys.verifier),
        code_challenge_method: 'S256',
      });
      return url.href;
    },

    async findSignOut({ issuer, clientId }, comesBackTo) {
      const metadata = await discover(issuer);
      const endpoint = metadata.end_session_endpoint;
      if (endpoint === undefined || !URL.canParse(endpoint) || new URL(endpoint).protocol !== 'https:') return null;
      const parameters = { post_logout_redirect_uri: comesBackTo };
      return buildEndSessionUrl(new Configuration(metadata, clientId), parameters).href;
    },

    async readLogout({ issuer, clientId }, token) {
      const { jwks_uri: address = '', id_token_signing_alg_values_supported: accepted } = await discover(issuer);
      try {
        const nowSeconds = clock.now().epochMilliseconds / 1_000;
        // Whatever is no token for this client now costs the provider no request.
        const unchecked = readLogoutToken(token, { issuer, clientId, algorithms: new Set(accepted), nowSeconds });
        const answer = await fetchProvider(address, { signal: AbortSignal.timeout(timeoutSeconds() * 1_000) });
        const { keys } = (await answer.json()) as { keys?: unknown };
        if (!Array.isArray(keys) || !unchecked.isSignedBy(keys)) throw new Error('no key of the provider signed it');
        return unchecked.logout;
      } catch (error) {
        throw new ProviderSignInError('not_verified', error);
      }
    },

    async finish({ issuer, clientId }, { address, clientSecret, keys, wanted }) {
      const metadata = await discover(issuer);
      requireOwnIssuer(metadata, address);
      const configuration = configure(metadata, clientId, clientSecret);
      let isAway = false;
      configuration[customFetch] = async (url, options) => {
        return await fetchProvider(url, options).catch((error: unknown) => {
          isAway = true;
          throw error;
        });
      };
      try {
        const tokens = await authorizationCodeGrant(configuration, address, {
          pkceCodeVerifier: keys.verifier,
          expectedState: keys.state,
          expectedNonce: keys.nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new Error('the token endpoint sent no ID token');
        requireForUsNow(claims, clientId, clock);
        const lacks = wanted.some((claim) => claims[claim] === undefined);
        if (!lacks || metadata.userinfo_endpoint === undefined) return claims;
        return withUserInfo(claims, await fetchUserInfo(configuration, tokens.access_token, claims.sub));
      } catch (error) {
        if (isAway) throw new ProviderSignInError('provider_away', error);
        if (error instanceof AuthorizationResponseError) throw new ProviderSignInError('provider_refused', error);
        if (error instanceof ResponseBodyError) throw new ProviderSignInError('code_refused', error);
        throw new ProviderSignInError('not_verified', error);
      }
    },
  };
}

/** The issuer was kept as the provider spelt it; one that is spelt otherwise by now is another one. */
async function readExactly(
  issuer: string,
  fetchProvider: ProviderFetch,
  timeoutSeconds: number,
): Promise<ServerMetadata> {
  const metadata = await readMetadata(issuer, fetchProvider, timeoutSeconds);
  if (metadata.issuer !== issuer) throw new ProviderSignInError('provider_away');
  return metadata;
}

async function readMetadata(
  issuer: string,
  fetchProvider: ProviderFetch,
  timeoutSeconds: number,
): Promise<ServerMetadata> {
  try {
    const options = { [customFetch]: fetchProvider, timeout: timeoutSeconds };
    const discovered = await discovery(new URL(issuer), 'unused', undefined, undefined, options);
    const { supportsPKCE: _method, ...metadata } = discovered.serverMetadata();
    // The library takes other spellings, and Microsoft's pattern for all its customers.
    if (metadata.issuer !== issuer && metadata.issuer !== `${issuer}/` && `${metadata.issuer}/` !== issuer) {
      throw new Error('the provider names another issuer');
    }
    for (const endpoint of [metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri]) {
      if (endpoint === undefined || new URL(endpoint).protocol !== 'https:')
        throw new Error('an endpoint is not https');
    }
    const algorithms = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
    const accepted = algorithms.filter((algorithm) => ALGORITHMS.has(algorithm));
    if (accepted.length === 0) throw new Error('the provider has no algorithm that is accepted');
    return { ...metadata, id_token_signing_alg_values_supported: accepted };
  } catch (error) {
    throw new ProviderSignInError('provider_away', error);
  }
}

/** Refuses an answer of another provider than the one that was asked (RFC 9207). */
function requireOwnIssuer(metadata: ServerMetadata, { searchParams }: URL): void {
  const issuer = searchParams.get('iss');
  const isExpected = metadata.authorization_response_iss_parameter_supported === true;
  if (issuer === null ? isExpected : issuer !== metadata.issuer) throw new ProviderSignInError('other_provider');
}

function requireForUsNow(claims: Claims, clientId: string, clock: Clock): void {
  if (claims['azp'] !== undefined && claims['azp'] !== clientId) throw new Error('the ID token is for another client');
  const issuedAt = claims['iat'];
  const now = clock.now().epochMilliseconds / 1_000;
  if (typeof issuedAt === 'number' && issuedAt > now + AHEAD_SECONDS_MAX) {
    throw new Error('the ID token is issued in the future');
  }
}
