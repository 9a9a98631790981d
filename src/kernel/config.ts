import { Type, type Static, type TSchema } from 'typebox';
import { Check } from 'typebox/value';

/** One setting: the variable that holds it, what it is for, and in words what may stand in it. */
interface Setting<Schema extends TSchema> {
  readonly variable: string;
  readonly purpose: string;
  readonly allowed: string;
  readonly schema: Schema;
  readonly fallback?: string;
}

const setting = <Schema extends TSchema>(declaration: Setting<Schema>): Setting<Schema> => declaration;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const optionalUrl = (variable: string, schemes: readonly string[], purpose: string) =>
  setting({
    variable,
    purpose,
    allowed: `a URL beginning with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    schema: Type.Optional(Type.String({ pattern: `^(${schemes.join('|')})://.` })),
  });

const amount = (variable: string, fallback: string, purpose: string) =>
  setting({
    variable,
    purpose,
    allowed: 'a whole number from 0 to 1000000000',
    schema: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
    fallback,
  });

const optionalText = (variable: string, pattern: string, allowed: string, purpose: string) =>
  setting({ variable, purpose, allowed, schema: Type.Optional(Type.String({ pattern })) });

/** Every setting of the product. A test holds the README's table to this one. */
export const SETTINGS = {
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
  baseUrl: optionalUrl('BASE_URL', ['http', 'https'], 'public address, for links, DSNs and call-backs'),
  dataDir: setting({
    variable: 'DATA_DIR',
    purpose: 'folder of the embedded stores and of generated secrets',
    allowed: 'a path',
    schema: Type.String({ minLength: 1 }),
    fallback: '.data',
  }),
  appSecret: optionalText(
    'APP_SECRET',
    '^.{32,}$',
    'at least 32 characters',
    'encrypts ingestion keys and signs links; generated in the data folder when PostgreSQL is embedded',
  ),
  databaseUrl: optionalUrl('DATABASE_URL', ['postgres', 'postgresql'], 'PostgreSQL 14 or newer; embedded when unset'),
  redisUrl: optionalUrl('REDIS_URL', ['redis', 'rediss'], 'Redis for the queue; PostgreSQL holds it when unset'),
  clickhouseUrl: optionalUrl('CLICKHOUSE_URL', ['http', 'https'], 'ClickHouse over HTTP; embedded when unset'),
  clickhouseCluster: optionalText(
    'CLICKHOUSE_CLUSTER',
    '^[A-Za-z0-9_]+$',
    'letters, digits and _',
    'name of the ClickHouse cluster that is to hold replicated tables',
  ),
  twilioAccountSid: optionalText(
    'TWILIO_ACCOUNT_SID',
    '^AC[0-9a-fA-F]{32}$',
    'AC and 32 hexadecimal digits',
    'account for SMS and calls; the phone simulator when unset',
  ),
  twilioAuthToken: optionalText('TWILIO_AUTH_TOKEN', '^.+$', 'the token of the account', 'secret of that account'),
  twilioFrom: optionalText(
    'TWILIO_FROM',
    '^\\+[1-9][0-9]{1,14}$',
    'an E.164 number such as +15005550006',
    'number that messages and calls come from',
  ),
  twilioApiBase: optionalUrl('TWILIO_API_BASE', ['http', 'https'], 'another address for the API of Twilio'),
  smtpUrl: optionalUrl('SMTP_URL', ['smtp', 'smtps'], 'mail server'),
  mailFrom: optionalText('MAIL_FROM', '^.+@.+$', 'a mail address', 'sender of mail'),
  trustedProxies: optionalText(
    'TRUSTED_PROXIES',
    '^[0-9a-fA-F.:/]+( *, *[0-9a-fA-F.:/]+)*$',
    'addresses or networks such as 10.0.0.1 or 10.0.0.0/8, separated by commas',
    'reverse proxies whose X-Forwarded-For is trusted, so that clients behind them are distinguished',
  ),
  heartbeatUrl: optionalUrl(
    'HEARTBEAT_URL',
    ['http', 'https'],
    'asked for every minute while pages leave in time, so that a watchdog elsewhere notices when they do not',
  ),
  ingestPointsPerSecond: amount(
    'INGEST_POINTS_PER_SECOND',
    '1000000',
    'metric points that one service may send to one API process, a second on average; 0 for no limit',
  ),
  ingestEventsPerSecond: amount(
    'INGEST_EVENTS_PER_SECOND',
    '2000',
    'exceptions that one service may send to one API process, a second on average; 0 for no limit',
  ),
  ingestSeriesPerDay: amount(
    'INGEST_SERIES_PER_DAY',
    '1000000',
    'series that one service may have a day (UTC), points of further ones are refused; 0 for no limit',
  ),
  ingestDiskMegabytes: amount(
    'INGEST_DISK_MEGABYTES',
    '0',
    'free space on the disk of DATA_DIR below which metrics and exceptions are refused; 0 for no limit. "npm start" sets 128 where it runs PostgreSQL',
  ),
  ingestQueueMegabytes: amount(
    'INGEST_QUEUE_MEGABYTES',
    '2048',
    'what may wait in the queue to be stored; 0 for no limit',
  ),
  newGroupsPerMinute: amount(
    'NEW_GROUPS_PER_MINUTE',
    '100',
    'exception groups that one service may begin a minute; events of further ones go to one group; 0 for no limit',
  ),
  incidentsPerService: amount(
    'INCIDENTS_PER_SERVICE',
    '20',
    'incidents that one service may open for exceptions, and as many for metrics, before one stands for the rest; 0 for no limit',
  ),
  incidentsPerServiceMinutes: setting({
    variable: 'INCIDENTS_PER_SERVICE_MINUTES',
    purpose: 'the minutes that INCIDENTS_PER_SERVICE counts over',
    allowed: 'a whole number from 1 to 1440',
    schema: Type.Integer({ minimum: 1, maximum: 1_440 }),
    fallback: '5',
  }),
  callsPerMinute: amount(
    'CALLS_PER_MINUTE',
    '6000',
    'calls that one key, connected app or person may make to one API process, a minute on average; 0 for no limit',
  ),
  answerMegabytesPerMinute: amount(
    'ANSWER_MEGABYTES_PER_MINUTE',
    '256',
    'what one of them may get back in a minute, on average; 0 for no limit',
  ),
  metricsToken: optionalText(
    'METRICS_TOKEN',
    '^\\S{16,}$',
    'at least 16 characters without a space',
    'bearer token that opens /metrics on the public port; closed there when unset',
  ),
  metricsPort: setting({
    variable: 'METRICS_PORT',
    purpose: 'port of a listener for /metrics alone, without a token; none when 0',
    allowed: 'a port, 0 to 65535',
    schema: Type.Integer({ minimum: 0, maximum: 65_535 }),
    fallback: '0',
  }),
  metricsHost: setting({
    variable: 'METRICS_HOST',
    purpose: 'address that it listens on',
    allowed: 'a host name or address',
    schema: Type.String({ minLength: 1 }),
    fallback: '127.0.0.1',
  }),
  allowInternalAddresses: setting({
    variable: 'ALLOW_INTERNAL_ADDRESSES',
    purpose: 'true lets push services and documents of apps live on addresses that are not public, for trials',
    allowed: 'true or false',
    schema: Type.Enum(['true', 'false']),
    fallback: 'false',
  }),
  logLevel: setting({
    variable: 'LOG_LEVEL',
    purpose: 'least severe level that is logged',
    allowed: `one of ${LOG_LEVELS.join(', ')}`,
    schema: Type.Enum(LOG_LEVELS),
    fallback: 'info',
  }),
};

