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

/** Returns that metadata with the fields that OpenID Connect requires. No token is issued that identifies a person. */
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
