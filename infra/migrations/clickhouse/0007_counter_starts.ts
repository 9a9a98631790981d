import type { Rendering } from '#storage/clickhouse/migrate.ts';

const KIND = "Enum8('gauge' = 0, 'counter' = 1, 'delta' = 2, 'stale' = 3, 'start' = 4)";

/** A further kind of rows: a counter began at 0. Nothing is written anew, since the column's values stay what they are. */
export const statements = ({ isCluster, onCluster, stored }: Rendering): readonly string[] => [
  `ALTER TABLE ${stored('metric_points')}${onCluster} MODIFY COLUMN kind ${KIND} CODEC(ZSTD(1))`,
  ...(isCluster ? [`ALTER TABLE metric_points${onCluster} MODIFY COLUMN kind ${KIND}`] : []),
];
