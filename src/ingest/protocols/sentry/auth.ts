/** Header names in lower case, as Node gives them. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;
export type Query = Readonly<Record<string, unknown>>;

/** A DSN's public part: `https://{publicKey}@host[/prefix]/{projectId}`. */
export interface Dsn {
  readonly publicKey: string;
  readonly projectId: string | null;
}

const PUBLIC_KEY = /^[0-9a-f]{32}$/;

/**
 * The DSN key outside the body, so that a request can be refused before its body is read: `X-Sentry-Auth`, then
 * `Authorization: Sentry …`, then `?sentry_key=`. What is no key at all is passed over. Null leaves only the envelope.
 */
export function sentryKeyOf(headers: Headers, query: Query): string | null {
  return (
    toPublicKey(authParameters(single(headers['x-sentry-auth'])).get('sentry_key')) ??
    toPublicKey(sentryAuthorization(headers).get('sentry_key')) ??
    toPublicKey(query['sentry_key'])
  );
}

/** Returns the name that the client sends with the key, such as `sentry.python/1.9.10`; null if there is none. */
export function sentryClientOf(headers: Headers, query: Query): string | null {
  const inHeader = authParameters(single(headers['x-sentry-auth'])).get('sentry_client');
  const client = inHeader ?? sentryAuthorization(headers).get('sentry_client') ?? query['sentry_client'];
  return typeof client === 'string' && client !== '' ? client : null;
}

/** Returns when an older client claims to have sent the request, in seconds since 1970; undefined if it does not. */
export function sentryTimeOf(headers: Headers, query: Query): unknown {
  const inHeader = authParameters(single(headers['x-sentry-auth'])).get('sentry_timestamp');
  return inHeader ?? sentryAuthorization(headers).get('sentry_timestamp') ?? query['sentry_timestamp'];
}

/** The `dsn` of an envelope's header. Null for what is no DSN. */
export function parseDsn(dsn: unknown): Dsn | null {
  if (typeof dsn !== 'string' || dsn.length > 1_000 || !URL.canParse(dsn)) return null;
  const url = new URL(dsn);
  const publicKey = toPublicKey(url.username);
  const projectId = url.pathname.split('/').findLast((segment) => segment !== '') ?? '';
  return publicKey === null ? null : { publicKey, projectId: /^\d{1,16}$/.test(projectId) ? projectId : null };
}

function toPublicKey(candidate: unknown): string | null {
  const key = typeof candidate === 'string' ? candidate.trim().toLowerCase() : '';
  return PUBLIC_KEY.test(key) ? key : null;
}

function sentryAuthorization(headers: Headers): ReadonlyMap<string, string> {
  const authorization = single(headers['authorization']) ?? '';
  return authParameters(/^sentry\s/i.test(authorization) ? authorization : undefined);
}

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

/** Parses `Sentry sentry_version=7, sentry_key=…`, with or without the scheme, the blanks and quotes. */
function authParameters(header: string | undefined): ReadonlyMap<string, string> {
  if (header === undefined) return NO_PARAMETERS;
  const pairs = header
    .slice(0, 2_000)
    .replace(/^\s*sentry\s/i, '')
    .split(',');
  return new Map(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim().toLowerCase(), value.join('=').trim().replaceAll('"', '')];
    }),
  );
}

function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header[0] : header;
}
