import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They start browsers, which use all processors. */
const IN_BROWSERS = ['test/browser/**/*.test.ts', 'test/ingest/live/sentry_browser.test.ts'];

/** They kill processes or measure real time, so nothing else may run beside them. */
const ALONE = [
  'test/faults/**/*.test.ts',
  'test/boot.test.ts',
  'test/journeys/many_incidents.test.ts',
  'test/ingest/live/prometheus.test.ts',
];

/** They are members of `npm run check:cluster`. */
const BY_ITSELF = ['test/cluster/**/*.test.ts'];

/** They take far longer than their size says: begun last, they would run alone while the other processors have nothing to do. */
const LONG = ['test/journeys/nights.test.ts', 'test/browser/dialogs.test.ts', 'test/browser/pages.test.ts'];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ({ moduleId, project }: TestSpecification): number =>
      2 * project.config.sequence.groupOrder + (LONG.some((file) => moduleId.endsWith(file)) ? 0 : 1);
    return (await super.sort(files)).toSorted((a, b) => order(a) - order(b));
  }
}

export default defineConfig({
  // As src/console is compiled.
  oxc: { jsx: { runtime: 'automatic' } },
  test: {
    globalSetup: ['test/kit/stores.ts'],
    sequence: { sequencer: LongFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Long enough for a busy machine: a condition that is met ends the wait at once.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.{ts,tsx}', 'infra/embedded/*/test/**/*.test.ts'],
          exclude: [...IN_BROWSERS, ...ALONE, ...BY_ITSELF],
          // They wait for stores most of the time.
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'in browsers', include: IN_BROWSERS, maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, fileParallelism: false, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
