import { defineConfig } from 'vitest/config';

import { MEASURING_FILES } from '#test/kit/measuring.ts';
import { BY_NODE, ON_EMBEDDED_STORES } from '#test/kit/vitest_options.ts';

/** `npm run check:measured`: what still measures time or memory, each in a process that no other file has filled. */
export default defineConfig({
  test: { ...ON_EMBEDDED_STORES, ...BY_NODE, isolate: true, include: [...MEASURING_FILES], fileParallelism: false },
});
