import { p } from '@mikro-orm/postgresql';

import { bigint, bytes, instant, jsonColumn, table } from '#storage/postgres/entities/column_types.ts';

/** Jobs that were committed with a change and are on their way to the queue. */
export const OutboxEntity = table('outbox', {
  id: bigint().primary().autoincrement(),
  jobName: p.text(),
  payload: jsonColumn<unknown>(),
  /** null: at once. */
  runAt: instant().strictNullable(),
  createdAt: instant(),
});

/** Periodic work is done by the process that holds its lease. */
export const LeaseEntity = table('leases', {
  name: p.text().primary(),
  holder: p.text(),
  heldUntil: instant(),
  doneAt: instant().strictNullable(),
});

/** Processes that share a work, and the time until which each is taken to be alive. */
export const WorkerEntity = table('workers', {
  work: p.text().primary(),
  member: p.text().primary(),
  aliveUntil: instant(),
  joinedAt: instant(),
  /** Time as of which it has done its share; null before the first time. */
  doneAt: instant().strictNullable(),
});

/** Rest of a limit that counts for all processes together. */
export const TokenBucketEntity = table('token_buckets', {
  key: p.text().primary(),
  tokens: p.double().$type<number>(),
  /** Whether the last one who asked got what was asked for. */
  isGranted: p.boolean(),
  at: instant(),
});

/** Jobs whose bytes are somebody's only copy, until they have run. */
export const DurableJobEntity = table('durable_jobs', {
  jobId: p.text().primary(),
  jobName: p.text(),
  payload: bytes(),
  createdAt: instant().defaultRaw('now()'),
  orgId: p.text(),
  serviceId: p.text(),
  items: p.integer(),
  attempts: p.integer().default(0),
  /** Ahead while a worker has the row, or while it waits to be tried again. */
  readyAt: instant().defaultRaw('now()'),
  /** Crash count: each run adds to it, until its end is recorded. */
  crashScore: p.integer().default(0),
  /** Time since which it is quarantined because workers died over it; null when it is not. */
  quarantinedAt: instant().strictNullable(),
  /** Process that has the row, or had it last. */
  claimedBy: p.text().strictNullable(),
});

/** Accepted data that waits on the disk of an API process. */
export const SpooledDataEntity = table('spooled_data', {
  folder: p.text().primary(),
  oldestAt: instant(),
  toldAt: instant(),
});

/** The release that has migrated all stores last; one row. */
export const MigratedByEntity = table('migrated_by', {
  isOnly: p.boolean().primary().default(true),
  release: p.text(),
  at: instant().defaultRaw('now()'),
  /** The newest migrations that a program has to know to work on the schema. */
  worksWithPostgres: p.text().strictNullable(),
  worksWithClickhouse: p.text().strictNullable(),
});

/** Installation that owns the database; one row. */
export const InstallationEntity = table('installation', {
  isOnly: p.boolean().primary().default(true),
  secretFingerprint: p.text(),
  at: instant().defaultRaw('now()'),
});

/** A backup that was restored into this installation. */
export const RestorationEntity = table('restorations', {
  backupId: p.text().primary(),
  /** Time of the data in the restored rows. */
  snapshotAt: instant(),
  restoredAt: instant().primary(),
  /** Time at which a pager brought its timers up to date; null before. */
  resumedAt: instant().strictNullable(),
});
