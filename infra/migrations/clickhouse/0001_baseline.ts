import type { Rendering } from '#storage/clickhouse/migrate.ts';

import { exceptionTables } from './baseline/exceptions.ts';
import { pointTables } from './baseline/points.ts';
import { rollupTables } from './baseline/rollups.ts';

/** All tables of the first release; views come behind the tables that they read. */
export const statements = (rendering: Rendering): readonly string[] => [
  ...pointTables(rendering),
  ...rollupTables(rendering),
  ...exceptionTables(rendering),
];
