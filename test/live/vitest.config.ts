import { defineConfig } from 'vitest/config';

import { BY_NODE, ON_EMBEDDED_STORES } from '#test/kit/vitest_options.ts';

/** `npm run check:live`: unchanged programs of others send to this product, at their own pace. */
export default defineConfig({
  test: { ...ON_EMBEDDED_STORES, ...BY_NODE, include: ['test/live/**/*.test.ts'], maxWorkers: 2 },
});
