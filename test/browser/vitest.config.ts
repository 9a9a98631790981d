import { defineConfig } from 'vitest/config';

import { IN_BROWSERS } from '#test/kit/vitest_options.ts';

/** `npm run check:browser`: each test has a console of its own, and most files keep a browser busy for half a minute. */
export default defineConfig({ test: { ...IN_BROWSERS, include: ['test/browser/**/*.test.ts'], maxWorkers: 2 } });
