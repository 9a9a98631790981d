/**
 * Options that run tests as the product runs: by Node itself, without a build. One process runs many files, and loads
 * the product once: what lives as long as a process is made by `compose`, not by modules.
 */
export const BY_NODE = { isolate: false, experimental: { viteModuleRunner: false, nodeLoader: false } } as const;

/**
 * Options of tests on the stores that are started once for the whole run. The time-outs are long enough for a busy
 * machine: a condition that is met ends the wait at once.
 */
export const ON_EMBEDDED_STORES = {
  globalSetup: ['test/kit/stores.ts'],
  setupFiles: ['test/kit/setup_file.ts'],
  testTimeout: 120_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

/**
 * Options of tests that keep a browser busy for minutes. A test that hangs is ended by the time limits of its waits, so
 * the time-out of the whole is long: a machine that others use needs several times as long as a quiet one.
 */
export const IN_BROWSERS = { ...ON_EMBEDDED_STORES, ...BY_NODE, testTimeout: 900_000 };
