import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  type PostgresPool,
  type QueryCompiler as Compiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';

import { errorCodeOf } from '#kernel/errors.ts';
import { isDiskFull, READ_ONLY, toConnectFault, toFault } from '#storage/postgres/faults.ts';
import { QueryCompiler } from '#storage/postgres/query_compiler.ts';

/** Called each time the server refuses something because its disk is full, or because it takes no changes. */
interface Notices {
  readonly onFull: () => void;
  readonly onReadOnly: () => void;
}

/**
 * Dialect of all queries, those of the ORM included: a server that is away or has no room is an `unavailable`.
 */
export class Dialect extends PostgresDialect {
  readonly #notices: Notices;
  readonly #afterBegin: string | null;

  /**
   * @param afterBegin a statement that each transaction begins with; null for none
   */
  constructor(pool: PostgresPool, notices: Notices, afterBegin: string | null) {
    super({ pool });
    this.#notices = notices;
    this.#afterBegin = afterBegin;
  }

  override createDriver(): Driver {
    const translate = (error: unknown): unknown => {
      if (isDiskFull(error)) this.#notices.onFull();
      if (errorCodeOf(error) === READ_ONLY) this.#notices.onReadOnly();
      return toFault(error);
    };
    return new FaultTranslatingDriver(super.createDriver(), translate, this.#afterBegin);
  }

  override createQueryCompiler(): Compiler {
    return new QueryCompiler();
  }
}

type Translate = (error: unknown) => unknown;
type Compile = Compiler['compileQuery'];

class FaultTranslatingDriver implements Driver {
  readonly #driver: Driver;
  readonly #translate: Translate;
  readonly #connections = new WeakMap<DatabaseConnection, DatabaseConnection>();
  readonly #inner = new WeakMap<DatabaseConnection, DatabaseConnection>();

  readonly #afterBegin: string | null;

  constructor(driver: Driver, translate: Translate, afterBegin: string | null) {
    this.#driver = driver;
    this.#translate = translate;
    this.#afterBegin = afterBegin;
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const inner = await this.#driver.acquireConnection().catch((error: unknown) => {
      throw toConnectFault(this.#translate(error));
    });
    const wrapped = this.#connections.get(inner);
    if (wrapped !== undefined) return wrapped;
    const connection = new FaultTranslatingConnection(inner, this.#translate);
    this.#connections.set(inner, connection);
    this.#inner.set(connection, inner);
    return connection;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    await this.#driver.releaseConnection(this.#inner.get(connection) ?? connection);
  }

  async init(): Promise<void> {
    await this.#driver.init();
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await this.#driver.beginTransaction(connection, settings);
    if (this.#afterBegin !== null) await connection.executeQuery(CompiledQuery.raw(this.#afterBegin));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#driver.commitTransaction(connection);
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#driver.rollbackTransaction(connection);
  }

  async savepoint(connection: DatabaseConnection, name: string, compile: Compile): Promise<void> {
    await this.#driver.savepoint?.(connection, name, compile);
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string, compile: Compile): Promise<void> {
    await this.#driver.rollbackToSavepoint?.(connection, name, compile);
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string, compile: Compile): Promise<void> {
    await this.#driver.releaseSavepoint?.(connection, name, compile);
  }

  async destroy(): Promise<void> {
    await this.#driver.destroy();
  }
}

class FaultTranslatingConnection implements DatabaseConnection {
  readonly #inner: DatabaseConnection;
  readonly #translate: Translate;

  constructor(inner: DatabaseConnection, translate: Translate) {
    this.#inner = inner;
    this.#translate = translate;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      return await this.#inner.executeQuery<Row>(query);
    } catch (error) {
      throw this.#translate(error);
    }
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.#inner.streamQuery(query, chunkSize);
  }
}
