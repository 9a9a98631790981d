import { randomBytes } from 'node:crypto';
import path from 'node:path';

import { startClickHouse } from './clickhouse.ts';
import { startNodeChild, type Program } from './node_child.ts';
import { startPostgres, type PostgresOptions } from './postgres.ts';
import type { Service } from './supervisor.ts';

/** A service with an address that stays the same when it is restarted. */
export interface AddressedService extends Service {
  /** Throws before the first start. */
  readonly url: string;
}

/** PostgreSQL in a folder of the data folder. */
export function postgresService(
  dataDir: string,
  options: Pick<PostgresOptions, 'durable' | 'prepared'> = {},
): AddressedService {
  const address = new Address('PostgreSQL');
  return {
    name: 'PostgreSQL',
    get url() {
      return address.url;
    },
    async start(signal) {
      const server = await startPostgres(path.join(dataDir, 'postgres'), { ...options, signal });
      address.url = server.url;
      return server;
    },
  };
}

/** ClickHouse in a folder of the data folder; `prepared` is a store that a first start copies. */
export function clickhouseService(dataDir: string, prepared: string | null = null): AddressedService {
  const address = new Address('ClickHouse');
  const password = randomBytes(24).toString('base64url');
  return {
    name: 'ClickHouse',
    get url() {
      return address.url;
    },
    async start(signal) {
      const options = { port: address.port, password, prepared, signal };
      const server = await startClickHouse(path.join(dataDir, 'clickhouse'), options);
      address.url = server.url;
      return server;
    },
  };
}

/** One of our own programs. */
export function programService(name: string, program: Program): AddressedService {
  const address = new Address(name);
  return {
    name,
    get url() {
      return address.url;
    },
    async start(signal) {
      const child = await startNodeChild(program, signal);
      if (child.message.url !== undefined) address.url = child.message.url;
      return child;
    },
  };
}

class Address {
  readonly #name: string;
  #url: string | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  get url(): string {
    if (this.#url === null) throw new Error(`${this.#name} has not said where it listens`);
    return this.#url;
  }

  set url(url: string) {
    this.#url = url;
  }

  get port(): number {
    return this.#url === null ? 0 : Number(new URL(this.#url).port);
  }
}
