import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

/** They open browsers, which take what processors there are. */
const IN_BROWSERS = ['test/browser/**/*.test.ts', 'test/ingest/live/sentry_browser.test.ts'];

/** They kill processes or look at the clock on the wall, so nothing else may run beside them. */
const ALONE = [
  'test/faults/**/*.test.ts',
  'test/boot.test.ts',
  'test/journeys/many_incidents.test.ts',
  'test/ingest/live/prometheus.test.ts',
];

/** One that has to do with more than its own process has a second try on a busy machine. */
const RETRY = 1;

export default defineConfig({
  // As src/console is compiled.
  oxc: { jsx: { runtime: 'automatic' } },
  test: {
    globalSetup: ['test/kit/stores.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is waited for comes as soon as the machine lets it; a busy one takes longer than the default of a second.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.{ts,tsx}', 'infra/embedded/*/test/**/*.test.ts'],
          exclude: [...IN_BROWSERS, ...ALONE],
          // Most of them wait for stores most of the time.
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'in browsers', include: IN_BROWSERS, maxWorkers: 2, retry: RETRY, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, fileParallelism: false, retry: RETRY, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
