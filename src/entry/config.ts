import { CORE_SETTINGS, type Environment, processEnvironment, readSettings, type ValuesOf } from '#kernel/config.ts';
import { CHANNEL_SETTINGS } from '#notify/registry.ts';

/** Every setting of the product. The table of the README is made of them (`infra/release/settings_table.ts`). */
export const SETTINGS = { ...CORE_SETTINGS, ...CHANNEL_SETTINGS };

/** The settings as the program uses them; `baseUrl` is always known and has no slash at its end. */
export type Config = Omit<ValuesOf<typeof SETTINGS>, 'baseUrl'> & { readonly baseUrl: string };

/** Reads every setting once. Throws a ConfigError that names each variable that is missing or wrong. */
export function loadConfig(environment: Environment = processEnvironment()): Config {
  const config = readSettings(SETTINGS, environment);
  const baseUrl = config.baseUrl ?? `http://${hostOfLinks(config.host)}:${config.port}`;
  return { ...config, baseUrl: baseUrl.replace(/\/+$/, '') };
}

/** Why links that leave this program would lead nowhere, and what to set; null when they are fine. */
export function linksWarning(environment: Environment = processEnvironment()): string | null {
  const { host, baseUrl } = loadConfig(environment);
  if (environment['BASE_URL'] || !EVERY_ADDRESS.has(host)) return null;
  return `Links in messages and DSNs lead to ${baseUrl}, which only this machine can open: set BASE_URL to the address by which others reach it.`;
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** A link cannot point at "every address of this machine". */
function hostOfLinks(host: string): string {
  if (EVERY_ADDRESS.has(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
