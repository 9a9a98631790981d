import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { Client, type ClientConfig, type Pool } from 'pg';

interface Silence {
  /** A connection in use that says nothing for longer is ended, whatever the server says of it. */
  readonly endAfterMs: number;
  /** Time after which the server is asked about it. */
  readonly askAfterMs?: number;
  /** Address of the server, which is asked about connections that say nothing. */
  readonly server: ClientConfig;
}

/** A connection that waits for an answer. */
interface Suspect {
  readonly pid: number | null;
  readonly stream: Socket;
  readonly sinceMs: number;
  /** Bytes received by then. */
  readonly bytesRead: number;
}

const ASK_AFTER_MS = 2_000;
/** Intervals at which the server is asked, while it does not answer and while it says that it is at work. */
const ASK_AGAIN_MS = 500;
const AT_WORK_MS = 3_000;
const ANSWER_MS_MAX = 2_000;

/**
 * Query for connections for which the server does nothing: the question has not come there, or the answer is under way.
 */
const NOT_AT_WORK = `select pg_backend_pid() as own, array(
    select p.pid from unnest($1::int[]) p(pid) left join pg_stat_activity a using (pid)
    where a.pid is null or a.state like 'idle%'
  ) as lost`;

/**
 * Ends connections whose question or answer is lost. A network that lost packets for a while leaves connections open whose
 * next try TCP puts off ever longer: without this, work would wait for them long after the network is back. So the server
 * is asked over a new connection what it does for one that is silent while it is in use. What was asked fails as when the
 * connection is lost.
 */
export function reapDeadConnections(pool: Pool, silence: Silence): void {
  const { endAfterMs, askAfterMs = ASK_AFTER_MS } = silence;
  const suspectAfterMs = Math.min(askAfterMs, endAfterMs);
  const watch = new DeadConnectionReaper(silence, suspectAfterMs);
  const watched = new WeakMap<object, Socket>();
  pool.on('connect', (client) => {
    const stream = streamOf(client);
    if (stream === null) return;
    watched.set(client, stream);
    stream.on('timeout', () => watch.suspect(client, stream));
  });
  pool.on('acquire', (client) => watched.get(client)?.setTimeout(suspectAfterMs));
  pool.on('release', (_error, client) => watched.get(client)?.setTimeout(0));
}

class DeadConnectionReaper {
  readonly #silence: Silence;
  readonly #suspects = new Map<object, Suspect>();
  readonly #suspectAfterMs: number;
  #isWatching = false;

  constructor(silence: Silence, suspectAfterMs: number) {
    this.#silence = silence;
    this.#suspectAfterMs = suspectAfterMs;
  }

  suspect(client: object, stream: Socket): void {
    const { pid, isWaiting } = stateOf(client);
    if (!isWaiting) return;
    const sinceMs = performance.now() - this.#suspectAfterMs;
    this.#suspects.set(client, { pid, stream, sinceMs, bytesRead: stream.bytesRead });
    if (!this.#isWatching) void this.#watch();
  }

  /** Never throws. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    for (;;) {
      this.#endWhere(({ sinceMs }) => performance.now() - sinceMs >= this.#silence.endAfterMs);
      const lost = this.#suspects.size === 0 ? null : await this.#findLost();
      if (lost !== null) this.#endWhere(({ pid }) => pid !== null && lost.has(pid));
      if (this.#suspects.size === 0) break;
      await delay(lost === null ? ASK_AGAIN_MS : AT_WORK_MS, undefined, { ref: false });
    }
    this.#isWatching = false;
  }

  /** The server processes of those that are lost; null when the server does not answer. */
  async #findLost(): Promise<ReadonlySet<number> | null> {
    const pids = [...this.#suspects.values()].flatMap(({ pid }) => pid ?? []);
    const limits = { connectionTimeoutMillis: ANSWER_MS_MAX, query_timeout: ANSWER_MS_MAX };
    const client = new Client({ ...this.#silence.server, ...limits });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ own: number; lost: number[] }>(NOT_AT_WORK, [pids]);
      const [row] = rows;
      // A pooler names processes of its own, of which the server knows nothing.
      return row === undefined || row.own !== stateOf(client).pid ? new Set() : new Set(row.lost);
    } catch {
      return null;
    } finally {
      client.end().catch(() => {});
    }
  }

  /** Ends the suspects that are lost; those that have received something meanwhile are no longer suspected. */
  #endWhere(isLost: (suspect: Suspect) => boolean): void {
    for (const [client, suspect] of this.#suspects) {
      const { stream, bytesRead } = suspect;
      const hasSpoken = stream.bytesRead !== bytesRead || stream.destroyed || !stateOf(client).isWaiting;
      if (hasSpoken || isLost(suspect)) this.#suspects.delete(client);
      if (!hasSpoken && isLost(suspect)) stream.destroy();
    }
  }
}

/** The driver keeps these in fields that its types do not name. */
interface DriverClient {
  readonly connection?: { readonly stream?: Socket };
  readonly processID?: number | null;
  readonly readyForQuery?: boolean;
}

function streamOf(client: object): Socket | null {
  return (client as DriverClient).connection?.stream ?? null;
}

function stateOf(client: object): { readonly pid: number | null; readonly isWaiting: boolean } {
  const { processID, readyForQuery } = client as DriverClient;
  return { pid: processID ?? null, isWaiting: readyForQuery === false };
}

/**
 * Lets a pool leave a server that has become a standby: called when one is found to take no changes, connections that are
 * open by then are closed when their work is done, and new ones go where the address leads now.
 */
export function failoverEviction(pool: Pool): () => void {
  const openedAtMs = new WeakMap<object, number>();
  let staleBeforeMs = Number.NEGATIVE_INFINITY;
  pool.on('connect', (client) => openedAtMs.set(client, performance.now()));
  pool.on('release', (_error, client) => {
    if ((openedAtMs.get(client) ?? 0) >= staleBeforeMs) return;
    if ('end' in client && typeof client.end === 'function') void client.end();
  });
  return () => void (staleBeforeMs = performance.now());
}
