import type { Writable } from 'node:stream';

import type {
  ConnectionProvider,
  DatabaseConnection,
  PostgresPool,
  PostgresPoolClient,
  PostgresQueryResult,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';

import { errorCodeOf } from '#kernel/errors.ts';
import { isStalePlan } from '#storage/postgres/faults.ts';
import type { StatementNames } from '#storage/postgres/statement_names.ts';

interface SharedConnection {
  readonly connection: Promise<DatabaseConnection>;
  readonly release: () => void;
  running: number;
}

/** Lends one connection to statements that run at the same time, as long as any of them runs; they run in the order they came. */
export class Pipeline implements ConnectionProvider {
  readonly #connections: ConnectionProvider;
  #open: SharedConnection | null = null;

  constructor(connections: ConnectionProvider) {
    this.#connections = connections;
  }

  async provideConnection<Result>(consumer: (connection: DatabaseConnection) => Promise<Result>): Promise<Result> {
    const shared = (this.#open ??= this.#take());
    shared.running += 1;
    try {
      return await consumer(await shared.connection);
    } finally {
      shared.running -= 1;
      if (shared.running === 0) {
        this.#open = null;
        shared.release();
      }
    }
  }

  #take(): SharedConnection {
    const taken = Promise.withResolvers<DatabaseConnection>();
    const done = Promise.withResolvers<void>();
    const lending = this.#connections.provideConnection((connection) => {
      taken.resolve(connection);
      return done.promise;
    });
    lending.catch(taken.reject);
    return { connection: taken.promise, release: done.resolve, running: 0 };
  }
}

/** Statements that a connection has prepared by then: it is closed, and with it the plans of those that no longer run. */
const PREPARED_MAX = 250;

/** SQLSTATE: the session has no statement of this name, or has one already. It is another's. */
const SHARED_SESSION: ReadonlySet<unknown> = new Set(['26000', '42P05']);

/** A client of the driver, in the types of Kysely. */
interface DriverClient extends Pick<PoolClient, 'getTransactionStatus' | 'release'> {
  readonly connection: { readonly stream: Writable };
  query<Row>(statement: string | NamedStatement, parameters?: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
}

interface NamedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Lends the connections of a pool, on which statements that run often have names (`statement_names.ts`). A statement whose
 * plan no longer fits the tables runs again without its name, unless it is part of a transaction, which has failed by then.
 */
export function namedPoolOf(pool: Pool, names: StatementNames, preparedMax = PREPARED_MAX): PostgresPool {
  const lent = new WeakMap<PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      const lending = lent.get(client);
      if (lending !== undefined) return lending;
      // Nothing reads rows through cursors, which Kysely's type asks for.
      const named = new NamedClient(client, names, preparedMax) as unknown as PostgresPoolClient;
      lent.set(client, named);
      return named;
    },
  };
}

class NamedClient {
  readonly #client: DriverClient;
  readonly #names: StatementNames;
  readonly #preparedMax: number;
  readonly #prepared = new Set<string>();
  #isCorked = false;

  constructor(client: DriverClient, names: StatementNames, preparedMax: number) {
    this.#client = client;
    this.#names = names;
    this.#preparedMax = preparedMax;
  }

  async query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    this.#sendTogether();
    // Without parameters, a text may be several statements, which no name can stand for.
    const name = parameters.length === 0 ? null : this.#names.nameOf(text);
    if (name === null) return await this.#client.query<Row>(text, parameters);
    this.#prepared.add(name);
    try {
      return await this.#client.query<Row>({ name, text, values: parameters });
    } catch (error) {
      if (!this.#isOfName(error) || this.#client.getTransactionStatus() !== 'I') throw error;
      return await this.#client.query<Row>(text, parameters);
    }
  }

  release(): void {
    this.#client.release(this.#prepared.size > this.#preparedMax);
  }

  /** Holds what is written until all that is asked in this turn is: one system call sends it. */
  #sendTogether(): void {
    if (this.#isCorked) return;
    const { stream } = this.#client.connection;
    this.#isCorked = true;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  /** Whether the statement failed, before it did anything, because it has a name. */
  #isOfName(error: unknown): boolean {
    if (SHARED_SESSION.has(errorCodeOf(error))) {
      this.#names.turnOff();
      return true;
    }
    if (!isStalePlan(error)) return false;
    this.#names.renew();
    return true;
  }
}