type Settings = typeof SETTINGS;
type Values = { readonly [Name in keyof Settings]: ValueOf<Settings[Name]> };
type ValueOf<S> = S extends { schema: infer Schema extends TSchema } ? MaybeUnset<Schema> : never;
type MaybeUnset<Schema extends TSchema> = Schema extends { '~optional': true }
  ? Static<Schema> | undefined
  : Static<Schema>;

/** The settings as the program uses them; `baseUrl` is always known and has no slash at its end. */
export type Config = Omit<Values, 'baseUrl'> & { readonly baseUrl: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** What was wrong with the environment: every fault at once, and never a value, for it may be a secret. */
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

/** Why links that leave this program would lead nowhere, and what to set; null when they are fine. */
export function linksWarning(environment: Environment = process.env): string | null {
  const { host, baseUrl } = loadConfig(environment);
  if (environment['BASE_URL'] || !EVERY_ADDRESS.has(host)) return null;
  return `Links in messages and DSNs lead to ${baseUrl}, which only this machine can open: set BASE_URL to the address by which others reach it.`;
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Reads every setting once. Throws a ConfigError that names each variable that is missing or wrong. */
export function loadConfig(environment: Environment = process.env): Config {
  const faults: string[] = [];
  const values = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, declaration]) => {
      const text = environment[declaration.variable] || declaration.fallback;
      const value = text !== undefined && 'minimum' in declaration.schema && /^\d+$/.test(text) ? Number(text) : text;
      if (text !== undefined && !Check(declaration.schema, value)) {
        faults.push(`${declaration.variable} must be ${declaration.allowed}`);
      }
      return [name, value];
    }),
  );
  faults.push(...faultsBetweenSettings(environment));
  if (faults.length > 0) throw new ConfigError(faults);
  const config = values as Values;
  const baseUrl = config.baseUrl ?? `http://${hostOfLinks(config.host)}:${config.port}`;
  return { ...config, baseUrl: baseUrl.replace(/\/+$/, '') };
}

function faultsBetweenSettings(environment: Environment): string[] {
  const has = (variable: string) => Boolean(environment[variable]);
  const faults: string[] = [];
  if (has('DATABASE_URL') && !has('APP_SECRET')) {
    faults.push('APP_SECRET is required with DATABASE_URL, since every process must share it');
  }
  if (has('TWILIO_ACCOUNT_SID') && !(has('TWILIO_AUTH_TOKEN') && has('TWILIO_FROM'))) {
    faults.push('TWILIO_AUTH_TOKEN and TWILIO_FROM are required with TWILIO_ACCOUNT_SID');
  }
  if (has('SMTP_URL') && !has('MAIL_FROM')) faults.push('MAIL_FROM is required with SMTP_URL');
  return faults;
}

/** A link cannot point at "every address of this machine". */
function hostOfLinks(host: string): string {
  if (EVERY_ADDRESS.has(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
