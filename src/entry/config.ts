import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import {
  ConfigError,
  CORE_SETTINGS,
  type Environment,
  processEnvironment,
  readSettings,
  type Setting,
  type ValuesOf,
} from '#kernel/config.ts';
import { LIMIT_SETTINGS } from '#kernel/limit_settings.ts';
import { PLACE_SETTINGS } from '#notify/places/place_sender.ts';
import { CHANNEL_SETTINGS } from '#notify/registry.ts';

/** Settings except limits. The table of the README is generated from them (`infra/release/settings_table.ts`). */
export const GENERAL_SETTINGS = { ...CORE_SETTINGS, ...CHANNEL_SETTINGS, ...PLACE_SETTINGS };

/** Every setting of the product. */
export const SETTINGS = { ...GENERAL_SETTINGS, ...LIMIT_SETTINGS };

/**
 * Settings as the program uses them; `baseUrl` is always known, has no slash at its end and is spelt as browsers spell it:
 * other scripts in ASCII, small letters in the host and no port that goes without saying.
 */
export type Config = Omit<ValuesOf<typeof SETTINGS>, 'baseUrl'> & { readonly baseUrl: string };

/**
 * Reads every setting once, secrets also from the files that variables ending in `_FILE` name. Throws a ConfigError
 * that names each variable that is missing or wrong.
 */
export function loadConfig(environment: Environment = processEnvironment()): Config {
  const config = readSettings(SETTINGS, { ...environment, ...readSecretFiles(environment) });
  requireAuthorities(config);
  const baseUrl =
    config.baseUrl === undefined
      ? `http://${hostOfLinks(config.host)}:${config.port}`
      : new URL(config.baseUrl).href.replace(/\/+$/, '');
  return { ...config, ...overTls(config), baseUrl };
}

function requireAuthorities(config: ValuesOf<typeof SETTINGS>): void {
  const faults = findAuthorityFaults(config);
  if (faults.length > 0) throw new ConfigError(faults);
}

/** Adds the authority file to the addresses, where every client of PostgreSQL finds it. */
function overTls({ databaseUrl, directDatabaseUrl, databaseCaFile }: ValuesOf<typeof SETTINGS>) {
  if (databaseCaFile === undefined) return {};
  return {
    databaseUrl: databaseUrl && withAuthority(databaseUrl, databaseCaFile),
    directDatabaseUrl: directDatabaseUrl && withAuthority(directDatabaseUrl, databaseCaFile),
  };
}

