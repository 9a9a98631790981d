import { defineConfig } from 'vitest/config';

import { BY_NODE, ON_EMBEDDED_STORES } from '#test/kit/vitest_options.ts';

/** `npm run check:faults`: what starts whole installations and waits for real time. Two at a time: three fall behind their load. */
export default defineConfig({
  test: { ...ON_EMBEDDED_STORES, ...BY_NODE, include: ['test/faults/**/*.test.ts'], maxWorkers: 2 },
});
