import { loadConfig, requireStores, runningConfig, type RunningConfig } from './config.ts';
import { migrate } from '#entry/migrate.ts';
import { awaitStores } from '#entry/program.ts';
import { systemClock } from '#kernel/time.ts';
import { directUrlOf, openDatabase } from '#storage/postgres/database.ts';

/** Runs `tocsin migrate`: migrates the schemas, and creates the first owner if one is configured. */
export async function migrateStores(): Promise<void> {
  const config = requireStores(await runningConfig(loadConfig()));
  await awaitStores(config, { listens: false, migrates: true, needsClickHouse: true });
  await migrate(config);
  if (config.firstOwnerEmail !== undefined) await createFirstOwner(config);
}

async function createFirstOwner(config: RunningConfig): Promise<void> {
  const { ensureFirstRun } = await import('#entry/first_run.ts');
  const db = await openDatabase({ url: directUrlOf(config), poolMax: 2 });
  try {
    await ensureFirstRun({ db, config, clock: systemClock });
  } finally {
    await db.close();
  }
}
