import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

import {
  type ClickHouseClient as NodeClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
  type DataFormat,
} from '@clickhouse/client';

import { type ClickHouseAddress, databaseOf, nodeUrlsOf } from '#storage/clickhouse/address.ts';
import { isFaultOfNode } from '#storage/clickhouse/faults.ts';
import { type Layout, layoutOf } from '#storage/clickhouse/layout.ts';

/** Time for which a node that failed is left alone: doubled each time, up to the maximum. */
const REST_MS = 500;
const REST_MS_MAX = 30_000;

interface Node {
  failures: number;
  restsUntilMs: number;
}

/**
 * Chooses which of several equal nodes to ask: the one that this process prefers, or the next while that one has failed
 * lately. Processes prefer different nodes, and stay with theirs, so that load is spread and caches stay warm.
 */
export class Nodes {
  readonly #nodes: readonly Node[];
  readonly #preferred: number;

  constructor(count: number, preferred: number) {
    this.#nodes = Array.from({ length: count }, () => ({ failures: 0, restsUntilMs: Number.NEGATIVE_INFINITY }));
    this.#preferred = preferred % count;
  }

  /** All of them, in the order in which to ask: those that rest come last, the one that has rested longest first. */
  order(nowMs: number): number[] {
    const count = this.#nodes.length;
    const inTurn = Array.from({ length: count }, (_, index) => (this.#preferred + index) % count);
    const restOf = (index: number): number => Math.max(0, (this.#nodes[index]?.restsUntilMs ?? 0) - nowMs);
    return inTurn.toSorted((a, b) => restOf(a) - restOf(b));
  }

  failed(index: number, nowMs: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    // Requests that fail together are one failure.
    if (nowMs < node.restsUntilMs) return;
    node.restsUntilMs = nowMs + Math.min(REST_MS_MAX, REST_MS * 2 ** Math.min(node.failures, 10));
    node.failures += 1;
  }

  succeeded(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    node.failures = 0;
    node.restsUntilMs = Number.NEGATIVE_INFINITY;
  }
}

/** The official client over all nodes of an address. */
export interface ClickHouseClient extends Pick<NodeClient, 'query' | 'command' | 'insert' | 'exec' | 'close'> {
  readonly layout: Layout;
  readonly database: string;
}

type QueryParams<Format extends DataFormat> = Parameters<typeof NodeClient.prototype.query<Format>>[0];

const ANSWER_MS_MAX = 60_000;

/**
 * Settings of queries over the shards of a cluster. Each is described under its name in
 * https://clickhouse.com/docs/operations/settings/settings.
 */
const ON_A_CLUSTER: ClickHouseSettings = {
  // A subquery sees the rows of all shards, wherever they are; the default refuses it.
  distributed_product_mode: 'global',
  // Half of the rows would be a wrong answer: a rule would not see what it is to page for.
  skip_unavailable_shards: 0,
  // An insert is answered when the shards have stored it, not when the node that was asked has.
  distributed_foreground_insert: 1,
  connect_timeout_with_failover_ms: 2_000,
};

/**
 * Opens the client; connects at the first query. An answer that may take longer than usual is waited for, whether or not
 * the only server seems to be there.
 */
export function openClickHouse(
  address: ClickHouseAddress,
  answerMsMax = ANSWER_MS_MAX,
  pingMs = PING_MS,
): ClickHouseClient {
  const urls = nodeUrlsOf(address.clickhouseUrl);
  if (urls === null) throw new Error('CLICKHOUSE_URL is not an address of ClickHouse');
  const { clickhouseCaFile, clickhouseCluster } = address;
  const ca = clickhouseCaFile === undefined ? null : readFileSync(clickhouseCaFile);
  const common = {
    application: 'tocsin',
    keep_alive: { enabled: true, idle_socket_ttl: 2_000 },
    ...(ca !== null && { tls: { ca_cert: ca } }),
    log: { level: ClickHouseLogLevel.OFF },
  };
  const clients = urls.map((url) =>
    createClient({
      ...common,
      url,
      request_timeout: answerMsMax,
      max_open_connections: 20,
      clickhouse_settings: {
        date_time_input_format: 'best_effort',
        output_format_json_quote_64bit_integers: 1,
        ...(clickhouseCluster !== undefined && ON_A_CLUSTER),
      },
    }),
  );
  const isWatched = clients.length === 1 && answerMsMax <= ANSWER_MS_MAX;
  const watch = isWatched ? new OnlyNodeWatch(createClient({ ...common, url: urls[0] ?? '' }), pingMs) : null;
  return new NodesClient(clients, watch, layoutOf(clickhouseCluster), databaseOf(address.clickhouseUrl));
}

/** Interval at which each of several nodes is pinged, and the number of answers in a row that it may miss. */
const PING_MS = 2_000;
const PINGS_MISSED_MAX = 2;

interface NodeState {
  readonly client: NodeClient;
  /** Ends what waits for a node that is gone without a word, as one behind a broken cable is. */
  waiting: AbortController;
  missed: number;
}

/** Reads go to another node when one fails. What changes something is not repeated: who sent it knows whether it may be. */
class NodesClient implements ClickHouseClient {
  readonly layout: Layout;
  readonly database: string;
  readonly #nodes: readonly NodeState[];
  readonly #choice: Nodes;
  readonly #pings: NodeJS.Timeout | undefined;
  readonly #watch: OnlyNodeWatch | null;

  constructor(clients: readonly NodeClient[], watch: OnlyNodeWatch | null, layout: Layout, database: string) {
    this.layout = layout;
    this.database = database;
    this.#watch = watch;
    this.#nodes = clients.map((client) => ({ client, waiting: new AbortController(), missed: 0 }));
    this.#choice = new Nodes(clients.length, randomInt(clients.length));
    if (clients.length > 1) this.#pings = setInterval(() => this.#pingAll(), PING_MS).unref();
  }

  async query<Format extends DataFormat = 'JSON'>(params: QueryParams<Format>) {
    const order = this.#choice.order(performance.now());
    for (const [place, index] of order.entries()) {
      try {
        return await this.#on(index, params.abort_signal, (client, abort_signal) =>
          client.query<Format>({ ...params, ...(abort_signal && { abort_signal }) }),
        );
      } catch (error) {
        const isLast = place === order.length - 1 || params.abort_signal?.aborted === true;
        if (isLast || !isFaultOfNode(error)) throw error;
      }
    }
    throw new Error('there is no node');
  }

  async command(params: Parameters<NodeClient['command']>[0]) {
    return await this.#onFirst(params.abort_signal, (client, abort_signal) =>
      client.command({ ...params, ...(abort_signal && { abort_signal }) }),
    );
  }

  async insert<Row>(params: Parameters<typeof NodeClient.prototype.insert<Row>>[0]) {
    return await this.#onFirst(params.abort_signal, (client, abort_signal) =>
      client.insert<Row>({ ...params, ...(abort_signal && { abort_signal }) }),
    );
  }

  async exec(params: Parameters<NodeClient['exec']>[0]) {
    return await this.#onFirst(params.abort_signal, (client, abort_signal) =>
      client.exec({ ...params, ...(abort_signal && { abort_signal }) }),
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#pings);
    await Promise.all([...this.#nodes.map(({ client }) => client.close()), this.#watch?.close()]);
  }

  async #onFirst<Result>(
    signal: AbortSignal | undefined,
    work: (client: NodeClient, signal: AbortSignal | undefined) => Promise<Result>,
  ): Promise<Result> {
    const [first = 0] = this.#choice.order(performance.now());
    return await this.#on(first, signal, work);
  }

  async #on<Result>(
    index: number,
    signal: AbortSignal | undefined,
    work: (client: NodeClient, signal: AbortSignal | undefined) => Promise<Result>,
  ): Promise<Result> {
    const node = this.#nodes[index];
    if (node === undefined) throw new Error(`there is no node ${index}`);
    if (this.#watch !== null) return await this.#watch.whileThere((gone) => work(node.client, anyOf(gone, signal)));
    if (this.#pings === undefined) return await work(node.client, signal);
    const gone = node.waiting.signal;
    try {
      const result = await work(node.client, anyOf(gone, signal));
      this.#choice.succeeded(index);
      return result;
    } catch (error) {
      if (isFaultOfNode(error) && signal?.aborted !== true) this.#choice.failed(index, performance.now());
      throw error;
    }
  }

  #pingAll(): void {
    for (const [index, node] of this.#nodes.entries()) void this.#ping(index, node);
  }

  async #ping(index: number, node: NodeState): Promise<void> {
    const { success } = await node.client.ping({ select: false, abort_signal: AbortSignal.timeout(PING_MS) });
    node.missed = success ? 0 : node.missed + 1;
    if (node.missed < PINGS_MISSED_MAX) return;
    this.#choice.failed(index, performance.now());
    node.waiting.abort();
    node.waiting = new AbortController();
  }
}

const anyOf = (gone: AbortSignal, signal: AbortSignal | undefined): AbortSignal =>
  signal === undefined ? gone : AbortSignal.any([gone, signal]);

/** Number of missed pings that mean that a machine is gone rather than busy. */
const ONLY_PINGS_MISSED_MAX = 3;

/** Asks the only server whether it is there, over connections of its own, and only while something takes long. */
class OnlyNodeWatch {
  readonly #client: NodeClient;
  readonly #pingMs: number;

  constructor(client: NodeClient, pingMs: number) {
    this.#client = client;
    this.#pingMs = pingMs;
  }

  /** Ends what waits for a server that is gone without a word. */
  async whileThere<Result>(work: (gone: AbortSignal) => Promise<Result>): Promise<Result> {
    const gone = new AbortController();
    let missed = 0;
    const pings = setInterval(() => {
      void this.#isThere().then((isThere) => {
        missed = isThere ? 0 : missed + 1;
        if (missed >= ONLY_PINGS_MISSED_MAX) gone.abort();
      });
    }, this.#pingMs).unref();
    try {
      return await work(gone.signal);
    } finally {
      clearInterval(pings);
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #isThere(): Promise<boolean> {
    const { success } = await this.#client.ping({ select: false, abort_signal: AbortSignal.timeout(this.#pingMs) });
    return success;
  }
}
