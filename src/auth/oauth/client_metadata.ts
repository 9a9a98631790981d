import { errors } from 'oidc-provider';

import { ALL_SCOPES, CLIENT_AUTH_METHODS, OFFLINE_SCOPE } from '#auth/oauth/metadata.ts';
import { LOOPBACK_NAMES } from '#kernel/url_fault.ts';

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
