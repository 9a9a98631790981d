import { isIPv4, isIPv6 } from 'node:net';

import { type Static, type TSchema, Type } from 'typebox';
import { Check } from 'typebox/value';

import { findPublicUrlFault, findUrlFault } from '#kernel/url_fault.ts';

/** A setting: the variable that holds it, its purpose, and the allowed values in words. */
export interface Setting<Schema extends TSchema = TSchema> {
  readonly variable: string;
  /** Purpose in Markdown, for the table of the README, which is made of these declarations. */
  readonly purpose: string;
  readonly allowed: string;
  readonly schema: Schema;
  readonly fallback?: string;
  /** Effect while it is not set, in a word or two. */
  readonly unset?: string;
  /** The variable that cannot be set without this one. */
  readonly requiredWith?: string;
  /** Returns the fault of a value that fits the schema, in words that do not repeat the value; null for none. */
  readonly findFault?: (value: string) => string | null;
  /** Whether it may be in a file instead, which the variable with `_FILE` at its end names. */
  readonly isSecret?: true;
}

type More = Pick<Setting, 'unset' | 'requiredWith' | 'isSecret' | 'findFault'>;

const setting = <Schema extends TSchema>(declaration: Setting<Schema>): Setting<Schema> => declaration;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const optionalUrl = (variable: string, schemes: readonly string[], purpose: string, more: More = {}) =>
  setting({
    variable,
    purpose,
    allowed: `a URL beginning with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    schema: Type.Optional(Type.String({ pattern: `^(${schemes.join('|')})://.` })),
    findFault: findUrlFault,
    ...more,
  });

const amount = (variable: string, fallback: string, purpose: string) =>
  setting({
    variable,
    purpose,
    allowed: 'a whole number from 0 to 1000000000',
    schema: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
    fallback,
  });

export const optionalText = (variable: string, pattern: string, allowed: string, purpose: string, more: More = {}) =>
  setting({ variable, purpose, allowed, schema: Type.Optional(Type.String({ pattern })), ...more });

