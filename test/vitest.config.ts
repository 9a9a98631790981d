import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * They are compiled, replace modules, set what a process has once, or teach a fixture the types of metrics: each has a
 * process of its own.
 */
const APART = [
  'test/console/**/*.test.{ts,tsx}',
  'test/auth/passwords.test.ts',
  'test/entry/tracing.test.ts',
  'test/ingest/{protocols,series}/**/*.test.ts',
  'test/ingest/rate_limiter.test.ts',
];

/** They start browsers, which use all processors. */
const IN_BROWSERS = ['test/browser/**/*.test.ts', 'test/ingest/live/sentry_browser.test.ts'];

/** They kill processes that others would have to wait for, and wait for real time themselves. */
const FAULTS = [
  'test/faults/{fail_over,full_disk,pagers_killed,queue_away,queue_full,queue_wiped,stores_killed}.test.ts',
  'test/ingest/live/prometheus.test.ts',
];

/** They measure real time, so nothing else may run beside them. */
const ALONE = ['test/faults/{flood,stop}.test.ts', 'test/boot.test.ts', 'test/journeys/many_incidents.test.ts'];

/** They are members of `npm run check:cluster`. */
const BY_ITSELF = ['test/cluster/**/*.test.ts'];

/**
 * They take longer than their size says, the longest first: begun last, they would run alone while the other processors
 * have nothing to do.
 */
const LONG = [
  'test/journeys/nights.test.ts',
  'test/journeys/provider_faults.test.ts',
  'test/entry/backup/restore.test.ts',
  'test/journeys/twilio.test.ts',
  'test/storage/queue/job_queue.test.ts',
  'test/journeys/storm.test.ts',
  'test/entry/cli/commands.test.ts',
  'test/embedded/installation.test.ts',
  'test/actions/policies/simulate_escalation.test.ts',
  'test/journeys/mail.test.ts',
  'test/storage/queue/durable_jobs.test.ts',
  'test/journeys/rules.test.ts',
  'test/entry/cli/processes.test.ts',
  'test/contract/mcp_clients.test.ts',
  'test/journeys/reassigning.test.ts',
  'test/contract/results.test.ts',
  'test/browser/pages.test.ts',
  'test/browser/dialogs.test.ts',
  'test/faults/stores_killed.test.ts',
  'test/faults/pagers_killed.test.ts',
  'test/ingest/live/prometheus.test.ts',
  'test/faults/fail_over.test.ts',
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ({ moduleId, project: { config } }: TestSpecification): number => {
      const place = LONG.findIndex((file) => moduleId.endsWith(file));
      return 1_000 * (2 * config.sequence.groupOrder + (config.isolate ? 0 : 1)) + (place < 0 ? LONG.length : place);
    };
    return (await super.sort(files)).toSorted((a, b) => order(a) - order(b));
  }
}

/**
 * As the product runs: by Node itself, without a build. One process runs many files, and loads the product once: what lives
 * as long as a process is made by `compose`, not by modules.
 */
const BY_NODE = { isolate: false, experimental: { viteModuleRunner: false, nodeLoader: false } } as const;

/** Tests wait for stores a part of the time. */
const maxWorkers = availableParallelism() + 1;

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
        test: { name: 'apart', include: APART, maxWorkers, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          ...BY_NODE,
          name: 'together',
          include: ['test/**/*.test.ts', 'infra/embedded/*/test/**/*.test.ts'],
          exclude: [...APART, ...IN_BROWSERS, ...FAULTS, ...ALONE, ...BY_ITSELF],
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { ...BY_NODE, name: 'in browsers', include: IN_BROWSERS, maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { ...BY_NODE, name: 'faults', include: FAULTS, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: { ...BY_NODE, name: 'alone', include: ALONE, fileParallelism: false, sequence: { groupOrder: 3 } },
      },
    ],
  },
});
