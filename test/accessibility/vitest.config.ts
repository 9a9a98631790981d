import { defineConfig } from 'vitest/config';

import { BY_NODE, ON_EMBEDDED_STORES } from '#test/kit/vitest_options.ts';

/** `npm run check:accessibility`: each file keeps a browser busy for a minute. */
export default defineConfig({
  test: {
    ...ON_EMBEDDED_STORES,
    ...BY_NODE,
    testTimeout: 180_000,
    include: ['test/accessibility/**/*.test.ts'],
    maxWorkers: 3,
  },
});
