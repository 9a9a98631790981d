import { defineConfig } from 'vitest/config';

import { BY_NODE, ON_EMBEDDED_STORES } from '#test/kit/vitest_options.ts';

/** `npm run check:flows`: what takes too long for `npm test`. One after the other: each is three browsers at once. */
export default defineConfig({
  test: {
    ...ON_EMBEDDED_STORES,
    ...BY_NODE,
    include: ['test/flows/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 600_000,
  },
});
