import { gzipSync } from 'node:zlib';

import { beforeEach, describe, expect, test } from 'vitest';

import { RateLimiter } from '#ingest/rate_limiter.ts';
import type { Id } from '#kernel/ids.ts';
import { type RateLimit, SharedLimit } from '#kernel/shared_limit.ts';
import { bytes, double, label, message, number, otlpRequest, sample, writeRequest } from '#test/ingest/metric_bytes.ts';
import { type TestClock, testClock } from '#test/kit/clock.ts';
import { type World, world } from '#test/kit/world.ts';

const ALPHA = 'service_a' as Id<'service'>;
const BETA = 'service_b' as Id<'service'>;

const limiterOf = (perSecond: number, noun: string, clock: TestClock): RateLimiter => {
  const buckets = { take: () => Promise.reject(new Error('a process that is alone asks nobody')) };
  const openLimit = (name: string, rate: RateLimit) =>
    new SharedLimit({ name, ...rate, buckets, processes: () => 1, now: () => clock.now() });
  return new RateLimiter({ perSecond, noun, limit: 'ingestPointsPerSecond', openLimit });
};

describe('a rate limiter', () => {
  const work = async (): Promise<void> => {};

  test('takes ten seconds at once, then as much as time passes, and each service by itself', async () => {
    const clock = testClock();
    const limiter = limiterOf(100, 'points', clock);
    await limiter.spend(ALPHA, 1_000, work);
    await expect(limiter.check(ALPHA)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    await limiter.check(BETA);
    clock.advance({ seconds: 1 });
    await limiter.spend(ALPHA, 100, work);
    await expect(limiter.spend(ALPHA, 1, work)).rejects.toMatchObject({ code: 'rate_limited' });
  });

  test('lets one request overdraw, and says how long that takes to make good', async () => {
    const clock = testClock();
    const limiter = limiterOf(10, 'points', clock);
    await limiter.spend(ALPHA, 400, work);
    await expect(limiter.check(ALPHA)).rejects.toMatchObject({ retryAfterSeconds: 31 });
    clock.advance({ seconds: 30 });
    await expect(limiter.check(ALPHA)).rejects.toMatchObject({ retryAfterSeconds: 1 });
    clock.advance({ seconds: 1 });
    await limiter.check(ALPHA);
  });

  test('does not count what could not be stored', async () => {
    const limiter = limiterOf(1, 'points', testClock());
    const failing = () => Promise.reject(new Error('away'));
    for (let times = 0; times < 20; times += 1) {
      await expect(limiter.spend(ALPHA, 10, failing)).rejects.toThrow('away');
    }
    await limiter.check(ALPHA);
  });

  test('is none at 0', async () => {
    const limiter = limiterOf(0, 'points', testClock());
    await limiter.spend(ALPHA, 1e12, work);
    await expect(limiter.check(ALPHA)).resolves.toBeUndefined();
  });
});

describe('a service beyond its limit', () => {
  let w: World;
  let service: Awaited<ReturnType<World['given']['service']>>;
  beforeEach(async () => {
    w = await world({ settings: { ingestPointsPerSecond: 1, ingestEventsPerSecond: 1 } });
    service = await w.given.service();
  });

  const at = () => w.clock.now().epochMilliseconds;
  const gauge = () =>
    message(2, bytes(1, 'cpu'), message(5, message(1, double(4, 1), number(3, BigInt(at()) * 1_000_000n))));
  const series = () =>
    message(1, label('__name__', 'cpu'), ...Array.from({ length: 20 }, (_, i) => sample(i, at() - i)));

  const senders = {
    JSON: () => ({
      url: '/api/ingest/metrics',
      type: 'application/json',
      body: Buffer.from(JSON.stringify({ points: Array.from({ length: 20 }, () => ({ name: 'cpu', value: 1 })) })),
    }),
    OTLP: () => ({
      url: '/api/ingest/otlp/v1/metrics',
      type: 'application/x-protobuf',
      body: otlpRequest([], ...Array.from({ length: 20 }, gauge)),
    }),
    'remote write': () => ({
      url: '/api/ingest/prometheus/write',
      type: 'application/x-protobuf',
      body: writeRequest(series()),
    }),
  };

  /** Exporters of OTLP give up at once on being told more than 10 s. */
  const RETRY_AFTER = { JSON: '11', OTLP: '5', 'remote write': '11' };

  const sendPoints = async (protocol: keyof typeof senders, to = service) => {
    const { url, type, body } = senders[protocol]();
    const headers = { authorization: `Bearer ${to.ingestionKey}`, 'content-type': type };
    return await w.app.inject({ method: 'POST', url, headers, payload: body });
  };

  test.each(Object.keys(senders) as (keyof typeof senders)[])(
    'is told by %s when to come back, and then is taken; others are taken all along',
    async (protocol) => {
      expect((await sendPoints(protocol)).statusCode).toBeLessThan(300);
      const refused = await sendPoints(protocol);
      expect(refused).toMatchObject({ statusCode: 429, headers: { 'retry-after': RETRY_AFTER[protocol] } });
      const other = await w.given.service();
      expect((await sendPoints(protocol, other)).statusCode).toBeLessThan(300);
      w.clock.advance({ seconds: 11 });
      expect((await sendPoints(protocol)).statusCode).toBeLessThan(300);
    },
  );

  test('gets a problem that says so from the native protocol', async () => {
    await sendPoints('JSON');
    const refused = await sendPoints('JSON');
    expect(refused.headers['content-type']).toMatch('application/problem+json');
    expect(refused.json()).toMatchObject({
      code: 'rate_limited',
      detail: expect.stringContaining('1 points a second'),
    });
  });

  test('has its Sentry clients quieted for exceptions of its key only', async () => {
    const send = () => {
      const { username, pathname } = new URL(service.dsn);
      const lines = [{}, { type: 'event' }, { message: 'out of beans' }].map((line) => JSON.stringify(line));
      return w.app.inject({
        method: 'POST',
        url: `/api${pathname}/envelope/?sentry_key=${username}`,
        headers: { 'content-encoding': 'gzip' },
        payload: gzipSync(lines.join('\n')),
      });
    };
    for (let events = 0; events < 10; events += 1) expect(await send()).toMatchObject({ statusCode: 200 });
    const refused = await send();
    expect(refused).toMatchObject({
      statusCode: 429,
      headers: {
        'retry-after': '1',
        'x-sentry-rate-limits': '1:error;security:key',
        'access-control-allow-origin': '*',
      },
    });
    w.clock.advance({ seconds: 1 });
    expect(await send()).toMatchObject({ statusCode: 200 });
  });

  test('still has what is not an exception taken, which clients do not send again', async () => {
    const ownService = await w.given.service();
    const { username, pathname } = new URL(ownService.dsn);
    const send = async (...items: readonly object[]) => {
      const payload = [{}, ...items].map((line) => JSON.stringify(line)).join('\n');
      return await w.app.inject({ method: 'POST', url: `/api${pathname}/envelope/?sentry_key=${username}`, payload });
    };
    const event = [{ type: 'event' }, { message: 'out of beans' }];
    const checkIn = [{ type: 'check_in' }, { check_in_id: 'a'.repeat(32), monitor_slug: 'nightly', status: 'ok' }];
    const others = [
      checkIn,
      [{ type: 'session' }, { sid: 'b'.repeat(32), init: true, status: 'ok', attrs: { release: 'a@1' } }],
      [{ type: 'client_report' }, { discarded_events: [] }],
      [{ type: 'feedback' }, { contexts: { feedback: { message: 'it broke' } } }],
    ];
    for (let events = 0; events < 10; events += 1) await send(...event);
    for (const items of others) {
      const answer = await send(...items);
      expect(answer.statusCode, JSON.stringify(items)).toBe(200);
      expect(answer.headers).not.toHaveProperty('x-sentry-rate-limits');
    }
    const mixed = await send(...event, ...checkIn);
    expect(mixed).toMatchObject({ statusCode: 429, headers: { 'x-sentry-rate-limits': '1:error;security:key' } });
    const [{ taken }] = (await w.context.db.sql.rows<{ taken: number }>(
      'select count(*)::int as taken from check_ins where service_id = $1',
      [ownService.serviceId],
    )) as [{ taken: number }];
    expect(taken).toBe(2);

    for (let sent = 0; sent < 8; sent += 1) await send(...checkIn);
    const refused = await send(...checkIn);
    expect(refused).toMatchObject({ statusCode: 429, headers: { 'x-sentry-rate-limits': '1:monitor:key' } });
  });
});
