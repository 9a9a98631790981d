import { defineConfig } from 'vitest/config';

import { BY_NODE, ON_EMBEDDED_STORES } from '#test/kit/vitest_options.ts';

/** `npm run check:processes`: engines and programs of the product, each started as a process of its own. */
export default defineConfig({
  test: { ...ON_EMBEDDED_STORES, ...BY_NODE, include: ['test/processes/**/*.test.ts'], maxWorkers: 2 },
});
