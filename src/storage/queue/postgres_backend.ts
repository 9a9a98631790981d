import { setTimeout as delay } from 'node:timers/promises';

import {
  assertSchemaCompatibility,
  type BackendFactory,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
} from 'bullmq';

/** A worker asks for the next job without end; one that cannot be had is asked for again after so long. */
const ASK_AGAIN_MS = 250;

/**
 * BullMQ's PostgreSQL backend, made to outlive a server that is away. BullMQ checks once whether the schema fits, and a
 * server that was away at that moment would leave it refusing for as long as the process lives.
 */
export const createLastingPostgresBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (
  name,
  opts,
) => new LastingBackend(new LastingConnection(opts.connection), name, opts);

class LastingConnection extends PostgresConnection {
  #ready: Promise<void> | null = null;

  /** Rejects while the server is away or its schema does not fit, and checks again each time until it does. */
  override waitUntilReady(): Promise<void> {
    const ready = (this.#ready ??= this.#check());
    ready.catch(() => {
      if (this.#ready === ready) this.#ready = null;
    });
    return ready;
  }

  async #check(): Promise<void> {
    const client = await this.pool.connect();
    let isSound = false;
    try {
      await assertSchemaCompatibility(client, this.schema);
      isSound = true;
    } finally {
      client.release(!isSound);
    }
    this.emit('ready');
  }
}

class LastingBackend extends PostgresQueueBackend {
  override waitUntilReady(): Promise<void> {
    return this.connection.waitUntilReady();
  }

  /** A fault is not answered at once: BullMQ asks again without a pause, and would keep a processor busy with it. */
  override async moveToActive(token: string, name?: string): ReturnType<PostgresQueueBackend['moveToActive']> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await delay(ASK_AGAIN_MS);
      throw error;
    }
  }
}
