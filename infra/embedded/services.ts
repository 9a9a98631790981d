import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import path from 'node:path';

import { messageOf } from '#kernel/errors.ts';

import { startClickHouse } from './clickhouse.ts';
import { type NodeChild, startNodeChild, type Program } from './node_child.ts';
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

/**
 * One of our own programs that an idle installation does not need: it starts when somebody connects to the port, and is
 * handed the connections.
 */
export function programOnDemand(name: string, program: Program, port: number): AddressedService {
  const address = new Address(name);
  return {
    name,
    get url() {
      return address.url;
    },
    async start(signal) {
      const ended = Promise.withResolvers<string>();
      let child: Promise<NodeChild> | null = null;
      const startChild = async (): Promise<NodeChild> => {
        const running = await startNodeChild(program, signal);
        void running.exited.then(ended.resolve);
        return running;
      };
      const server = createServer({ pauseOnConnect: true }, (connection) => {
        connection.on('error', () => {});
        child ??= startChild();
        child.then(
          (running) => running.give(connection),
          (error: unknown) => {
            connection.destroy();
            ended.resolve(messageOf(error));
          },
        );
      });
      server.listen(address.port || port, '127.0.0.1');
      await once(server, 'listening', { signal });
      address.url = `http://127.0.0.1:${portOf(server.address())}`;
      void ended.promise.then(() => server.close());
      return {
        pid: process.pid,
        exited: ended.promise,
        async stop() {
          server.close();
          await child?.then(
            (running) => running.stop(),
            () => {},
          );
          ended.resolve('stopped');
        },
        kill: () =>
          void child?.then(
            (running) => running.kill(),
            () => {},
          ),
      };
    },
  };
}

function portOf(address: ReturnType<Server['address']>): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
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
