import { gzipSync } from 'node:zlib';

import type { FastifyInstance } from 'fastify';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

import { buildApp } from '#entry/http/app.ts';
import { AppError } from '#kernel/errors.ts';
import type { Database } from '#storage/postgres/database.ts';
import type { DurableQueue } from '#storage/queue/durable_queue.ts';
import { acceptedEvents, acceptedPoints } from '#test/ingest/accepted_data.ts';
import { type World, world } from '#test/kit/world.ts';
import { type Happenings, happenings, hurry } from '#test/kit/when.ts';

let w: World;
let app: FastifyInstance;
let logged: Happenings<string>;
let isDown: boolean;
let isDatabaseDown: boolean;
let service: Awaited<ReturnType<World['given']['service']>>;

beforeEach(async () => {
  w = await world();
  isDown = false;
  isDatabaseDown = false;
  const unlessDown = <Result>(work: () => Promise<Result>): Promise<Result> =>
    isDown ? Promise.reject(new AppError('unavailable', 'away', { retryAfterSeconds: 5 })) : work();
  const queue: DurableQueue = {
    ...w.context.queue,
    addDurable: (...job) => unlessDown(() => w.context.queue.addDurable(...job)),
    pingStore: () => unlessDown(() => w.context.queue.pingStore()),
  };
  const db: Database = {
    ...w.context.db,
    session() {
      if (isDatabaseDown) throw new AppError('unavailable', 'away', { retryAfterSeconds: 5 });
      return w.context.db.session();
    },
  };
  logged = happenings();
  const log = { ...w.context.log, info: (_fields: object, message: string) => logged.happen(message) };
  app = await buildApp({ ...w.context, queue, db, log });
  onTestFinished(() => app.close());
  service = await w.given.service();
});

const whenLogged = (message: string): Promise<void> => logged.hold((all) => all.includes(message));

function sendPoint() {
  const headers = { authorization: `Bearer ${service.ingestionKey}`, 'content-type': 'application/json' };
  const payload = { points: [{ name: 'cpu', value: 1 }] };
  return app.inject({ method: 'POST', url: '/api/ingest/metrics', headers, payload });
}

function sendEvent(message: string) {
  const { username, pathname } = new URL(service.dsn);
  const url = `/api${pathname}/store/?sentry_key=${username}`;
  return app.inject({ method: 'POST', url, payload: { message } });
}

test('while the queue is away senders of metrics are told to come back, and then they are taken', async () => {
  hurry();
  isDown = true;
  expect(await sendPoint()).toMatchObject({ statusCode: 503, headers: { 'retry-after': '5' } });
  expect(await sendPoint()).toMatchObject({ statusCode: 503, headers: { 'retry-after': '5' } });
  isDown = false;
  await whenLogged('the queue is available again');
  expect(await sendPoint()).toMatchObject({ statusCode: 202 });
  expect(await acceptedPoints(w)).toHaveLength(1);
});

test('a large body, compressed or not, that was refused while the queue was away is taken whole when it is sent again', async () => {
  hurry();
  const values = Array.from({ length: 3_000 }, (_, index) => index);
  const text = values.map((value) => JSON.stringify({ name: 'cpu', value, labels: { number: `${value}` } })).join('\n');
  const send = (encoding: 'identity' | 'gzip') =>
    app.inject({
      method: 'POST',
      url: '/api/ingest/metrics',
      headers: {
        authorization: `Bearer ${service.ingestionKey}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': encoding,
      },
      payload: encoding === 'gzip' ? gzipSync(text) : Buffer.from(text),
    });
  isDown = true;
  for (const encoding of ['identity', 'gzip'] as const) expect(await send(encoding)).toMatchObject({ statusCode: 503 });
  isDown = false;
  await whenLogged('the queue is available again');
  for (const encoding of ['identity', 'gzip'] as const) {
    const before = (await acceptedPoints(w)).length;
    expect(await send(encoding)).toMatchObject({ statusCode: 202 });
    const arrived = (await acceptedPoints(w)).slice(before);
    const found = arrived.map(({ value, labels }) => ({ value, labels })).toSorted((a, b) => a.value - b.value);
    expect(found).toEqual(values.map((value) => ({ value, labels: { number: `${value}` } })));
  }
});

test('while the queue is away exceptions are taken, and follow when it is back', async () => {
  hurry();
  isDown = true;
  expect(await sendEvent('out of beans')).toMatchObject({ statusCode: 200 });
  expect(await sendEvent('out of milk')).toMatchObject({ statusCode: 200 });
  expect(await acceptedEvents(w)).toEqual([]);
  isDown = false;
  await whenLogged('events from the disk are in the queue');
  expect(await acceptedEvents(w)).toHaveLength(2);
  expect((await acceptedEvents(w)).map(({ event }) => event.message)).toEqual(['out of beans', 'out of milk']);
});

test('while PostgreSQL is away, which holds keys and queue, exceptions of known services are taken', async () => {
  hurry();
  expect(await sendEvent('before')).toMatchObject({ statusCode: 200 });
  isDown = true;
  isDatabaseDown = true;
  w.clock.advance({ seconds: 30 });
  expect(await sendEvent('during')).toMatchObject({ statusCode: 200 });
  w.clock.advance({ seconds: 31 });
  expect(await sendEvent('too long')).toMatchObject({ statusCode: 503, headers: { 'retry-after': '5' } });
  isDown = false;
  isDatabaseDown = false;
  await whenLogged('events from the disk are in the queue');
  expect(await acceptedEvents(w)).toHaveLength(2);
});
