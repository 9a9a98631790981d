import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

/**
 * They kill processes, look at the clock on the wall, or open browsers, so nothing else may run beside them, and one that
 * fails on a busy machine has a second try.
 */
const ALONE = [
  'test/faults/**/*.test.ts',
  'test/boot.test.ts',
  'test/journeys/great_storm.test.ts',
  'test/browser/**/*.test.ts',
  'test/ingest/live/prometheus.test.ts',
  'test/ingest/live/sentry_browser.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: ['test/kit/stores.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: ALONE,
          // Most of them wait for stores most of the time.
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, fileParallelism: false, retry: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