function readSecretFiles(environment: Environment): Environment {
  const secrets: Record<string, string> = {};
  const faults: string[] = [];
  for (const { variable, isSecret } of Object.values<Setting>(SETTINGS)) {
    const file = isSecret === true ? environment[`${variable}_FILE`] : undefined;
    if (!file) continue;
    const text = readSecretFile(variable, file, faults);
    if (text === null) continue;
    if (environment[variable] && environment[variable] !== text) {
      faults.push(`${variable} and ${variable}_FILE differ; set one of them`);
    }
    secrets[variable] = text;
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return secrets;
}

/** Returns why links in messages would not work for others, and what to set; null if they work. */
export function linksFault(environment: Environment = processEnvironment()): string | null {
  const { host, baseUrl } = loadConfig(environment);
  if (environment['BASE_URL'] || !EVERY_ADDRESS.has(host)) return null;
  return `BASE_URL: with HOST ${host}, links in messages and DSNs would lead to ${baseUrl}, which only this machine can open; set it to the address by which others reach this machine`;
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Returns the host for links, which cannot point at "every address of this machine". */
function hostOfLinks(host: string): string {
  if (EVERY_ADDRESS.has(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

interface StoreAddresses {
  readonly databaseUrl?: string | undefined;
  readonly databaseCaFile?: string | undefined;
  readonly redisUrl?: string | undefined;
  readonly redisCaFile?: string | undefined;
  readonly clickhouseUrl?: string | undefined;
  readonly clickhouseCaFile?: string | undefined;
  readonly smtpUrl?: string | undefined;
  readonly smtpCaFile?: string | undefined;
}

/** Returns the faults of the configured certificate authority files, each as a sentence. */
function findAuthorityFaults(config: StoreAddresses): string[] {
  const { databaseUrl, databaseCaFile, redisUrl, redisCaFile, clickhouseUrl, clickhouseCaFile } = config;
  return [
    faultOf('DATABASE_CA_FILE', databaseCaFile),
    databaseCaFile === undefined || !/[?&]sslmode=(disable|no-verify)/.test(databaseUrl ?? '')
      ? null
      : 'DATABASE_URL switches TLS off (sslmode), and DATABASE_CA_FILE is for TLS: remove one of them',
    faultOf('REDIS_CA_FILE', redisCaFile),
    redisCaFile === undefined || (redisUrl ?? 'rediss').startsWith('rediss')
      ? null
      : 'REDIS_CA_FILE is for TLS: let REDIS_URL begin with rediss',
    // The certificate of Debian's Postfix is self-signed.
    faultOf('SMTP_CA_FILE', config.smtpCaFile, { mayBeServer: true }),
    config.smtpCaFile === undefined || config.smtpUrl !== undefined
      ? null
      : 'SMTP_CA_FILE is for the mail server: set SMTP_URL, too',
    faultOf('CLICKHOUSE_CA_FILE', clickhouseCaFile),
    clickhouseCaFile === undefined || (clickhouseUrl ?? 'https:').startsWith('https:')
      ? null
      : 'CLICKHOUSE_CA_FILE is for TLS: let CLICKHOUSE_URL begin with https',
  ].filter((fault) => fault !== null);
}

function faultOf(variable: string, file: string | undefined, { mayBeServer = false } = {}): string | null {
  if (file === undefined) return null;
  let text: Buffer;
  try {
    text = readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return `${variable} names a file that cannot be read (${code}); correct the path, or its permissions`;
  }
  try {
    return new X509Certificate(text).ca || mayBeServer
      ? null
      : `${variable} holds the certificate of a server; name the file of the authority that signed it`;
  } catch {
    return `${variable} names a file without a certificate in PEM form; name that of the authority`;
  }
}

/** Adds the authority file to the address, as PostgreSQL's own clients do; whoever connects checks the certificate. */
function withAuthority(databaseUrl: string, file: string): string {
  const [head = '', query = ''] = databaseUrl.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('sslmode', 'verify-full');
  parameters.set('sslrootcert', file);
  return `${head}?${parameters.toString()}`;
}

/**
 * Reads the file that a `…_FILE` variable names; null, with a fault added, if it cannot be used. Orchestrators mount
 * secrets as files; the line break that most editors put at the end is removed.
 */
export function readSecretFile(variable: string, file: string, faults: string[]): string | null {
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (text === '') faults.push(`${variable}_FILE names an empty file; write the value into it`);
    return text;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    faults.push(`${variable}_FILE names a file that cannot be read (${code}); correct the path, or its permissions`);
    return null;
  }
}

/** Whether requests to untrusted addresses may reach private networks. */
export function externalFetchOptionsOf({ allowInternalAddresses }: Config): {
  readonly allowInternalAddresses: boolean;
} {
  return { allowInternalAddresses: allowInternalAddresses === 'true' };
}

/** Settings with the addresses that every process needs: configured, or given by the supervisor of embedded stores. */
export type RunningConfig = Config & {
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  readonly appSecret: string;
};

/** Checks that the stores are known. `npm start` provides embedded ones; a single process needs their addresses. */
export function requireStores(config: Config): RunningConfig {
  const { databaseUrl, clickhouseUrl, appSecret } = config;
  if (databaseUrl === undefined || clickhouseUrl === undefined || appSecret === undefined) {
    const missing = { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl, APP_SECRET: appSecret };
    const names = Object.entries(missing).flatMap(([name, value]) => (value === undefined ? [name] : []));
    throw new ConfigError([
      `set ${names.join(', ')}, which every single process needs; "npm start" provides them for the embedded stores`,
    ]);
  }
  return { ...config, databaseUrl, clickhouseUrl, appSecret };
}

/** File that `npm start` writes to the data folder while embedded stores run, for commands run beside it. */
export const RUNNING_FILE = 'running.json';

/**
 * Returns the settings with the addresses of the embedded stores that run on this data folder, if no server is
 * configured. Throws a ConfigError if nothing runs there.
 */
export async function runningConfig(config: Config): Promise<Config> {
  if (config.databaseUrl !== undefined && config.clickhouseUrl !== undefined) return config;
  const file = path.join(config.dataDir, RUNNING_FILE);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) {
    throw new ConfigError([
      `Tocsin does not run on the data folder ${config.dataDir}: start it with "npm start", or set DATABASE_URL and CLICKHOUSE_URL`,
    ]);
  }
  const running = JSON.parse(text) as Partial<Config>;
  return { ...config, ...running };
}
