import { afterAll } from 'vitest';

import { endFile } from '#test/kit/at_end_of_file.ts';

// One process runs many files, and evaluates this for each.
afterAll(endFile);
