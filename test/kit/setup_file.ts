import { availableParallelism, loadavg } from 'node:os';

import { afterAll, inject, vi } from 'vitest';

import { endFile } from '#test/kit/at_end_of_file.ts';
import { compareInstants } from '#test/kit/clock.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Time limit of a test that has half a processor; absent: that of vitest's configuration. */
    testSecondsMax?: number;
  }
}

compareInstants();

// On a machine that is busier than by the run itself, a test has less of a processor, and more time.
const secondsMax = inject('testSecondsMax');
if (secondsMax !== undefined) {
  const busy = Math.max(2, (loadavg()[0] ?? 0) / availableParallelism());
  const testTimeout = 1_000 * secondsMax * busy;
  vi.setConfig({ testTimeout, hookTimeout: 6 * testTimeout, expect: { poll: { timeout: testTimeout / 2 } } });
}

// One process runs many files, and evaluates this for each.
afterAll(endFile);
