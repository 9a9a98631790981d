import { defineConfig } from 'vitest/config';

import { IN_BROWSERS } from '#test/kit/vitest_options.ts';

/** `npm run check:flows`: what takes too long for `npm test`. One after the other: each is three browsers at once. */
export default defineConfig({ test: { ...IN_BROWSERS, include: ['test/flows/**/*.test.ts'], fileParallelism: false } });
