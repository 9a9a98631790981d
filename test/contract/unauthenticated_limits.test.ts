import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { FastifyRequest } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';

import { BodyBudget } from '#entry/http/connections/body_budget.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { guarded, type Opened, opened } from '#test/contract/connection.ts';
import { world } from '#test/kit/world.ts';
import { happenings, hurry } from '#test/kit/when.ts';

const KEY_HEADERS = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

const answer: RequestListener = (request, response) => void request.resume().on('end', () => response.end('done'));

test('one address without a key has so many connections and no more: a new one takes the place of the one that waited longest', async () => {
  const { port, reachedLimits } = await guarded(answer, { connectionsOfAddressMax: 3 });
  const sockets: Opened[] = [];
  for (let index = 0; index < 5; index += 1) sockets.push(await opened(port));
  await Promise.all([sockets[0]!.gone, sockets[1]!.gone]);
  expect(sockets.map(({ isGone }) => isGone)).toEqual([true, true, false, false, false]);
  expect(reachedLimits.counts.get('connectionsOfAddressMax')).toBe(2);
});

test('who sends nothing shuts out nobody from the same address', async () => {
  const { port } = await guarded(answer, { connectionsOfAddressMax: 3 });
  const silent = [await opened(port), await opened(port), await opened(port)];
  for (let times = 0; times < 3; times += 1) {
    const served = await opened(port);
    served.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await served.hears(/done/);
    silent.push(await opened(port));
  }
  expect(silent.filter(({ isGone }) => isGone).length).toBeGreaterThanOrEqual(3);
});

test('of several processes each lets one address have its part of the connections', async () => {
  const { port, reachedLimits } = await guarded(answer, { connectionsOfAddressMax: 7 }, () => 3);
  const sockets: Opened[] = [];
  for (let index = 0; index < 5; index += 1) sockets.push(await opened(port));
  await Promise.all([sockets[0]!.gone, sockets[1]!.gone]);
  expect(sockets.map(({ isGone }) => isGone)).toEqual([true, true, false, false, false]);
  expect(reachedLimits.counts.get('connectionsOfAddressMax')).toBe(2);
});

test('when all connections are in use, the one without a key that was idle longest is closed', async () => {
  const { port, reachedLimits } = await guarded(answer, { connectionsMax: 3 });
  const [first, second, third] = [await opened(port), await opened(port), await opened(port)];
  first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await first.hears(/done/);
  const fourth = await opened(port);
  await second.gone;
  expect([first.isGone, third.isGone, fourth.isGone]).toEqual([false, false, false]);
  expect(reachedLimits.counts.get('connectionsMax')).toBe(1);
});

/** Opens a connection from this address that has shown a key and been answered since. */
async function known(port: number, localAddress?: string) {
  const socket = await opened(port, localAddress);
  socket.write('GET /known HTTP/1.1\r\nHost: x\r\n\r\n');
  await socket.hears(/done/);
  return socket;
}

/** `/slow` is never answered. */
const answerKnown: RequestListener = (request, response) => {
  setSender({ raw: request } as FastifyRequest, 'a sender');
  if (request.url !== '/slow') answer(request, response);
};

test('one sender cannot keep others out with connections that wait for a request: the longest idle of the network with most makes room', async () => {
  const { port, reachedLimits } = await guarded(answerKnown, { connectionsMax: 4 });
  const other = await known(port, '127.0.0.2');
  const many = [await known(port), await known(port), await known(port)];
  many[0]!.write('GET /again HTTP/1.1\r\nHost: x\r\n\r\n');
  await many[0]!.hears(/done[^]*done/);
  const stranger = await opened(port, '127.0.0.3');
  await many[1]!.gone;
  expect(many.map(({ isGone }) => isGone)).toEqual([false, true, false]);
  expect([other.isGone, stranger.isGone]).toEqual([false, false]);
  expect(reachedLimits.counts.get('connectionsMax')).toBe(1);
});

test('a connection whose request is not answered yet makes room for nobody', async () => {
  const { port } = await guarded(answerKnown, { connectionsMax: 2 });
  const busy = [await known(port), await known(port)];
  for (const socket of busy) socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  const stranger = await opened(port, '127.0.0.3');
  await stranger.gone;
  expect(busy.map(({ isGone }) => isGone)).toEqual([false, false]);
});

test('a body that stops arriving is answered with 408, and the connection is closed', async () => {
  hurry();
  const { port, reachedLimits } = await guarded(answer, { bodyGraceMs: 100, bodyBytesPerSecondMin: 1_000_000 });
  const slow = await opened(port);
  slow.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx');
  await slow.gone;
  expect(slow.heard).toMatch(/^HTTP\/1\.1 408 /);
  expect(slow.heard).toContain('took too long to arrive (limit: LIMIT_SLOW_BODY_BYTES_PER_SECOND)');
  expect(reachedLimits.counts.get('bodyBytesPerSecondMin')).toBe(1);
});

