import { type EntityManager, MikroORM, PostgreSqlDriver } from '@mikro-orm/postgresql';
import { CompiledQuery, Kysely } from 'kysely';
import { Pool, type PoolConfig, types } from 'pg';

import { AppError } from '#kernel/errors.ts';
import { fromDate, type Temporal } from '#kernel/time.ts';
import { namedPoolOf, Pipeline } from '#storage/postgres/connections.ts';
import { Dialect } from '#storage/postgres/dialect.ts';
import { toFault } from '#storage/postgres/faults.ts';
import { failoverEviction, reapDeadConnections } from '#storage/postgres/dead_connections.ts';
import { StatementNames } from '#storage/postgres/statement_names.ts';
import { ENTITIES, type Tables } from '#storage/postgres/tables.ts';

type Oid = Parameters<typeof types.getTypeParser>[0];

const { TIMESTAMPTZ, DATE, INT8 } = types.builtins;

/**
 * Parsers of columns: `timestamptz` as Temporal.Instant, `date` as YYYY-MM-DD, `bigint` as a number (no column of ours holds
 * more than 2^53-1), everything else as usual.
 */
const columnParsers = {
  getTypeParser(oid: Oid, format?: 'text' | 'binary'): unknown {
    if (oid === TIMESTAMPTZ) return instantOf;
    if (oid === DATE) return String;
    if (oid === INT8) return Number;
    return types.getTypeParser(oid, format);
  },
};

const INSTANTS_MAX = 2_000;
const instants = new Map<string, Temporal.Instant>();

/** Returns the time of a column. Lists read the same rows again and again, and making an instant takes a microsecond. */
function instantOf(text: string): Temporal.Instant {
  const remembered = instants.get(text);
  if (remembered !== undefined) return remembered;
  const instant = fromDate(new Date(text));
  if (instants.size >= INSTANTS_MAX) instants.clear();
  instants.set(text, instant);
  return instant;
}

/**
 * SQL as text, for the few statements that have to be: inside a transaction, or each by itself. Parameters are
 * `$1, $2, …`, never spliced.
 */
export interface Sql {
  rows<Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** The first row, or null. */
  row<Row>(text: string, parameters?: readonly unknown[]): Promise<Row | null>;
  /** Runs the statement and returns the number of changed rows. */
  run(text: string, parameters?: readonly unknown[]): Promise<number>;
}

/** Tools of a store: the unit of work for entities, and typed queries for lists, sweeps and compare-and-set. */
export interface Session {
  readonly em: EntityManager;
  /** Queries over the entities' tables, in the transaction of the session. */
  readonly db: Kysely<Tables>;
  readonly sql: Sql;
}

export interface Database {
  /** Statements that each stand for themselves. */
  readonly sql: Sql;
  /** A session outside any transaction, for reads. */
  session(): Session;
  /**
   * A session for one request, outside any transaction. Statements that it runs at the same time share one connection and
   * are sent together, which takes half the processor time here and in the server.
   */
  pipelined(): Session;
  /** Commits what `work` did when it returns, undoes all of it when it throws. */
  transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** Whether the server has refused something lately because its disk is full. */
  isFull(): boolean;
  /** Knows the entities, and belongs to no unit of work. */
  readonly em: EntityManager;
  close(): Promise<void>;
}

export interface DatabaseAddress {
  readonly databaseUrl: string;
  /** PostgreSQL itself, when `databaseUrl` is a pooler in transaction mode, where a session belongs to nobody for long. */
  readonly directDatabaseUrl?: string | undefined;
}

/** Returns the URL for connections that need a session of their own. */
export function directUrlOf({ databaseUrl, directDatabaseUrl }: DatabaseAddress): string {
  return directDatabaseUrl ?? databaseUrl;
}

