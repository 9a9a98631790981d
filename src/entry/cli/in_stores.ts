import { inUnitOfWork, type UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { requireStores, runningConfig, type RunningConfig } from '#entry/running_config.ts';
import { ConfigError, loadConfig } from '#kernel/config.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import type { AuditedBy } from '#storage/postgres/audit_store.ts';
import { openDatabase } from '#storage/postgres/database.ts';
import type { Stores } from '#storage/postgres/stores.ts';

/** What a command works with: one transaction, and who the audit log says did it. */
export interface Command extends UnitOfWork {
  readonly by: AuditedBy;
  readonly config: RunningConfig;
}

/** Runs a command in one transaction on the configured stores, or on those of the installation that runs here. */
export async function inStores<Result>(work: (command: Command) => Promise<Result>): Promise<Result> {
  const config = requireStores(await runningConfig(loadConfig()));
  const db = await openDatabase({ url: config.databaseUrl, poolMax: 1 });
  const origin = { requestId: newId('req'), address: null };
  const by: AuditedBy = { actor: { kind: 'system' }, via: 'cli', origin };
  try {
    // The workers find what is enqueued here when they next look.
    return await inUnitOfWork({ db, clock: systemClock, onOutbox: () => {} }, (unit) => work({ ...unit, by, config }));
  } catch (error) {
    // Why it cannot be reached says more than that it cannot.
    if (!(error instanceof AppError) || isUnavailable(error)) await requireDatabase(config);
    throw error;
  } finally {
    await db.close();
  }
}

async function requireDatabase({ databaseUrl }: RunningConfig): Promise<void> {
  const { findPostgresFault } = await import('#entry/preflight.ts');
  const fault = await findPostgresFault(databaseUrl);
  if (fault !== null) throw new ConfigError([fault.sentence]);
}

export async function getOrganization({ people }: Stores, id: string): Promise<Id<'org'>> {
  const organization = await people.findOrganization(asId('org', id));
  if (organization === null) {
    throw new AppError('not_found', `there is no organization ${id}; "tocsin org list" shows those there are`);
  }
  return organization.id;
}
