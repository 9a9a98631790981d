import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import path from 'node:path';

import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { startPostgres } from '#infra/embedded/postgres.ts';

import { duration } from './figures.ts';
import { type Bench, printInputs, withFolder } from './harness.ts';
import { isRedisInstalled, redisService } from './paging/redis.ts';
import { CUT_MS, CUT_STORES, type CutRequest, SEND_EVERY_MS, STORES } from './partition/protocol.ts';

export const partition: Bench = {
  name: 'partition',
  about:
    'the network to each store is cut for 20 s under load, with network namespaces (goals: nothing accepted lost, ' +
    'no page lost or doubled, recovery within 10 s)',
  async run() {
    printInputs({
      cut: `${duration(CUT_MS)}, of ${CUT_STORES.join(', ')} in turn (BENCH_PARTITION=Redis for one): nothing passes, no connection is ended`,
      load: `an exception and a point every ${duration(SEND_EVERY_MS)}, each sent until it is accepted`,
      'all else': 'API, worker, pager and the phone simulator in a namespace; each store behind a link of its own',
    });
    const isPossible = process.getuid?.() === 0 && isRedisInstalled() && ip(['netns', 'list']);
    if (!isPossible) return console.log('  skipped: this needs root, Linux with the command "ip", and redis-server\n');
    await withFolder(runIn);
  },
};

/** One link for each store, from the namespace of the product to that of the stores, which is this one. */
async function runIn(folder: string): Promise<void> {
  const namespace = `tocsin-${process.pid}`;
  const links = STORES.map((store, index) => ({
    store,
    outer: `to${process.pid}x${index}`,
    inner: `ti${process.pid}x${index}`,
    address: `10.98.${index}.1`,
  }));
  const redisPort = await findFreePort(0);
  const [postgres, clickhouse, redis] = await Promise.all([
    startPostgres(path.join(folder, 'postgres')),
    startClickHouse(path.join(folder, 'clickhouse')),
    redisService(folder, redisPort).start(new AbortController().signal),
  ]);
  const closers: (() => void)[] = [];
  try {
    must(['netns', 'add', namespace]);
    must(['-n', namespace, 'link', 'set', 'lo', 'up']);
    for (const { outer, inner, address } of links) {
      must(['link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', namespace]);
      must(['addr', 'add', `${address}/30`, 'dev', outer]);
      must(['link', 'set', outer, 'up']);
      must(['-n', namespace, 'addr', 'add', `${address.slice(0, -1)}2/30`, 'dev', inner]);
      must(['-n', namespace, 'link', 'set', inner, 'up']);
    }
    const [toPostgres, toRedis, toClickHouse] = links.map(({ address }) => address);
    const socket = new URL(postgres.url);
    const file = path.join(decodeURIComponent(socket.hostname), `.s.PGSQL.${socket.port}`);
    const engine = new URL(clickhouse.url);
    const open = async (host: string | undefined, onward: NetConnectOpts): Promise<string> => {
      const door = await forward(host ?? '', onward);
      closers.push(door.close);
      return `${host}:${door.port}`;
    };
    const postgresAt = await open(toPostgres, { path: file });
    const redisAt = await open(toRedis, { host: '127.0.0.1', port: redisPort });
    const clickhouseAt = await open(toClickHouse, { host: '127.0.0.1', port: Number(engine.port) });
    const variables = {
      DATABASE_URL: `postgres://${socket.username}@${postgresAt}${socket.pathname}`,
      REDIS_URL: `redis://${redisAt}`,
      CLICKHOUSE_URL: `http://${engine.username}:${engine.password}@${clickhouseAt}`,
      APP_SECRET: 'a secret that is long enough for benchmarks',
    };
    const entry = path.join(import.meta.dirname, 'partition/inside.ts');
    const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, entry], {
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child.on('message', (message) => {
      const { store, isCut } = message as CutRequest;
      const link = links.find((candidate) => candidate.store === store);
      must(['link', 'set', link?.outer ?? '', isCut ? 'down' : 'up']);
      child.send({ done: true });
    });
    await once(child, 'exit');
  } finally {
    for (const close of closers) close();
    for (const { outer } of links) ip(['link', 'delete', outer]);
    ip(['netns', 'delete', namespace]);
    await Promise.all([postgres.stop(), clickhouse.stop(), redis.stop()]);
  }
}

function ip(args: readonly string[]): boolean {
  return spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
}

function must(args: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', args);
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${String(stderr).trim()}`);
}

/** The stores listen on this machine alone; this lets them be reached over a link. */
async function forward(host: string, onward: NetConnectOpts): Promise<{ readonly port: number; close(): void }> {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const store = connect(onward);
    store.setNoDelay(true);
    for (const [from, to] of [
      [client, store],
      [store, client],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
