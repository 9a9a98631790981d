import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

import { tablerIcons } from '#infra/console/tabler_icons.ts';
import { MEASURING_FILES } from '#test/kit/measuring.ts';
import { BY_NODE, ON_EMBEDDED_STORES } from '#test/kit/vitest_options.ts';

/** They set what a process has once: each has a process of its own. */
const APART = ['test/auth/passwords.test.ts', 'test/entry/tracing.test.ts'];

/** They are compiled, run in happy-dom, and load the libraries of the console once a process. */
const COMPILED = [
  'test/console/**/*.test.tsx',
  'test/console/api/*.test.ts',
  'test/console/components/{double_tap_guard,forms/draft_store}.test.ts',
  'test/console/pages/me/push.test.ts',
  'test/console/{query_client,shell/navigation}.test.ts',
];

/** They are proofs: `npm run check:proofs`. */
const PROOFS = ['test/{accessibility,browser,cluster,faults,flows,live,processes}/**/*.test.ts'];

/** Projects in the order of their files: a process that has run a file ends when the next one is of another project. */
const PROJECTS = ['together', 'compiled', 'apart'];

/**
 * They take longer than their size says, the longest first: begun last, they would run alone while the other processors
 * have nothing to do.
 */
const LONG = [
  'test/smoke/console.test.ts',
  'test/modules/metrics/store/rollups.test.ts',
  'test/entry/http/alerts/hostile_bodies.test.ts',
  'test/storage/queue/durable_jobs.test.ts',
  'test/contract/tenancy.test.ts',
  'test/contract/mcp_parity.test.ts',
  'test/storage/queue/job_queue.test.ts',
  'test/entry/http/console/operations.test.ts',
  'test/contract/ways_in.test.ts',
  'test/journeys/rules.test.ts',
  'test/modules/rules/by_label.test.ts',
  'test/entry/backup/restore.test.ts',
  'test/journeys/paging/nights.test.ts',
  'test/modules/exceptions/group_jobs.test.ts',
  'test/journeys/rule_settings.test.ts',
  'test/contract/mcp_clients.test.ts',
  'test/entry/transfer/changed_folder.test.ts',
  'test/contract/mcp_answers.test.ts',
  'test/modules/configuration/configuration.test.ts',
  'test/boot.test.ts',
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ({ moduleId, project: { name } }: TestSpecification): number => {
      const place = LONG.findIndex((file) => moduleId.endsWith(file));
      return 1_000 * PROJECTS.indexOf(name) + (place < 0 ? LONG.length : place);
    };
    return (await super.sort(files)).toSorted((a, b) => order(a) - order(b));
  }
}

/** Properties with more cases than the gate tries take minutes: `npm run check:properties`. */
const HAS_MORE_CASES = ['PROPERTY_SEED', 'LAYER_CASES', 'MOVE_IN_CASES'].some((name) => name in process.env);

/** A limit ends only what hangs. `TEST_SECONDS_MAX=60` is for a machine on which much else runs. */
const TEST_SECONDS_MAX = Number(process.env.TEST_SECONDS_MAX ?? (HAS_MORE_CASES ? 3_600 : 10));
/** Servers start in hooks. */
const HOOK_SECONDS_MAX = 12 * TEST_SECONDS_MAX;

/**
 * Flags of V8: most of the garbage of tests is younger than a test. Several threads that collect it together wait for each
 * other on processors that have work.
 */
const execArgv = [
  '--single-threaded-gc',
  '--max-semi-space-size=32',
  '--min-semi-space-size=16',
  '--heap-growing-percent=300',
];

/** Tests wait for stores a part of the time. */
const maxWorkers = availableParallelism() + 1;

export default defineConfig({
  // Compiles as src/console is compiled.
  oxc: { jsx: { runtime: 'automatic' } },
  test: {
    ...ON_EMBEDDED_STORES,
    execArgv,
    sequence: { sequencer: LongFirst },
    testTimeout: 1_000 * TEST_SECONDS_MAX,
    hookTimeout: 1_000 * HOOK_SECONDS_MAX,
    expect: { poll: { timeout: 800 * TEST_SECONDS_MAX } },
    projects: [
      { extends: true, test: { name: 'apart', include: APART, maxWorkers } },
      {
        extends: true,
        plugins: [tablerIcons],
        test: {
          name: 'compiled',
          include: COMPILED,
          exclude: APART,
          environment: 'happy-dom',
          isolate: false,
          maxWorkers,
        },
      },
      {
        extends: true,
        test: {
          ...BY_NODE,
          name: 'together',
          include: ['test/**/*.test.ts', 'infra/embedded/*/test/**/*.test.ts'],
          exclude: [...APART, ...COMPILED, ...MEASURING_FILES, ...PROOFS],
          maxWorkers,
          provide: { filesShareProcess: true },
        },
      },
    ],
  },
});
