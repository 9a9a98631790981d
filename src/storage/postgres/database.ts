import { type EntityManager, type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely } from 'kysely';

import { AppError, errorCodeOf, isUnreachable, messageOf } from '#kernel/errors.ts';
import { columnParsers } from '#storage/postgres/column_parsers.ts';

/** A way to run SQL: inside a transaction, or each statement by itself. Parameters are `$1, $2, …`, never spliced. */
export interface Sql {
  rows<Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** The first row, or null. */
  row<Row>(text: string, parameters?: readonly unknown[]): Promise<Row | null>;
  /** How many rows the statement changed. */
  run(text: string, parameters?: readonly unknown[]): Promise<number>;
}

/** What a store works with: the unit of work for entities, and SQL for lists, sweeps and compare-and-set. */
export interface Session {
  readonly em: EntityManager;
  readonly sql: Sql;
}

/** The connection pool of PostgreSQL. */
export interface Database {
  /** Statements that each stand for themselves. */
  readonly sql: Sql;
  /** A session outside any transaction, for reads. */
  session(): Session;
  /** Commits what `work` did when it returns, undoes all of it when it throws. */
  transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** Whether the server has refused something lately for want of room on its disk. */
  isFull(): boolean;
  readonly orm: MikroORM;
  close(): Promise<void>;
}

interface DatabaseOptions {
  readonly url: string;
  readonly entities: readonly EntitySchema[];
  readonly poolMax?: number;
  /** A statement that waits longer for a lock fails; undefined waits as long as a statement may take. */
  readonly lockWaitMsMax?: number | undefined;
  /** Folder of the numbered migrations. */
  readonly migrationsDir?: string;
  readonly extensions?: readonly (new (...dependencies: never[]) => unknown)[];
}

/**
 * A process that hangs within a transaction holds its locks no longer than this: others wait for them, the ones that
 * page people too.
 */
const IDLE_IN_TRANSACTION_MS_MAX = 5_000;

/** So long after a refusal for want of room the disk is taken to be full: nobody may have tried again since. */
const FULL_FOR_MS = 10_000;

/** Opens the pool; connects at the first statement. Connection faults surface as `unavailable` (503). */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const orm = await MikroORM.init({
    dbName: 'tocsin',
    entities: [...options.entities],
    driverOptions: {
      connectionString: options.url,
      types: columnParsers,
      application_name: 'tocsin',
      connectionTimeoutMillis: 5_000,
      statement_timeout: 30_000,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
      ...(options.lockWaitMsMax === undefined ? {} : { lock_timeout: options.lockWaitMsMax }),
    },
    pool: { min: 0, max: options.poolMax ?? 20 },
    ensureDatabase: false,
    debug: false,
    ...(options.migrationsDir === undefined
      ? {}
      : {
          migrations: {
            path: options.migrationsDir,
            tableName: 'migrations',
            snapshot: false,
            silent: true,
            emit: 'ts' as const,
          },
        }),
    ...(options.extensions === undefined ? {} : { extensions: options.extensions as never }),
    schemaGenerator: { ignoreSchema: ['bullmq'] },
  });
  let refusedAtMs = -Infinity;
  const onFull = (): void => void (refusedAtMs = performance.now());
  const session = (): Session => sessionOf(orm.em.fork(), onFull);
  return {
    orm,
    sql: session().sql,
    session,
    transaction: (work) => guarded(() => inTransaction(orm.em.fork(), work, onFull), onFull),
    isFull: () => performance.now() - refusedAtMs < FULL_FOR_MS,
    close: () => orm.close(true),
  };
}

/**
 * Kysely's own transaction gives the connection back whatever happens to it. MikroORM's keeps a connection that is
 * lost midway for ever, so that a server which restarts under load would use up the pool.
 */
async function inTransaction<Result>(
  em: EntityManager,
  work: (session: Session) => Promise<Result>,
  onFull: () => void,
): Promise<Result> {
  let failure: { readonly error: unknown } | null = null;
  const client = em.getConnection().getClient<unknown>();
  const underWay = client.transaction().execute(async (transaction) => {
    em.setTransactionContext(transaction);
    try {
      const result = await work(sessionOf(em, onFull));
      await em.flush();
      return result;
    } catch (error) {
      failure = { error };
      throw error;
    }
  });
  return await underWay.catch((error: unknown) => {
    // Why the work failed tells more than why it could not be undone on a connection that is gone.
    throw failure === null ? error : failure.error;
  });
}

function sessionOf(em: EntityManager, onFull: () => void): Session {
  const execute = async (text: string, parameters: readonly unknown[]) => {
    const executor = em.getTransactionContext<Kysely<unknown>>() ?? em.getConnection().getClient<unknown>();
    return await guarded(() => executor.executeQuery(CompiledQuery.raw(text, [...parameters])), onFull);
  };
  return {
    em,
    sql: {
      async rows<Row>(text: string, parameters: readonly unknown[] = []) {
        return (await execute(text, parameters)).rows as Row[];
      },
      async row<Row>(text: string, parameters: readonly unknown[] = []) {
        return ((await execute(text, parameters)).rows[0] as Row | undefined) ?? null;
      },
      async run(text, parameters = []) {
        return Number((await execute(text, parameters)).numAffectedRows ?? 0);
      },
    },
  };
}

/** SQLSTATE classes, and the error of a Unix socket that is not there: the server is away rather than the statement wrong. */
const UNREACHABLE_CODE = /^(08|57P0|53)|^ENOENT$/;
const UNREACHABLE_TEXT =
  /Connection terminated|encountered a connection error|timeout exceeded when trying to connect|the database system is/;

async function guarded<Result>(work: () => Promise<Result>, onFull: () => void): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const full = toDiskFull(error);
    if (full !== null) {
      onFull();
      throw full;
    }
    if (isDatabaseUnreachable(error)) {
      throw new AppError('unavailable', 'the database does not answer; nothing was changed, try again shortly', {
        cause: error,
        retryAfterSeconds: 5,
      });
    }
    throw error;
  }
}

/** What PostgreSQL's refusal for want of room means to whoever asked; null for any other error. */
export function toDiskFull(error: unknown): AppError | null {
  if (errorCodeOf(error) !== DISK_FULL) return null;
  return new AppError('unavailable', DISK_FULL_TEXT, { cause: error, retryAfterSeconds: 30 });
}

/** SQLSTATE. */
const DISK_FULL = '53100';
export const DISK_FULL_TEXT =
  'the disk of the database is full: nothing was changed; delete what is not needed there, or give it more room';

function isDatabaseUnreachable(error: unknown): boolean {
  if (error instanceof AppError) return false;
  return (
    isUnreachable(error) || UNREACHABLE_CODE.test(String(errorCodeOf(error))) || UNREACHABLE_TEXT.test(messageOf(error))
  );
}

/** True for a violation of the named unique constraint or index, or of any when no name is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const found = error as { code?: unknown; constraint?: unknown } | null;
  return found?.code === '23505' && (constraint === undefined || found.constraint === constraint);
}