/** The settings of every process. Those of the channels are declared with them (`notify/registry.ts`). */
export const CORE_SETTINGS = {
  port: setting({
    variable: 'PORT',
    purpose: 'port of the API and the console',
    allowed: 'a port, 0 to 65535',
    schema: Type.Integer({ minimum: 0, maximum: 65_535 }),
    fallback: '3000',
  }),
  host: setting({
    variable: 'HOST',
    purpose: 'address to listen on',
    allowed: 'a host name or address',
    schema: Type.String({ minLength: 1 }),
    fallback: '127.0.0.1',
  }),
  baseUrl: optionalUrl(
    'BASE_URL',
    ['http', 'https'],
    'public address, for links, DSNs and call-backs. Required when others are to reach this machine (`HOST` 0.0.0.0)',
    { unset: '`http://HOST:PORT`', findFault: findPublicUrlFault },
  ),
  dataDir: setting({
    variable: 'DATA_DIR',
    purpose: 'folder of the embedded stores and of generated secrets',
    allowed: 'a path',
    schema: Type.String({ minLength: 1 }),
    fallback: '.data',
  }),
  auditStreamFolder: optionalText(
    'AUDIT_STREAM_FOLDER',
    '.',
    'a path',
    'folder in which workers write the audit logs of organizations whose owners stream them to a file; on several machines, a folder that they share',
    { unset: 'no files' },
  ),
  appSecret: optionalText(
    'APP_SECRET',
    '^.{32,}$',
    'at least 32 characters',
    'encrypts ingestion keys and waiting events, and signs links. Required with `DATABASE_URL`, at least 32 characters',
    { unset: 'generated', requiredWith: 'DATABASE_URL', isSecret: true },
  ),
  databaseUrl: optionalUrl('DATABASE_URL', ['postgres', 'postgresql'], 'PostgreSQL 14 or newer', {
    unset: 'embedded',
    requiredWith: 'DIRECT_DATABASE_URL',
    isSecret: true,
  }),
  directDatabaseUrl: optionalUrl(
    'DIRECT_DATABASE_URL',
    ['postgres', 'postgresql'],
    'PostgreSQL itself, when `DATABASE_URL` is a pooler in transaction mode such as pgbouncer',
    { isSecret: true },
  ),
  databaseCaFile: optionalText(
    'DATABASE_CA_FILE',
    '.',
    'a path',
    'file with the authority (PEM) that signed the certificate of PostgreSQL; the connection is then encrypted, and the certificate checked',
    { unset: 'no TLS' },
  ),
  redisUrl: optionalText(
    'REDIS_URL',
    '^rediss?(\\+(sentinel|cluster))?://.',
    'redis://host:6379, redis+sentinel://host:26379,host:26379/master or redis+cluster://host:6379,host:6379',
    'Redis or Valkey for the queue: `redis://host:6379`, `redis+sentinel://host:26379,host:26379/master` or `redis+cluster://host:6379,host:6379`, `rediss` with TLS; it must not evict. When Redis loses its data, nothing is lost',
    { unset: 'in PostgreSQL', isSecret: true },
  ),
  redisCaFile: optionalText(
    'REDIS_CA_FILE',
    '.',
    'a path',
    'file with the authority (PEM) that signed the certificate of Redis, for `rediss`',
    { unset: 'those of Node' },
  ),
  clickhouseUrl: optionalUrl(
    'CLICKHOUSE_URL',
    ['http', 'https'],
    'ClickHouse over HTTP: `http://user:password@host:8123/database`. Of a cluster, name several servers (`host:8123,host:8123`): one that fails is left alone for a while',
    { unset: 'embedded', isSecret: true, requiredWith: 'CLICKHOUSE_CLUSTER' },
  ),
  clickhouseCluster: optionalText(
    'CLICKHOUSE_CLUSTER',
    '^[\\w.-]{1,100}$',
    'letters, digits, _, . and -',
    'name of the ClickHouse cluster (`remote_servers`) over which the tables are spread; not for ClickHouse Cloud, which replicates by itself',
    { unset: 'one server' },
  ),
  clickhouseCaFile: optionalText(
    'CLICKHOUSE_CA_FILE',
    '.',
    'a path',
    'file with the authority (PEM) that signed the certificate of ClickHouse, for `https`',
    { unset: 'those of Node' },
  ),
  trustedProxies: optionalText(
    'TRUSTED_PROXIES',
    '^[0-9a-fA-F.:/]+( *, *[0-9a-fA-F.:/]+)*$',
    'addresses or networks such as 10.0.0.1 or 10.0.0.0/8, separated by commas',
    'addresses or networks (a,b/24) of reverse proxies whose `X-Forwarded-For` is trusted, or `Forwarded` without it. Without it, everybody behind a proxy counts as one address in the limits',
    { findFault: findNetworksFault },
  ),
  heartbeatUrl: optionalUrl(
    'HEARTBEAT_URL',
    ['http', 'https'],
    'called once a minute while people are paged in time, so that a watchdog elsewhere notices when they are not (`/healthz` says how late pages are)',
    { isSecret: true },
  ),
  otlpGrpcPort: setting({
    variable: 'OTLP_GRPC_PORT',
    purpose:
      'port on which API processes take metrics by OTLP over gRPC (usually 4317), without TLS: let a proxy add it; 0 for none',
    allowed: 'a port, 0 to 65535',
    schema: Type.Integer({ minimum: 0, maximum: 65_535 }),
    fallback: '0',
  }),
  ingestTunnelPath: optionalText(
    'INGEST_TUNNEL_PATH',
    '^/(?!api/|docs(?:/|$)|assets/)[A-Za-z0-9_][A-Za-z0-9_/-]{1,99}$',
    'a path such as /reports, not below /api',
    'a further address for browsers (option `tunnel` of a Sentry SDK), under a name that no ad blocker knows; `/api/ingest/envelope` is always one',
  ),
  statsdPort: setting({
    variable: 'STATSD_PORT',
    purpose:
      'UDP port on which API processes take metrics by StatsD (usually 8125): only for networks that you trust; 0 for none',
    allowed: 'a port, 0 to 65535',
    schema: Type.Integer({ minimum: 0, maximum: 65_535 }),
    fallback: '0',
  }),
  statsdIngestionKey: optionalText(
    'STATSD_INGESTION_KEY',
    '^\\S+$',
    'an ingestion key',
    'ingestion key of the service that lines without the tag `ingestion_key` belong to',
    { unset: 'such lines are dropped', isSecret: true },
  ),
  statsdSignedGauges: setting({
    variable: 'STATSD_SIGNED_GAUGES',
    purpose:
      "what `x:+2|g` and `x:-5|g` mean: `change` changes the gauge, as etsy's StatsD does; `set` sets it to +2 or -5, as DogStatsD does",
    allowed: 'change or set',
    schema: Type.Enum(['change', 'set']),
    fallback: 'change',
  }),
  mailInPort: setting({
    variable: 'MAIL_IN_PORT',
    purpose:
      'port on which API processes take alerts by mail (SMTP, usually 25), for addresses that are alert keys, and for no others; 0 for none',
    allowed: 'a port, 0 to 65535',
    schema: Type.Integer({ minimum: 0, maximum: 65_535 }),
    fallback: '0',
  }),
  mailInHost: optionalText('MAIL_IN_HOST', '^\\S+$', 'a host name or address', 'address on which that port is open', {
    unset: 'as `HOST`',
  }),
  mailInDomain: optionalText(
    'MAIL_IN_DOMAIN',
    '^[A-Za-z0-9.-]{1,253}$',
    'a domain',
    'domain of the addresses for alerts by mail',
    { unset: 'host of `BASE_URL`' },
  ),
  mailInCertFile: optionalText(
    'MAIL_IN_CERT_FILE',
    '.',
    'a path',
    'file with the certificate (PEM) that the port for mail shows after STARTTLS',
    { unset: 'no TLS', requiredWith: 'MAIL_IN_KEY_FILE' },
  ),
  mailInKeyFile: optionalText('MAIL_IN_KEY_FILE', '.', 'a path', 'file with the key (PEM) of that certificate', {
    unset: 'no TLS',
    requiredWith: 'MAIL_IN_CERT_FILE',
  }),
  sourceMapDays: amount(
    'SOURCE_MAP_DAYS',
    '90',
    'days after which source maps that nobody uploaded again and no event needed are deleted',
  ),
  stopSeconds: setting({
    variable: 'STOP_SECONDS',
    purpose:
      'how long a process that is told to stop (SIGTERM) may take to end what it has begun; then others take it over. Give it less than the time after which your supervisor kills',
    allowed: 'a whole number from 1 to 600',
    schema: Type.Integer({ minimum: 1, maximum: 600 }),
    fallback: '15',
  }),
  metricsToken: optionalText(
    'METRICS_TOKEN',
    '^\\S{16,}$',
    'at least 16 characters without a space',
    'bearer token for `/metrics` on the public port, at least 16 characters. Without it, `/metrics` is closed there',
    { isSecret: true },
  ),
  metricsPort: setting({
    variable: 'METRICS_PORT',
    purpose:
      'port of a separate listener of an API, worker or pager process for `/metrics`, `/livez` and `/readyz`, without a token; 0 for none',
    allowed: 'a port, 0 to 65535',
    schema: Type.Integer({ minimum: 0, maximum: 65_535 }),
    fallback: '0',
  }),
  metricsHost: setting({
    variable: 'METRICS_HOST',
    purpose: 'address of that listener',
    allowed: 'a host name or address',
    schema: Type.String({ minLength: 1 }),
    fallback: '127.0.0.1',
  }),
  firstOrganization: setting({
    variable: 'FIRST_ORGANIZATION',
    purpose: 'name of the organization that is created when there is none',
    allowed: 'a name of at most 100 characters',
    schema: Type.String({ minLength: 1, maxLength: 100 }),
    fallback: 'My organization',
  }),
  firstOwnerEmail: optionalText(
    'FIRST_OWNER_EMAIL',
    '^[^@\\s]+@[^@\\s]+$',
    'a mail address',
    'its owner, whom `tocsin migrate` or the first API process creates; required with `FIRST_OWNER_PASSWORD`',
    { unset: 'owner@localhost', requiredWith: 'FIRST_OWNER_PASSWORD' },
  ),
  firstOwnerPassword: optionalText(
    'FIRST_OWNER_PASSWORD',
    '^.{12,}$',
    'at least 12 characters',
    'at least 12 characters. Without it `npm start` writes `first-run.json`, and a process on its own creates nobody',
    { unset: 'generated', requiredWith: 'FIRST_OWNER_EMAIL', isSecret: true },
  ),
  allowInternalAddresses: setting({
    variable: 'ALLOW_INTERNAL_ADDRESSES',
    purpose:
      'true allows push services, documents of apps and sign-in providers on addresses that are not public, for trials on one machine and for providers in your own network',
    allowed: 'true or false',
    schema: Type.Enum(['true', 'false']),
    fallback: 'false',
  }),
  dnsServers: optionalText(
    'DNS_SERVERS',
    '^[0-9a-fA-F.:\\[\\]]+( *, *[0-9a-fA-F.:\\[\\]]+)*$',
    'addresses such as 192.0.2.53 or 192.0.2.53:5353, separated by commas',
    'resolvers that are asked for the TXT records by which organizations prove their mail domains',
    { unset: 'those of the machine' },
  ),
  backupKey: optionalText(
    'BACKUP_KEY',
    '^.{16,}$',
    'at least 16 characters',
    '`tocsin backup` encrypts with it, and `tocsin restore` needs it then; at least 16 characters',
    { isSecret: true },
  ),
  logLevel: setting({
    variable: 'LOG_LEVEL',
    purpose: 'trace, debug, info, warn, error, fatal or silent',
    allowed: `one of ${LOG_LEVELS.join(', ')}`,
    schema: Type.Enum(LOG_LEVELS),
    fallback: 'info',
  }),
};

