import { afterAll, vi } from 'vitest';

import { endFile } from '#test/kit/at_end_of_file.ts';
import { compareInstants } from '#test/kit/clock.ts';

compareInstants();

// One process runs many files, and evaluates this for each.
afterAll(endFile);

// A page loads files before they are needed. One that is broken off by the end of a file would be broken for the next.
if ('window' in globalThis) afterAll(() => vi.dynamicImportSettled());
