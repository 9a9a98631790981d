/** Variables that every program may need: where programs, libraries and temporary files are, language and time zone. */
const NEEDED: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TZDIR',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'NODE_COMPILE_CACHE',
  // Tells whose process it is, and is no secret.
  'DATA_DIR',
]);

/**
 * Environment of a program that is not ours, or needs none of our settings: without the secrets that stand in the
 * environment of the supervisor. `prefix` adds the program's own variables.
 */
export function engineEnvironment(
  environment: NodeJS.ProcessEnv = process.env,
  { prefix }: { readonly prefix?: string } = {},
): NodeJS.ProcessEnv {
  const isNeeded = (name: string): boolean =>
    NEEDED.has(name) || name.startsWith('LC_') || (prefix !== undefined && name.startsWith(prefix));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isNeeded(name)));
}