interface DatabaseOptions {
  readonly url: string;
  /** Whether the address is a pooler in transaction mode: the limits of a session are set at the begin of each transaction. */
  readonly isPooler?: boolean;
  readonly poolMax?: number;
  /** A statement that waits longer for a lock fails; undefined waits as long as a statement may take. */
  readonly lockWaitMsMax?: number | undefined;
  /** Longest pause within a transaction, which then fails. */
  readonly idleMsMax?: number | undefined;
  /** A connection in use that says nothing for longer is given up, and sooner if it is lost; undefined waits as long as TCP does. */
  readonly silenceMsMax?: number;
  /** Factor of all limits on time, as a clock has it. */
  readonly patience?: number | undefined;
}

interface MigrationOptions extends DatabaseOptions {
  readonly migrationsDir: string;
  readonly extensions: readonly (new (...dependencies: never[]) => unknown)[];
}

/**
 * A process that hangs within a transaction holds its locks no longer than this, unless it says less: others wait for
 * them, the ones that page people too.
 */
const IDLE_IN_TRANSACTION_MS_MAX = 5_000;

/** Time for which the disk is taken to be full after such a refusal: nobody may have tried again since. */
const FULL_FOR_MS = 10_000;

const SETTINGS = {
  dbName: 'tocsin',
  entities: ENTITIES,
  ensureDatabase: false,
  debug: false,
  schemaGenerator: { ignoreSchema: ['bullmq'] },
};

/** Finds out what the entities are, which takes longer than to connect: once for all databases that a process opens. */
let entities: MikroORM | null = null;

/** Opens the pool; connects at the first statement. Connection faults surface as `unavailable` (503). */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { dialect, isFull } = openDialect(options);
  entities ??= new MikroORM(SETTINGS);
  const { config } = entities;
  // The connection of a driver keeps the settings with which it is made, until it is closed.
  config.set('driverOptions', () => dialect);
  const driver = new PostgreSqlDriver(config);
  config.set('driverOptions', refuse);
  driver.getPlatform().setConfig(config);
  driver.setMetadata(entities.getMetadata());
  const em = driver.createEntityManager();
  return databaseOf(em, dialect, isFull);
}

/** A connection that was closed asks for the settings again: those of another database must not answer. */
function refuse(): never {
  throw new AppError('unavailable', 'this process has closed its connection to the database');
}

/** Loads every package of the ORM that is installed, as only migrations need it. */
export async function openToMigrate({
  migrationsDir,
  extensions,
  ...options
}: MigrationOptions): Promise<Database & { readonly orm: MikroORM }> {
  const { dialect, isFull } = openDialect(options);
  const orm = await MikroORM.init({
    ...SETTINGS,
    driverOptions: () => dialect,
    migrations: {
      path: migrationsDir,
      tableName: 'migrations',
      snapshot: false,
      silent: true,
      // All in one would hold the locks of the first until the last has ended.
      allOrNothing: false,
      emit: 'ts',
    },
    extensions: extensions as never,
  });
  return { ...databaseOf(orm.em, dialect, isFull), orm };
}

function openDialect(options: DatabaseOptions): { readonly dialect: Dialect; readonly isFull: () => boolean } {
  let refusedAtMs = -Infinity;
  const onFull = (): void => void (refusedAtMs = performance.now());
  const limits = limitsOf(options);
  // A pooler refuses to begin a session with them.
  const pool = openPool(options, options.isPooler ? { query_timeout: limits.statement_timeout } : limits);
  const notices = { onFull, onReadOnly: failoverEviction(pool) };
  return {
    // A statement has its name in a session, and a pooler lends another session each time.
    dialect: options.isPooler
      ? new Dialect(pool, notices, setLocally(limits))
      : new Dialect(namedPoolOf(pool, new StatementNames()), notices, null),
    isFull: () => performance.now() - refusedAtMs < FULL_FOR_MS,
  };
}

function databaseOf(em: EntityManager, dialect: Dialect, isFull: () => boolean): Database {
  const session = (): Session => new LazySession(em, em.getKysely<Tables>(), null);
  const unused = dialect.createDriver();
  return {
    em,
    sql: session().sql,
    session,
    pipelined: () => {
      const connections = em.getKysely<Tables>().getExecutor();
      const executor = connections.withConnectionProvider(new Pipeline(connections));
      return new LazySession(em, new Kysely<Tables>({ config: { dialect }, dialect, driver: unused, executor }), null);
    },
    transaction: (work) => inTransaction(em, work),
    isFull,
    close: () => em.getDriver().close(true),
  };
}

