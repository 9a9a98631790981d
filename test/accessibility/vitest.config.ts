import { defineConfig } from 'vitest/config';

import { IN_BROWSERS } from '#test/kit/vitest_options.ts';

/** `npm run check:accessibility`: each file keeps a browser busy for a minute. */
export default defineConfig({ test: { ...IN_BROWSERS, include: ['test/accessibility/**/*.test.ts'], maxWorkers: 3 } });
