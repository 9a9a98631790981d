import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { acceptedPoints } from '#test/ingest/accepted_data.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

type Service = Awaited<ReturnType<World['given']['service']>>;

const METRICS = '/api/ingest/metrics';

const w = await fileWorld();
const service = await w.given.service();

const pointsBody = (...points: object[]) => Buffer.from(JSON.stringify({ points }));
const ONE = pointsBody({ name: 'cpu', value: 1, labels: { host: 'a' } });

interface Sending {
  readonly url?: string;
  readonly body?: Buffer;
  /** The service whose ingestion key is sent. */
  readonly from?: Service;
  readonly headers?: Record<string, string>;
}

async function send({ url = METRICS, body = ONE, from, headers = {} }: Sending) {
  const key: Record<string, string> = from === undefined ? {} : { authorization: `Bearer ${from.ingestionKey}` };
  const all = { 'content-type': 'application/json', ...key, ...headers };
  const answer = await w.app.inject({ method: 'POST', url, payload: body, headers: all });
  return { status: answer.statusCode, text: answer.body, headers: answer.headers, json: () => answer.json() };
}

async function pointsOf({ serviceId }: Service) {
  return (await acceptedPoints(w)).filter((point) => point.serviceId === serviceId);
}

describe('the ingestion key', () => {
  test.each(['bearer', 'x-api-key', 'basic'])('opens its service when it comes as %s', async (form) => {
    const sender = await w.given.service();
    const key = sender.ingestionKey;
    const headers: Record<string, Record<string, string>> = {
      bearer: { authorization: `bearer ${key}` },
      'x-api-key': { 'x-api-key': key },
      basic: { authorization: `Basic ${Buffer.from(`anyone:${key}`).toString('base64')}` },
    };
    expect(await send({ headers: headers[form]! })).toMatchObject({ status: 202 });
    expect(await pointsOf(sender)).toMatchObject([{ name: 'cpu', value: 1, labels: { host: 'a' }, kind: 'gauge' }]);
  });

  test.each([
    ['no key', {}, 'send the service'],
    ['a key that never was', { authorization: `Bearer tocsin_ing_${'x'.repeat(49)}` }, 'unknown or was rotated'],
    ['an empty Basic', { authorization: 'Basic Og==' }, 'unknown or was rotated'],
  ])('is asked for with 401 when there is %s', async (_what, headers, message) => {
    const answer = await send({ headers });
    expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.stringContaining('Bearer') } });
    expect(answer.json()).toMatchObject({ code: 'unauthenticated', detail: expect.stringContaining(message) });
  });

  test('is not an API key, which never opens ingestion', async () => {
    const answer = await send({ headers: { authorization: `Bearer ${w.orgKey}` } });
    expect(answer).toMatchObject({ status: 401 });
    expect(answer.json().detail).toMatch(/API key never opens ingestion/);
  });

  test('never invokes an action', async () => {
    expect(await w.call('list_services', {}, { key: service.ingestionKey })).toMatchObject({ status: 401 });
  });

  test('stops within a second of its rotation, and the new one works at once', async () => {
    const sender = await w.given.service();
    expect(await send({ from: sender })).toMatchObject({ status: 202 });
    const rotated = await w.expectOk('rotate_ingest_key', { serviceId: sender.serviceId });
    w.clock.advance({ seconds: 1 });
    expect(await send({ from: sender })).toMatchObject({ status: 401 });
    expect(await send({ from: rotated })).toMatchObject({ status: 202 });
  });

  test('stops within a second of the deletion of its service', async () => {
    const sender = await w.given.service();
    expect(await send({ from: sender })).toMatchObject({ status: 202 });
    await w.expectOk('delete_service', { serviceId: sender.serviceId });
    w.clock.advance({ seconds: 1 });
    expect(await send({ from: sender })).toMatchObject({ status: 401 });
  });

  test('opens only the capabilities that are enabled, and says which one is missing', async () => {
    const sender = await w.given.service({ capabilities: ['exceptions'] });
    const refused = await send({ from: sender });
    expect(refused).toMatchObject({ status: 403 });
    expect(refused.json()).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('capability metrics') });
    await w.expectOk('enable_capability', { serviceId: sender.serviceId, capability: 'metrics' });
    w.clock.advance({ seconds: 1 });
    expect(await send({ from: sender })).toMatchObject({ status: 202 });
    await w.expectOk('disable_capability', { serviceId: sender.serviceId, capability: 'metrics' });
    w.clock.advance({ seconds: 1 });
    expect(await send({ from: sender })).toMatchObject({ status: 403 });
  });

  test('is slowed down for an address that keeps guessing, and a good one from there is still taken', async () => {
    const guess = () =>
      w.app.inject({ method: 'POST', url: METRICS, remoteAddress: '192.0.2.9', headers: { 'x-api-key': 'guess' } });
    const answers = await Promise.all(Array.from({ length: 25 }, guess));
    expect(answers.at(-1)).toMatchObject({ statusCode: 429, headers: { 'retry-after': expect.any(String) } });
    const good = await w.app.inject({
      method: 'POST',
      url: METRICS,
      remoteAddress: '192.0.2.9',
      headers: { 'x-api-key': service.ingestionKey, 'content-type': 'application/json' },
      payload: ONE,
    });
    expect(good.statusCode).toBe(202);
  });
});

