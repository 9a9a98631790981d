import type { FastifyInstance } from 'fastify';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { buildApp } from '#entry/http/app.ts';
import { ANY_SERIES } from '#ingest/admission/point_admission.ts';
import { packKeys, SeriesQuota, SeriesSet } from '#ingest/series/series_quota.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { acceptedPoints } from '#test/ingest/accepted_data.ts';
import { bytes, double, label, message, number, otlpRequest, sample, writeRequest } from '#test/ingest/metric_bytes.ts';
import fc from '#test/kit/properties.ts';
import { type World, world } from '#test/kit/world.ts';
import { whenCounted } from '#test/kit/many_processes.ts';

const SERIES_MAX = 3;

/** One that is alone. */
const processes = () => 1;

let w: World;
let service: Awaited<ReturnType<World['given']['service']>>;
beforeEach(async () => {
  w = await world({ settings: { ingestSeriesPerDay: SERIES_MAX } });
  service = await w.given.service();
});

const at = () => w.clock.now().epochMilliseconds;
const pointOf = (host: string) => ({ name: 'cpu', value: 1, labels: { host } });

async function post(url: string, type: string, payload: Buffer, app: FastifyInstance, to = service) {
  const headers = { authorization: `Bearer ${to.ingestionKey}`, 'content-type': type };
  return await app.inject({ method: 'POST', url, headers, payload });
}

function sendJson(hosts: readonly string[], app = w.app, to = service) {
  const body = Buffer.from(JSON.stringify({ points: hosts.map(pointOf) }));
  return post('/api/ingest/metrics', 'application/json', body, app, to);
}

function sendLines(hosts: readonly string[]) {
  const body = Buffer.from(hosts.map((host) => JSON.stringify(pointOf(host))).join('\n'));
  return post('/api/ingest/metrics', 'application/x-ndjson', body, w.app);
}

function sendOtlp(hosts: readonly string[]) {
  const nanoseconds = BigInt(at()) * 1_000_000n;
  const points = hosts.map((host) =>
    message(
      5,
      message(1, message(7, bytes(1, 'host'), message(2, bytes(1, host))), double(4, 1), number(3, nanoseconds)),
    ),
  );
  const body = otlpRequest([], ...points.map((point) => message(2, bytes(1, 'cpu'), point)));
  return post('/api/ingest/otlp/v1/metrics', 'application/x-protobuf', body, w.app);
}

function sendPrometheus(hosts: readonly string[]) {
  const body = writeRequest(
    ...hosts.map((host) => message(1, label('__name__', 'cpu'), label('host', host), sample(1, at()))),
  );
  return post('/api/ingest/prometheus/write', 'application/x-protobuf', body, w.app);
}

/** The hosts whose points were taken, in turn. */
async function taken(): Promise<string[]> {
  return (await acceptedPoints(w)).map(({ labels }) => labels['host'] ?? '');
}

test('a request with more new series than can be taken in at once is answered with 503, and taken as a whole when it is sent again', async () => {
  const others = await world({ settings: { ingestSeriesPerDay: 1_000_000 } });
  const other = await others.given.service();
  const hosts = Array.from({ length: 25_000 }, (_, i) => `host ${i}`.padEnd(60, '-'));
  const send = () => sendJson(hosts, others.app, other);
  const first = await send();
  expect(first).toMatchObject({ statusCode: 503, headers: { 'retry-after': '3' } });
  expect(first.json().detail).toMatch(/^\d+ points of new series are not stored yet/);
  const stored = (await acceptedPoints(others)).length;
  expect(stored).toBeGreaterThan(16_000);
  expect(stored).toBeLessThan(25_000);
  others.clock.advance({ seconds: 3 });
  expect((await send()).json()).toMatchObject({ accepted: 25_000, rejected: 0 });
});

describe('a service that has as many series as it may', () => {
  beforeEach(async () => {
    await sendJson(['a', 'b', 'c']);
  });

  test('has points of known series taken and those of new ones refused with the reason, in JSON', async () => {
    const answer = await sendJson(['a', 'x', 'b', 'y', 'x']);
    expect(answer).toMatchObject({ statusCode: 202 });
    expect(answer.json()).toEqual({
      accepted: 2,
      rejected: 3,
      errors: [
        {
          message: 'a new series beyond the 3 that the service may have a day (UTC)',
          count: 3,
          places: ['points[1]', 'points[3]', 'points[4]'],
        },
      ],
    });
    expect(await taken()).toEqual(['a', 'b', 'c', 'a', 'b']);
    expect(await sendJson(['x'])).toMatchObject({ statusCode: 400 });
  });

  test('hears of each line', async () => {
    const answer = await sendLines(['x', 'c', 'y']);
    expect(answer.json()).toMatchObject({ accepted: 1, rejected: 2, errors: [{ places: ['line 1', 'line 3'] }] });
  });

  test('is told as a partial success of OTLP', async () => {
    const answer = await sendOtlp(['x', 'a', 'y']);
    expect(answer).toMatchObject({ statusCode: 200 });
    expect(answer.body).toContain('2 points refused: a new series beyond the 3');
    expect(await taken()).toEqual(['a', 'b', 'c', 'a']);
  });

  test('has the rest of a remote write taken, and one of nothing else refused for good', async () => {
    expect(await sendPrometheus(['x', 'b', 'y'])).toMatchObject({ statusCode: 204 });
    expect(await taken()).toEqual(['a', 'b', 'c', 'b']);
    const answer = await sendPrometheus(['x', 'y']);
    expect(answer).toMatchObject({ statusCode: 400 });
    expect(answer.json().detail).toContain('a new series beyond the 3');
  });

  test('begins anew the next day, and holds up no other service', async () => {
    expect(await sendJson(['x'], w.app, await w.given.service())).toMatchObject({ statusCode: 202 });
    w.clock.advance({ hours: 24 });
    expect((await sendJson(['x', 'y', 'z', 'a'])).json()).toMatchObject({ accepted: 3, rejected: 1 });
  });

  test('has them also after a restart', async () => {
    await w.app.close();
    const app = await buildApp(w.context);
    onTestFinished(() => app.close());
    expect((await sendJson(['x', 'a', 'b', 'c'], app)).json()).toMatchObject({ accepted: 3, rejected: 1 });
  });

  test('has those that another process took first taken here too, and no more of them by both together', async () => {
    const app = await buildApp(w.context);
    onTestFinished(() => app.close());
    await app.ready();
    await whenCounted(2);
    const other = await w.given.service();
    const acceptedHere = async (hosts: readonly string[]) =>
      (await sendJson(['a', ...hosts], w.app, other)).json().accepted as number;
    const acceptedThere = async (hosts: readonly string[]) =>
      (await sendJson(['a', ...hosts], app, other)).json().accepted as number;
    expect([await acceptedHere(['b']), await acceptedThere(['b', 'x', 'y'])]).toEqual([2, 3]);
    expect([await acceptedHere(['x', 'y']), await acceptedThere(['b', 'x'])]).toEqual([2, 3]);
    expect([await acceptedHere(['z']), await acceptedThere(['z'])]).toEqual([1, 1]);
  });
});

