import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { findFreePort } from '#infra/embedded/free_port.ts';

/** The cluster of the stand-in: one shard, which is the engine itself. */
export const CLUSTER = 'one-shard';
/** A cluster whose second shard nobody serves. */
export const LAME_CLUSTER = 'lame';

export interface ClusterStandIn {
  /** URL as CLICKHOUSE_URL names it, without a database. */
  readonly url: string;
  /** The statements as they came, before they were adapted. */
  readonly statements: readonly string[];
  stop(): Promise<void>;
}

interface StandInOptions {
  /** The port of a ZooKeeper: tables are then really replicated ones, which take definitions and no rows. */
  readonly keeperPort?: number;
  /** Number of its shard in the cluster. */
  readonly shard?: number;
  readonly replica?: number;
  readonly folder?: string;
}

/**
 * ClickHouse's engine as a cluster of one shard, behind HTTP. The engine refuses `ON CLUSTER`, and inserts into replicated
 * tables; here the first is left out on the way, and the tables are plain ones unless there is a Keeper. `Distributed`
 * tables, `clusterAllReplicas` and all that is asked of them are the real ones.
 */
export async function startClusterStandIn(options: StandInOptions = {}): Promise<ClusterStandIn> {
  const { keeperPort, shard = 1, replica = 1, folder } = options;
  const dir = folder ?? mkdtempSync(path.join(os.tmpdir(), 'tocsin-cluster-'));
  mkdirSync(dir, { recursive: true });
  const configFile = path.join(dir, 'config.xml');
  const [tcpPort, interserverPort, deadPort] = [await findFreePort(0), await findFreePort(0), await findFreePort(0)];
  writeFileSync(configFile, configOf({ tcpPort, interserverPort, deadPort, keeperPort, shard, replica }));
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16' };
  const main = path.resolve('infra/embedded/chdb_server/main.ts');
  const child = fork(main, { execArgv: [], env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  child.send({
    dataDir: path.join(dir, 'data'),
    port: 0,
    user: 'tocsin',
    password: 'known-to-the-test',
    memoryBytes: 2 ** 30,
    rowsBytesMax: 2 ** 26,
    configFile,
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const statements: string[] = [];
  const front = await startProxy(new URL(url), statements, keeperPort !== undefined);
  const address = new URL(url);
  address.port = String(front.port);
  return {
    url: address.toString(),
    statements,
    async stop() {
      front.close();
      const ended = once(child, 'exit');
      // With replicated tables it would wait for other replicas; what it has acknowledged is on disk.
      child.kill('SIGKILL');
      await ended;
      if (folder === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Rewrites a statement for a cluster so that the engine can run it. */
function adapt(statement: string, isReplicated: boolean): string {
  const onOne = statement.replaceAll(/ ON CLUSTER `[^`]+`/g, '');
  // What has been applied is written down, which a replicated table would not take.
  if (isReplicated && !onOne.includes('TABLE IF NOT EXISTS migrations')) return onOne;
  return (
    onOne
      .replaceAll(/Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/g, '$1(')
      // Plain tables remember inserts by a setting of their own.
      .replaceAll(/(?<!non_)replicated_deduplication_window = /g, 'non_replicated_deduplication_window = ')
  );
}

async function startProxy(engine: URL, statements: string[], isReplicated: boolean) {
  // Values of parameters are part of the address, as a server allows.
  const server = createServer({ maxHeaderSize: 1024 * 1024 }, (incoming, answer) => {
    const pass = async (): Promise<void> => {
      const body = await bytesOf(incoming);
      const [, query] = /[?&]query=([^&]*)/.exec(incoming.url ?? '') ?? [];
      const isText = query === undefined && body.length < 100_000;
      if (isText) statements.push(body.toString());
      const sent = isText ? Buffer.from(adapt(body.toString('latin1'), isReplicated), 'latin1') : body;
      const { 'content-length': _, 'transfer-encoding': __, ...headers } = incoming.headers;
      const onward = request({
        host: '127.0.0.1',
        port: engine.port,
        method: incoming.method,
        path: incoming.url,
        headers: { ...headers, 'content-length': sent.length },
      });
      answer.once('close', () => onward.destroy());
      onward.once('response', (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      });
      onward.once('error', () => answer.destroy());
      onward.end(sent);
    };
    pass().catch(() => answer.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface Ports {
  readonly tcpPort: number;
  readonly interserverPort: number;
  readonly deadPort: number;
  readonly keeperPort: number | undefined;
  readonly shard: number;
  readonly replica: number;
}

function configOf({ tcpPort, interserverPort, deadPort, keeperPort, shard, replica }: Ports): string {
  const served = (port: number): string =>
    `<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`;
  const keeper = `<zookeeper><node><host>127.0.0.1</host><port>${keeperPort}</port></node></zookeeper>
    <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>`;
  return `<clickhouse>
    ${keeperPort === undefined ? '' : keeper}
    <macros><shard>${shard}</shard><replica>r${replica}</replica></macros>
    <remote_servers>
      <${CLUSTER}>${served(tcpPort)}</${CLUSTER}>
      <${LAME_CLUSTER}>${served(tcpPort)}${served(deadPort)}</${LAME_CLUSTER}>
    </remote_servers>
    <interserver_http_host>127.0.0.1</interserver_http_host>
    <interserver_http_port>${interserverPort}</interserver_http_port>
    <tcp_port>${tcpPort}</tcp_port>
  </clickhouse>`;
}