describe('a body', () => {
  const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };
  test.each(Object.keys(encoders) as (keyof typeof encoders)[])('is taken in the encoding %s', async (encoding) => {
    const sender = await w.given.service();
    const body = encoders[encoding](ONE);
    expect(await send({ from: sender, body, headers: { 'content-encoding': encoding } })).toMatchObject({
      status: 202,
    });
    expect(await pointsOf(sender)).toHaveLength(1);
  });

  test('is refused with 415 in an encoding nobody knows', async () => {
    const headers = { 'content-encoding': 'compress' };
    expect(await send({ from: service, headers })).toMatchObject({ status: 415 });
  });

  test('is refused with 413 when it inflates beyond the limit, however small it is', async () => {
    const bomb = Buffer.concat(Array<Buffer>(64).fill(gzipSync(Buffer.alloc(1024 * 1024, ' '))));
    expect(bomb.length).toBeLessThan(100_000);
    const answer = await send({ from: service, body: bomb, headers: { 'content-encoding': 'gzip' } });
    expect(answer).toMatchObject({ status: 413 });
    expect(answer.json()).toMatchObject({ code: 'payload_too_large' });
  });

  test('is refused with 413 when it is larger than the limit', async () => {
    expect(await send({ from: service, body: Buffer.alloc(17 * 1024 * 1024, ' ') })).toMatchObject({ status: 413 });
  });

  test('is refused with 401 before it is read when the key is bad', async () => {
    const headers = { authorization: 'Bearer nonsense' };
    expect(await send({ headers, body: Buffer.alloc(17 * 1024 * 1024, ' ') })).toMatchObject({ status: 401 });
  });

  test('a body that is missing or no JSON is refused with 400', async () => {
    for (const body of [Buffer.alloc(0), Buffer.from('{')]) {
      expect(await send({ from: service, body })).toMatchObject({ status: 400 });
    }
  });
});

describe('the native protocol', () => {
  test('takes the good points, counts the bad ones and says what is wrong with each', async () => {
    const sender = await w.given.service();
    const body = pointsBody({ name: 'cpu', value: 1 }, { name: 'cpu', value: 'much' }, { name: '', value: 2 });
    const answer = await send({ from: sender, body });
    expect(answer).toMatchObject({ status: 202 });
    expect(answer.json()).toEqual({
      accepted: 1,
      rejected: 2,
      errors: expect.arrayContaining([
        { message: expect.any(String), count: 1, places: [expect.stringContaining('points[1]')] },
      ]),
    });
    expect(await pointsOf(sender)).toHaveLength(1);
  });

  test('answers 400 with every fault when no point can be taken', async () => {
    const answer = await send({ from: service, body: pointsBody({ name: 'cpu', value: 'much' }) });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.json()).toMatchObject({
      code: 'invalid_input',
      errors: [{ path: expect.stringContaining('points[0]'), message: expect.any(String) }],
    });
  });

  test('takes a point a line as NDJSON', async () => {
    const sender = await w.given.service();
    const body = Buffer.from('{"name":"a","value":1}\n{"name":"b","value":2}\n');
    const answer = await send({ from: sender, body, headers: { 'content-type': 'application/x-ndjson' } });
    expect(answer.json()).toEqual({ accepted: 2, rejected: 0 });
    expect((await pointsOf(sender)).map(({ name }) => name)).toEqual(['a', 'b']);
  });

  test('refuses points older than what the service keeps', async () => {
    const sender = await w.given.service();
    const at = w.clock
      .now()
      .subtract({ hours: 24 * 8 })
      .toString();
    expect(await send({ from: sender, body: pointsBody({ name: 'cpu', value: 1, at }) })).toMatchObject({
      status: 202,
    });
    await w.expectOk('set_retention', { serviceId: sender.serviceId, capability: 'metrics', retentionDays: 7 });
    w.clock.advance({ seconds: 1 });
    expect(await send({ from: sender, body: pointsBody({ name: 'cpu', value: 1, at }) })).toMatchObject({
      status: 400,
    });
  });

  test('refuses other media types with 415', async () => {
    const headers = { 'content-type': 'text/csv' };
    expect(await send({ from: service, headers })).toMatchObject({ status: 415 });
  });
});

describe('an address', () => {
  test('works with a slash at its end too', async () => {
    expect(await send({ from: service, url: `${METRICS}/` })).toMatchObject({ status: 202 });
  });

  test('answers other methods with 405 and the one that is meant', async () => {
    const answer = await w.app.inject({ method: 'PUT', url: METRICS });
    expect(answer).toMatchObject({ statusCode: 405, headers: { allow: 'GET, POST, OPTIONS' } });
  });

  test.each(['metrics', 'otlp/v1/metrics', 'prometheus/write'])(
    'says with GET whether a key is good: %s',
    async (path) => {
      const ask = (key: string) =>
        w.app.inject({ method: 'GET', url: `/api/ingest/${path}`, headers: { authorization: `Bearer ${key}` } });
      expect((await ask(service.ingestionKey)).statusCode).toBe(200);
      expect((await ask('nope')).statusCode).toBe(401);
    },
  );
});