/** Returns what is wrong with a list of addresses and networks; null for nothing. */
function findNetworksFault(list: string): string | null {
  const wrong = list.split(',').find((entry) => {
    const [address = '', prefix = '0', ...more] = entry.trim().split('/');
    const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1;
    return more.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits;
  });
  return wrong === undefined ? null : `has "${wrong.trim()}", which is no address and no network such as 10.0.0.0/8`;
}

type Declared = Readonly<Record<string, Setting>>;

/** The settings as the program uses them. */
export type ValuesOf<Settings extends Declared> = { readonly [Name in keyof Settings]: ValueOf<Settings[Name]> };
type ValueOf<S> = S extends { schema: infer Schema extends TSchema } ? MaybeUnset<Schema> : never;
type MaybeUnset<Schema extends TSchema> = Schema extends { '~optional': true }
  ? Static<Schema> | undefined
  : Static<Schema>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the variables of the process; the only place that reads them. */
export const processEnvironment = (): Environment => process.env;

/** Error that names every fault of the environment at once, and never a value, for it may be a secret. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    const [only = '', ...others] = faults;
    super(
      others.length === 0
        ? only
        : `These settings are not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/** Reads every setting once. Throws a ConfigError that names each variable that is missing or wrong. */
export function readSettings<Settings extends Declared>(
  settings: Settings,
  environment: Environment,
): ValuesOf<Settings> {
  const faults: string[] = [];
  const values = Object.fromEntries(
    Object.entries(settings).map(([name, { variable, fallback, allowed, schema, requiredWith, findFault }]) => {
      const text = environment[variable] || fallback;
      const value = text !== undefined && 'minimum' in schema && /^\d+$/.test(text) ? Number(text) : text;
      if (text !== undefined && !Check(schema, value)) faults.push(`${variable} must be ${allowed}`);
      else if (text !== undefined)
        faults.push(...[findFault?.(text)].flatMap((fault) => (fault ? `${variable} ${fault}` : [])));
      if (text === undefined && requiredWith !== undefined && environment[requiredWith]) {
        faults.push(`${variable} is required with ${requiredWith}`);
      }
      return [name, value];
    }),
  );
  if (faults.length > 0) throw new ConfigError(faults);
  return values as ValuesOf<Settings>;
}
