import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

import { Type } from 'typebox';
import { describe, expect, onTestFinished, test } from 'vitest';

import { isRedisInstalled, redisService } from '#infra/bench/paging/redis.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { postgresService } from '#infra/embedded/services.ts';
import type { Running, Service } from '#infra/embedded/supervisor.ts';
import { defineJob } from '#kernel/job.ts';
import { type Log, silentLog } from '#kernel/log.ts';
import { connectQueue, migrateQueue } from '#storage/queue/connection.ts';
import { type JobQueue, openJobQueue, pending } from '#storage/queue/job_queue.ts';
import { handleJob, startJobWorkers } from '#storage/queue/job_workers.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';

const greet = defineJob({
  name: 'greet',
  queue: 'ingest',
  payload: Type.Object({ who: Type.String() }),
  key: null,
  attempts: 3,
  backoff: { firstDelayMs: 1, maxDelayMs: 5 },
});

/** Instead of as many as a processor can make: asking for jobs must leave it time for everything else. */
const FAULTS_A_SECOND_MAX = 100;
/** Far more than it takes, for a busy machine. */
const BACK_WITHIN_MS = 60_000;

interface Place {
  readonly address: { readonly redisUrl: string | undefined; readonly databaseUrl: string };
  /** A new process on the same data, at the same address. */
  start(): Promise<Running>;
}

const backends = [
  { name: 'PostgreSQL', isAvailable: true, place: placeOnPostgres },
  { name: 'Redis', isAvailable: canRunWith('redis-server', isRedisInstalled()), place: placeOnRedis },
];

describe.each(backends.filter(({ isAvailable }) => isAvailable))('a queue on $name', ({ place: makePlace }) => {
  test('jobs run as soon as a queue is back that was away when it was opened', async () => {
    const { address, start } = await makePlace(makeFolder());
    const { queue, seen, faults } = open(address);
    const anna = queue.add([pending(greet, { who: 'Anna' })]).catch(() => {});
    await untilFaults(faults, 5);
    await start();
    await anna;
    await addSoon(queue, 'Bram');
    await expect.poll(() => seen, { timeout: BACK_WITHIN_MS }).toContain('Bram');
    expect(faults.aSecond).toBeLessThan(FAULTS_A_SECOND_MAX);
  });

  test('every accepted job runs although the queue is killed while it is used', async () => {
    const { address, start } = await makePlace(makeFolder());
    const server = await start();
    const { queue, seen, faults } = open(address);
    await queue.add([pending(greet, { who: 'Anna' })]);
    await expect.poll(() => seen).toEqual(['Anna']);
    await queue.add([pending(greet, { who: 'Bram' })]);
    server.kill();
    await server.exited;
    await untilFaults(faults, 5);
    await start();
    await addSoon(queue, 'Cleo');
    await expect.poll(() => new Set(seen), { timeout: BACK_WITHIN_MS }).toEqual(new Set(['Anna', 'Bram', 'Cleo']));
  });
});

test('a server that dies before it is asked anything does no harm to the process', async () => {
  const server = createServer((socket) => {
    socket.once('data', () => socket.end(Buffer.concat([WELCOME, FAREWELL])));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { queue, faults } = open({ redisUrl: undefined, databaseUrl: `postgres://app@127.0.0.1:${port}/tocsin` });
  await expect(queue.add([pending(greet, { who: 'Anna' })])).rejects.toMatchObject({ code: 'unavailable' });
  await untilFaults(faults, 3);
});

/** PostgreSQL's messages to a client that it lets in without a password, and when it is being shut down. */
const WELCOME = Buffer.concat([reply('R', Buffer.alloc(4)), reply('Z', Buffer.from('I'))]);
const FAREWELL = reply('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

function reply(kind: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(kind), length, body]);
}

/** Adds a job once the queue takes it. */
async function addSoon(queue: JobQueue, who: string): Promise<void> {
  const add = async (): Promise<boolean> => {
    await queue.add([pending(greet, { who })]);
    return true;
  };
  await expect.poll(add, { timeout: BACK_WITHIN_MS }).toBe(true);
}

async function untilFaults(faults: Faults, count: number): Promise<void> {
  await expect.poll(() => faults.count, { timeout: BACK_WITHIN_MS }).toBeGreaterThanOrEqual(count);
}

/** The schema is there, and nothing runs. */
async function placeOnPostgres(folder: string): Promise<Place> {
  const service = postgresService(folder, { durable: false });
  const start = startOf(service);
  const first = await start();
  const address = { redisUrl: undefined, databaseUrl: service.url };
  await migrateQueue(address);
  await first.stop();
  return { address, start };
}

async function placeOnRedis(folder: string): Promise<Place> {
  const port = await findFreePort(0);
  return {
    address: { redisUrl: `redis://127.0.0.1:${port}`, databaseUrl: '' },
    start: startOf(redisService(folder, port)),
  };
}

/** Starts a service. If it still runs at the end of the test, it is stopped after all that uses it. */
function startOf(service: Service): () => Promise<Running> {
  const started: Running[] = [];
  onTestFinished(async () => void (await Promise.all(started.map((running) => running.stop()))));
  return async () => {
    const running = await service.start(new AbortController().signal);
    started.push(running);
    return running;
  };
}

/** A producer and workers; `seen` is whom they greeted. */
function open(address: Place['address']) {
  const faults = new Faults();
  const queue = openJobQueue(connectQueue(address, { durable: true, poolMax: 4 }), faults.log);
  onTestFinished(() => queue.close());
  const seen: string[] = [];
  const handler = handleJob(greet, async ({ who }) => void seen.push(who));
  const connect = (poolMax: number) => connectQueue(address, { durable: false, poolMax });
  const workers = startJobWorkers(connect, [handler], faults.log);
  onTestFinished(() => workers.close());
  return { queue, seen, faults };
}

/** Faults of the connections that are logged. */
class Faults {
  readonly #began = performance.now();
  #count = 0;
  readonly log: Log = { ...silentLog, warn: () => void (this.#count += 1), child: () => this.log };

  get count(): number {
    return this.#count;
  }

  get aSecond(): number {
    return this.#count / ((performance.now() - this.#began) / 1_000);
  }
}
