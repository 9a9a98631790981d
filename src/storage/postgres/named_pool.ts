import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { Pool, PoolClient } from 'pg';

import { errorCodeOf } from '#kernel/errors.ts';
import { isStalePlan } from '#storage/postgres/faults.ts';
import type { StatementNames } from '#storage/postgres/statement_names.ts';

/** Statements that a connection has prepared by then: it is closed, and with it the plans of those that no longer run. */
const PREPARED_MAX = 250;

/** SQLSTATE: the session has no statement of this name, or has one already. It is another's. */
const SHARED_SESSION: ReadonlySet<unknown> = new Set(['26000', '42P05']);

/** A client of the driver, in the types of Kysely. */
interface DriverClient extends Pick<PoolClient, 'getTransactionStatus' | 'release'> {
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

  constructor(client: DriverClient, names: StatementNames, preparedMax: number) {
    this.#client = client;
    this.#names = names;
    this.#preparedMax = preparedMax;
  }

  async query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
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