test('bodies without a valid key share a small memory budget, which is released afterwards', async () => {
  const { fastify } = await import('fastify');
  const app = fastify();
  const budget = new BodyBudget({ totalBytesMax: 2_000, unauthenticatedBytesMax: 1_000, senderBytesMax: 1_500 });
  budget.mount(app);
  const refusals: string[] = [];
  app.setErrorHandler((error: { status?: number; message: string }, _request, reply) => {
    refusals.push(error.message);
    return reply.code(error.status ?? 500).send('no');
  });
  const { promise: held, resolve: runZlibSync } = Promise.withResolvers<void>();
  const running = Promise.withResolvers<void>();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post('/', async () => {
    running.resolve();
    await held;
    return 'done';
  });
  const answered = happenings();
  app.addHook('onRequest', async (_request, reply) => void reply.raw.on('close', () => answered.happen()));
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`;
  const send = (body: Buffer | ReadableStream) =>
    fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'text/x' },
      ...(Buffer.isBuffer(body) ? {} : { duplex: 'half' }),
    }).then(({ status }) => status);
  const first = send(Buffer.alloc(900));
  await running.promise;
  expect(await send(Buffer.alloc(200))).toBe(503);
  expect(await send(new Blob([Buffer.alloc(200)]).stream())).toBe(503);
  expect(budget.totalBytes).toBe(900);
  runZlibSync();
  expect(await first).toBe(200);
  // Those that were refused were answered before.
  await answered.reach(3);
  expect(budget.totalBytes).toBe(0);
  expect(await send(Buffer.alloc(200))).toBe(200);
  expect(refusals).toEqual(Array(2).fill(expect.stringContaining('(limit: LIMIT_BODIES_WITHOUT_KEY_MEGABYTES)')));
});

test('a key that exceeds a limit is told which one, and other keys are not affected', async () => {
  const w = await world({ newApp: true, settings: { callsPerMinute: 5 } });
  const other = await w.given.apiKey();
  const call = (key: string) =>
    w.app.inject({ method: 'POST', url: '/api/rest/actions/list_teams', headers: KEY_HEADERS(key), payload: '{}' });
  const answers = [];
  for (let index = 0; index < 6; index += 1) answers.push(await call(w.orgKey));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 429]);
  expect(answers[5]!.json()).toMatchObject({
    detail: 'you make more than 5 calls a minute; wait and send fewer (limit: CALLS_PER_MINUTE)',
    limit: 'CALLS_PER_MINUTE',
  });
  expect(Number(answers[5]!.headers['retry-after'])).toBeGreaterThan(0);
  expect((await call(other)).statusCode).toBe(200);
  expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="CALLS_PER_MINUTE"} 1');
});

test('a caller whose answers came to too much in a minute waits', async () => {
  const w = await world({ newApp: true, settings: { answerMegabytesPerMinute: 1 } });
  const headers = KEY_HEADERS(w.orgKey);
  const layout = [{ type: 'text', options: { text: 'x'.repeat(600_000) } }];
  const { dashboardId } = await w.expectOk('create_dashboard', { name: 'Large', layout });
  const call = (name: string, body: object) =>
    w.app.inject({ method: 'POST', url: `/api/rest/actions/${name}`, headers, payload: JSON.stringify(body) });
  expect((await call('get_dashboard', { dashboardId })).statusCode).toBe(200);
  const refused = await call('list_teams', {});
  expect([refused.statusCode, refused.json().detail]).toEqual([
    429,
    'your answers come to more than 1 MB a minute; wait and send fewer (limit: ANSWER_MEGABYTES_PER_MINUTE)',
  ]);
});

test('metrics are closed to those without the token', async () => {
  const w = await world();
  const asked = async (authorization?: string) =>
    (await w.app.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } })).statusCode;
  expect([await asked(), await asked('Bearer wrong'), await asked(`Bearer ${w.orgKey}`)]).toEqual([401, 401, 401]);
  expect(await w.metrics()).toContain('\nprocess_cpu_seconds_total');
});

test('hundreds of health checks in one second query the stores once', async () => {
  const w = await world({ newApp: true });
  const ping = vi.spyOn(w.context.queue, 'ping');
  onTestFinished(() => ping.mockRestore());
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      return (await w.app.inject({ url: index % 2 === 0 ? '/healthz' : '/readyz' })).statusCode;
    }),
  );
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(ping).toHaveBeenCalledTimes(1);
});
