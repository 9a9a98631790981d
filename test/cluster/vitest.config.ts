import { defineConfig } from 'vitest/config';

/** `npm run check:cluster`: what takes too long, or servers that not every machine has, for `npm test`. */
export default defineConfig({
  test: {
    globalSetup: ['test/cluster/stores.ts'],
    include: [
      'test/cluster/**/*.test.ts',
      'test/storage/clickhouse/expired_rows.test.ts',
      'test/modules/{metrics,rules,exceptions}/store/{exception_events,metric_query,rule_history,rule_reader}.test.ts',
      'test/modules/{metrics,exceptions}/*.test.ts',
      'test/modules/{metrics,exceptions}/operations/*.test.ts',
    ],
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
