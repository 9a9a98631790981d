import { defineConfig } from 'vitest/config';

/** `npm run check:flows`: what takes too long for `npm test`. One after the other: each is three browsers at once. */
export default defineConfig({
  test: {
    globalSetup: ['test/kit/stores.ts'],
    include: ['test/flows/**/*.test.ts'],
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