/** A statement that takes longer is given up. */
const STATEMENT_MS_MAX = 30_000;

function limitsOf({ lockWaitMsMax, idleMsMax = IDLE_IN_TRANSACTION_MS_MAX, patience = 1 }: DatabaseOptions) {
  return {
    statement_timeout: patience * STATEMENT_MS_MAX,
    idle_in_transaction_session_timeout: patience * idleMsMax,
    ...(lockWaitMsMax !== undefined && { lock_timeout: lockWaitMsMax }),
  };
}

/** Returns the statement that sets limits for one transaction: they end with it. */
function setLocally(limits: Readonly<Record<string, number>>): string {
  return `select ${Object.entries(limits)
    .map(([name, milliseconds]) => `set_config('${name}', '${milliseconds}', true)`)
    .join(', ')}`;
}

function openPool(options: DatabaseOptions, limits: PoolConfig): Pool {
  const { url, poolMax = 20, silenceMsMax, patience = 1, isPooler = false } = options;
  const pool = new Pool({
    connectionString: url,
    pipeline: !isPooler,
    types: columnParsers,
    max: poolMax,
    application_name: 'tocsin',
    connectionTimeoutMillis: patience * 5_000,
    ...limits,
  });
  // A connection that breaks fails its own query. Unheard, the event would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  if (silenceMsMax !== undefined) {
    reapDeadConnections(pool, { endAfterMs: patience * silenceMsMax, server: { connectionString: url } });
  }
  return pool;
}

/**
 * Kysely's own transaction gives the connection back whatever happens to it. MikroORM's keeps a connection that is
 * lost midway for ever, so that a server which restarts under load would use up the pool.
 */
async function inTransaction<Result>(em: EntityManager, work: (session: Session) => Promise<Result>): Promise<Result> {
  let failure: { readonly error: unknown } | null = null;
  const underWay = em
    .getKysely<Tables>()
    .transaction()
    .execute(async (transaction) => {
      const session = new LazySession(em, queriesOf(transaction), transaction);
      try {
        const result = await work(session);
        await session.flush();
        return result;
      } catch (error) {
        failure = { error };
        throw error;
      }
    });
  return await underWay.catch((error: unknown) => {
    // Why the work failed tells more than why it could not be undone on a connection that is gone.
    throw toFault(failure === null ? error : failure.error);
  });
}

/** Returns a transaction as what queries are made with. (To compare the two classes takes the checker of types seconds.) */
function queriesOf(transaction: unknown): Kysely<Tables> {
  return transaction as Kysely<Tables>;
}

/** Makes its unit of work when something first asks for it: that takes longer than a query by key, and most never ask. */
class LazySession implements Session {
  readonly db: Kysely<Tables>;
  readonly sql: Sql;
  readonly #root: EntityManager;
  readonly #transaction: unknown;
  #em: EntityManager | null = null;

  constructor(root: EntityManager, db: Kysely<Tables>, transaction: unknown) {
    this.#root = root;
    this.#transaction = transaction;
    this.db = db;
    this.sql = sqlOf(db);
  }

  get em(): EntityManager {
    if (this.#em === null) {
      this.#em = this.#root.fork();
      if (this.#transaction !== null) this.#em.setTransactionContext(this.#transaction);
    }
    return this.#em;
  }

  async flush(): Promise<void> {
    await this.#em?.flush();
  }
}

export function sqlOf(db: Kysely<Tables>): Sql {
  const execute = async <Row>(text: string, parameters: readonly unknown[]) =>
    await db.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]));
  return {
    async rows<Row>(text: string, parameters: readonly unknown[] = []) {
      return (await execute<Row>(text, parameters)).rows;
    },
    async row<Row>(text: string, parameters: readonly unknown[] = []) {
      return (await execute<Row>(text, parameters)).rows[0] ?? null;
    },
    async run(text, parameters = []) {
      return Number((await execute(text, parameters)).numAffectedRows ?? 0);
    },
  };
}
