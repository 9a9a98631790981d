import { afterAll } from 'vitest';

import { endFile } from '#test/kit/at_end_of_file.ts';
import { compareInstants } from '#test/kit/clock.ts';

compareInstants();

// One process runs many files, and evaluates this for each.
afterAll(endFile);
