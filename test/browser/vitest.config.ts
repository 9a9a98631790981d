import { defineConfig } from 'vitest/config';

import { BY_NODE, ON_EMBEDDED_STORES } from '#test/kit/vitest_options.ts';

/** `npm run check:browser`: each test has a console of its own, and most files keep a browser busy for half a minute. */
export default defineConfig({
  test: {
    ...ON_EMBEDDED_STORES,
    ...BY_NODE,
    testTimeout: 180_000,
    include: ['test/browser/**/*.test.ts'],
    maxWorkers: 2,
  },
});
