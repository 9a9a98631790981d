import {
  ConfigError,
  CORE_SETTINGS,
  type Environment,
  processEnvironment,
  readSettings,
  type Setting,
  type ValuesOf,
} from '#kernel/config.ts';
import { PLACE_SETTINGS } from '#notify/places/place_sender.ts';
import { CHANNEL_SETTINGS } from '#notify/registry.ts';
import { LIMIT_SETTINGS } from '#kernel/limit_settings.ts';
import { findAuthorityFaults, withAuthority } from '#entry/authorities.ts';
import { readSecretFile } from '#entry/secret_file.ts';

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