test('accepted and refused points are counted, by service and reason', async () => {
  w = await world({ settings: { ingestSeriesPerDay: SERIES_MAX }, newApp: true });
  service = await w.given.service();
  await sendJson(['a', 'b', 'c', 'x', 'y']);
  await post('/api/ingest/metrics', 'application/json', Buffer.from('{'), w.app);
  const body = await w.metrics();
  const { serviceId } = service;
  expect(body).toContain('tocsin_ingest_taken_total{kind="points"} 3');
  expect(body).toContain(
    `tocsin_ingest_refused_total{kind="points",reason="too_many_series",service="${serviceId}"} 2`,
  );
  expect(body).toContain(
    `tocsin_ingest_refused_requests_total{kind="points",code="invalid_input",service="${serviceId}"} 1`,
  );
  expect(await w.metrics()).toContain('tocsin_ingest_taken_total{kind="points"} 3');
});

test('nothing is refused while it cannot be known which series there are', async () => {
  let isDown = true;
  const db = {
    ...w.context.db,
    session() {
      if (isDown) throw new AppError('unavailable', 'away');
      return w.context.db.session();
    },
  };
  const guard = new SeriesQuota({ perDayMax: 1, processes, db, clock: w.clock, log: silentLog });
  onTestFinished(() => guard.close());
  const { serviceId } = service;
  expect(await guard.allowanceOf(serviceId)).toBe(ANY_SERIES);
  isDown = false;
  const allowance = await guard.allowanceOf(serviceId);
  const admitted = [allowance.admit(1, 1), allowance.admit(2, 2), allowance.admit(1, 1)].map((why) => why === null);
  expect(admitted).toEqual([true, false, true]);
});

test('series that could not be shared while the database was away are shared when it is back', async () => {
  const { serviceId } = service;
  let isDown = false;
  const db = {
    ...w.context.db,
    session() {
      if (isDown) throw new AppError('unavailable', 'away');
      return w.context.db.session();
    },
  };
  const guard = new SeriesQuota({ perDayMax: 5, processes, db, clock: w.clock, log: silentLog });
  const allowance = await guard.allowanceOf(serviceId);
  isDown = true;
  allowance.admit(1, 1);
  await guard.close();
  isDown = false;
  allowance.admit(2, 2);
  await guard.close();
  const next = new SeriesQuota({ perDayMax: 2, processes, db, clock: w.clock, log: silentLog });
  onTestFinished(() => next.close());
  const known = await next.allowanceOf(serviceId);
  const admitted = [known.admit(1, 1), known.admit(2, 2), known.admit(3, 3)].map((why) => why === null);
  expect(admitted).toEqual([true, true, false]);
});

const half = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, 2 ** 31 - 1, -(2 ** 31)));
/** Two zeros stand for their neighbour. */
const key = fc.tuple(half, half).filter(([high, low]) => high !== 0 || low !== 0);

test('a set of series holds what was added, however much that is, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 500 }), key, (keys, other) => {
      const set = new SeriesSet();
      const expected = new Set<string>();
      for (const [high, low] of keys) {
        expect(set.add(high, low)).toBe(!expected.has(`${high} ${low}`));
        expected.add(`${high} ${low}`);
      }
      expect(set.size).toBe(expected.size);
      expect(keys.every(([high, low]) => set.has(high, low))).toBe(true);
      expect(set.has(...other)).toBe(expected.has(`${other[0]} ${other[1]}`));
    }),
  );
});

test('packed keys are the same keys', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 50 }), (keys) => {
      const set = new SeriesSet();
      set.addPacked(packKeys(keys.flat()));
      expect(set.size).toBe(new Set(keys.map(([high, low]) => `${high} ${low}`)).size);
      expect(keys.every(([high, low]) => set.has(high, low))).toBe(true);
    }),
  );
});

test('the key of two zeros is kept like any other', () => {
  const set = new SeriesSet();
  expect([set.has(0, 0), set.add(0, 0), set.add(0, 0), set.has(0, 0), set.size]).toEqual([false, true, false, true, 1]);
});
