import type { Static, TObject, TSchema } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { operatorIn } from '#actions/operator.ts';
import { type ActionRuntime, runAction } from '#actions/run_action.ts';
import { openApiKeys } from '#auth/api_keys.ts';
import { createCipher } from '#auth/cipher.ts';
import { installationOf } from '#entry/installation.ts';
import { requireOwnSecret } from '#entry/secret_fingerprint.ts';
import { loadConfig, requireStores, runningConfig, type RunningConfig } from '#entry/config.ts';
import type { ConsoleOperation } from '#kernel/action.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { ConfigError } from '#kernel/config.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { ReleaseReader } from '#modules/releases/store/release_reader.ts';
import { type Database, directUrlOf, openDatabase } from '#storage/postgres/database.ts';
import { inUnitOfWork, type Stores, storesOf, type UnitOfWork } from '#modules/stores.ts';

/** Context of a command: one transaction, and the author recorded in the audit log. */
export interface Command extends UnitOfWork {
  readonly by: AuditedBy;
  readonly config: RunningConfig;
}

/** Runs a command in one transaction on the configured stores, or on those of the running installation. */
export async function withStores<Result>(work: (command: Command) => Promise<Result>): Promise<Result> {
  return await withDatabase(async (config, db) => {
    const by: AuditedBy = { actor: { kind: 'system' }, via: 'cli', origin: newOrigin() };
    return await inUnitOfWork({ db, clock: systemClock, onOutbox }, (unit) => work({ ...unit, by, config }));
  });
}

/** Runs a console operation, in its own transaction and with its own audit row, as an owner of the organization. */
export async function runAsOperator<Input extends TObject, Result extends TSchema>(
  operation: ConsoleOperation<ActionContext, Input, Result>,
  find: (stores: Stores) => Promise<{ readonly orgId: Id<'org'>; readonly input: Static<Input> }>,
): Promise<Static<Result>> {
  return await withActions(async (runtime, stores, origin) => {
    const { orgId, input } = await find(stores);
    return (await runAction(runtime, operation, operatorIn(orgId), input, origin)) as Static<Result>;
  });
}

/** Runs work that invokes operations, each in its own transaction. */
export async function withActions<Result>(
  work: (runtime: ActionRuntime, stores: Stores, origin: RequestOrigin) => Promise<Result>,
): Promise<Result> {
  return await withDatabase(async (config, db) => {
    const clickhouse = openClickHouse(config);
    const runtime: ActionRuntime = {
      db,
      clock: systemClock,
      onOutbox,
      metrics: new MetricReader(clickhouse),
      exceptions: new ExceptionReader(clickhouse),
      releases: new ReleaseReader(clickhouse),
      // The command line runs no patterns of strangers, and shows no events.
      patterns: { prepare: async () => {} },
      sourceMaps: { mapEvents: async (events) => [...events], prepare: async () => (event) => event },
      cipher: createCipher(config.appSecret, 'ingest-keys'),
      apiKeys: openApiKeys(db, systemClock),
      configuredChannels: new Set(),
      baseUrl: config.baseUrl,
      installation: installationOf(config, systemClock),
      moveIns: NO_MOVE_INS,
    };
    try {
      return await work(runtime, storesOf(db.session()), newOrigin());
    } finally {
      await clickhouse.close();
    }
  });
}

/** Moves that the console leads through are worked on by API processes. */
const NO_MOVE_INS: ActionRuntime['moveIns'] = {
  requireRoom: () => {
    throw new AppError('unavailable', 'a server works on these moves; use the command move-in');
  },
  read: () => {},
  stop: () => {},
  plan: () => {},
  apply: () => {},
  idle: async () => {},
};

/** Does nothing: the workers find jobs enqueued by a command at their next poll. */
const onOutbox = (): void => {};

function newOrigin(): RequestOrigin {
  return { requestId: newId('req'), address: null };
}

async function withDatabase<Result>(work: (config: RunningConfig, db: Database) => Promise<Result>): Promise<Result> {
  const config = requireStores(await runningConfig(loadConfig()));
  const db = await openDatabase({ url: directUrlOf(config), poolMax: 1 });
  try {
    await requireOwnSecret((text, parameters) => db.sql.rows(text, parameters), config.appSecret);
    return await work(config, db);
  } catch (error) {
    // The reason why it cannot be reached is more useful than the fact.
    if (!(error instanceof AppError) || isUnavailable(error)) await requireDatabase(config);
    throw error;
  } finally {
    await db.close();
  }
}

/** Checks the address that commands use. */
async function requireDatabase(config: RunningConfig): Promise<void> {
  const { findPostgresFault } = await import('#entry/preflight.ts');
  const isDirect = config.directDatabaseUrl !== undefined;
  const fault = await findPostgresFault(directUrlOf(config), isDirect ? { variable: 'DIRECT_DATABASE_URL' } : {});
  if (fault !== null) throw new ConfigError([fault.sentence]);
}

export async function getOrganization({ people }: Stores, id: string): Promise<Id<'org'>> {
  const organization = await people.findOrganization(asId('org', id));
  if (organization === null) {
    throw new AppError('not_found', `there is no organization ${id}; "tocsin org list" shows those there are`);
  }
  return organization.id;
}
