import { errors } from 'oidc-provider';

import { LOOPBACK_NAMES } from '#kernel/url_fault.ts';

/** Scopes that a connection may be granted: to read, and also to change. */
export const SCOPES = ['mcp:read', 'mcp:write'] as const;

/** Both scopes, as text for a challenge and a registration. */
export const ALL_SCOPES = SCOPES.join(' ');

/** Scope that may also be requested; a refresh token is issued with or without it. */
export const OFFLINE_SCOPE = 'offline_access';

/** Methods by which a client authenticates at the token endpoint. */
export const CLIENT_AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;

export const CLIENT_SIGNING_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;

/** Returns the metadata of the authorization server (RFC 8414). */
export function authorizationServerMetadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: issuer + OAUTH_PATHS.authorization,
    token_endpoint: issuer + OAUTH_PATHS.token,
    registration_endpoint: issuer + OAUTH_PATHS.registration,
    revocation_endpoint: issuer + OAUTH_PATHS.revocation,
    scopes_supported: [...SCOPES, OFFLINE_SCOPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'fragment', 'form_post'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: CLIENT_SIGNING_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: CLIENT_SIGNING_ALGORITHMS,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}

/** Returns `authorizationServerMetadata` with the fields that OpenID Connect requires. No ID token is ever issued. */
export function openIdMetadata(issuer: string): object {
  return {
    ...authorizationServerMetadata(issuer),
    jwks_uri: issuer + OAUTH_PATHS.jwks,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['EdDSA'],
  };
}

/** Paths of the authorization server, below the base URL. */
export const OAUTH_PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
} as const;

/**
 * Returns the known scopes of an authorization request. Clients that leave the scope out, or ask for none that is
 * known, mean all there are: the person decides on the page.
 */
export function requestedScope(text: unknown): string {
  const asked = typeof text === 'string' ? text.split(' ') : [];
  const named = SCOPES.filter((scope) => asked.includes(scope));
  const scopes = named.length === 0 ? SCOPES : named;
  return [...scopes, ...(asked.includes(OFFLINE_SCOPE) ? [OFFLINE_SCOPE] : [])].join(' ');
}

export function mayChange(scope: string): boolean {
  return scope.split(' ').includes('mcp:write');
}

/** Metadata of a client as it sent them, at registration or in its document; not validated. */
export type ClientMetadata = Record<string, unknown>;

const REDIRECT_URIS_MAX = 20;
const URI_LENGTH_MAX = 2_000;
const NAME_LENGTH_MAX = 100;

/**
 * Fields of OpenID Connect, and of pages that are not shown. They have no use here, and some would make the provider
 * reject the client.
 */
const IGNORED_FIELDS = [
  'contacts',
  'default_acr_values',
  'default_max_age',
  'initiate_login_uri',
  'logo_uri',
  'policy_uri',
  'require_auth_time',
  'response_modes',
  'sector_identifier_uri',
  'subject_type',
  'tos_uri',
];

/**
 * Changes what real clients send into metadata that the provider accepts, in place: many leave out the application type, ask
 * for scopes and grants that do not exist, and add fields of OpenID Connect. Throws `invalid_redirect_uri` where a code would
 * be sent to another machine unencrypted, or to whatever program opens addresses of a common scheme.
 */
export function normalizeClient(metadata: ClientMetadata): void {
  const uris = redirectUrisOf(metadata);
  metadata['application_type'] = uris.every(({ protocol }) => protocol === 'https:') ? 'web' : 'native';
  metadata['grant_types'] = ['authorization_code', 'refresh_token'];
  metadata['response_types'] = ['code'];
  // The app may have to ask for more scopes later, when a change is refused (step-up).
  metadata['scope'] = `${ALL_SCOPES} ${OFFLINE_SCOPE}`;
  for (const name of IGNORED_FIELDS) delete metadata[name];
  normalizeNames(metadata);
  normalizeAuthMethod(metadata);
}

/** Whether a redirect leads back to the machine of the person, over any port. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK_NAMES.includes(hostname);
}

function redirectUrisOf({ redirect_uris: uris }: ClientMetadata): URL[] {
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > REDIRECT_URIS_MAX) {
    throw new errors.InvalidRedirectUri(`redirect_uris must hold 1 to ${REDIRECT_URIS_MAX} addresses`);
  }
  return uris.map((uri: unknown) => {
    const url = typeof uri === 'string' && uri.length <= URI_LENGTH_MAX ? URL.parse(uri) : null;
    if (url === null || !mayReceiveCodes(url) || url.username !== '' || url.password !== '') {
      throw new errors.InvalidRedirectUri(
        'redirect_uris must be https, http on a loopback address, or of a scheme of the app’s own with a dot in it, such as com.example.app:/callback, without a user',
      );
    }
    return url;
  });
}

/** Private scheme of an app: a domain of its maker in reverse (RFC 8252, 7.1). Schemes without a dot belong to other programs. */
const OWN_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;
/** Schemes without a dot of editors that connect over MCP, and have no other way back. */
const SCHEMES_OF_EDITORS = new Set(['cursor:', 'vscode:', 'vscode-insiders:', 'windsurf:']);

function mayReceiveCodes(url: URL): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:'
    ? isLoopback(url)
    : OWN_SCHEME.test(url.protocol) || SCHEMES_OF_EDITORS.has(url.protocol);
}

function normalizeNames(metadata: ClientMetadata): void {
  const { client_name: name, client_uri: uri, software_id: software } = metadata;
  metadata['client_name'] = typeof name === 'string' ? shownName(name) : '';
  if (metadata['client_name'] === '') delete metadata['client_name'];
  if (typeof uri !== 'string' || uri.length > URI_LENGTH_MAX || URL.parse(uri)?.protocol !== 'https:') {
    delete metadata['client_uri'];
  }
  if (typeof software !== 'string' || software.length > NAME_LENGTH_MAX) delete metadata['software_id'];
}

/**
 * Returns the name without characters that could make it look like another one: control characters, and those that
 * change the direction of text.
 */
function shownName(name: string): string {
  return name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, NAME_LENGTH_MAX);
}

/** PKCE protects the code anyway, so an unknown authentication method is replaced by `none`. */
function normalizeAuthMethod(metadata: ClientMetadata): void {
  const asked = metadata['token_endpoint_auth_method'];
  const hasKeys = metadata['jwks'] !== undefined || metadata['jwks_uri'] !== undefined;
  const method = CLIENT_AUTH_METHODS.find((candidate) => candidate === asked) ?? 'none';
  metadata['token_endpoint_auth_method'] = method === 'private_key_jwt' && !hasKeys ? 'none' : method;
  if (metadata['token_endpoint_auth_method'] !== 'private_key_jwt') {
    for (const name of ['jwks', 'jwks_uri', 'token_endpoint_auth_signing_alg']) delete metadata[name];
  }
  if (!String(metadata['token_endpoint_auth_method']).startsWith('client_secret')) {
    for (const name of ['client_secret', 'client_secret_expires_at']) delete metadata[name];
  }
}
