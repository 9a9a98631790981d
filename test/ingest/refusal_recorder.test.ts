import type { FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { buildApp } from '#entry/http/app.ts';
import { RefusalRecorder } from '#ingest/refusal_recorder.ts';
import { IngestCounters } from '#ingest/ingest_counters.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { Temporal } from '#kernel/time.ts';
import type { IngestRefusal } from '#modules/services/store/ingest_counts.ts';
import { storesOf } from '#modules/stores.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { type World, world } from '#test/kit/world.ts';
import { workerRuntime } from '#workers/worker_role.ts';
import { enforceRetention } from '#workers/enforce_retention.ts';
import { whenWritten } from '#test/kit/when.ts';

const NOON = Temporal.Instant.from('2026-03-04T12:00:00Z');

const refusalOf = (serviceId: Id<'service'>, more: Partial<IngestRefusal> = {}): IngestRefusal => ({
  serviceId,
  kind: 'points',
  reason: 'too_many_series',
  hour: NOON,
  count: 1,
  lastAt: NOON,
  ...more,
});

const storeOf = (w: World) => storesOf(w.context.db.session()).ingestRefusals;

describe('the store of refusals', () => {
  test('adds up by hour, tells the most frequent first, and leaves out what lies before', async () => {
    const w = await world();
    const { serviceId } = await w.given.service();
    const other = await w.given.service();
    const hour = NOON.add({ hours: 1 });
    await storeOf(w).add([refusalOf(serviceId, { count: 4 }), refusalOf(serviceId, { reason: 'faulty', count: 6 })]);
    await storeOf(w).add([
      refusalOf(serviceId, { count: 1, lastAt: NOON.add({ minutes: 5 }) }),
      refusalOf(serviceId, { count: 2, hour: hour, lastAt: hour }),
      refusalOf(other.serviceId, { kind: 'events', reason: 'rate_limited' }),
    ]);
    expect(await storeOf(w).listSince(serviceId, NOON.subtract({ hours: 1 }))).toEqual([
      { kind: 'points', reason: 'too_many_series', count: 7, lastAt: hour },
      { kind: 'points', reason: 'faulty', count: 6, lastAt: NOON },
    ]);
    expect(await storeOf(w).listSince(serviceId, NOON.add({ minutes: 30 }))).toMatchObject([{ count: 2 }]);
  });

  test('takes nothing of a service that is gone, and all else that came with it', async () => {
    const w = await world();
    const [kept, gone] = [await w.given.service(), await w.given.service()];
    await w.expectOk('delete_service', { serviceId: gone.serviceId });
    const unknown = 'service_01h455vb4pex5vsknk084sn02q' as Id<'service'>;
    await storeOf(w).add([gone.serviceId, unknown, kept.serviceId].map((serviceId) => refusalOf(serviceId)));
    expect(await w.context.db.sql.rows('select service_id from ingest_refusals')).toEqual([
      { service_id: kept.serviceId },
    ]);
  });

  test('is pruned after two days', async () => {
    const w = await world();
    const { serviceId } = await w.given.service();
    w.clock.set('2026-03-06T12:00:00Z');
    const before = NOON.subtract({ hours: 1 });
    await storeOf(w).add([refusalOf(serviceId), refusalOf(serviceId, { hour: before, lastAt: before })]);
    await enforceRetention(workerRuntime(w.context));
    expect(await w.context.db.sql.rows('select hour from ingest_refusals')).toEqual([{ hour: NOON }]);
  });
});

describe('the recorder of refusals', () => {
  test('loses nothing while the database is away, and counts nothing twice', async () => {
    const w = await world();
    const { serviceId } = await w.given.service();
    let isAway = true;
    const db = {
      session: () => {
        if (isAway) throw new AppError('unavailable', 'away');
        return w.context.db.session();
      },
    };
    const counters = new IngestCounters();
    const keeper = new RefusalRecorder({ counters, db, clock: w.clock, log: silentLog });
    onTestFinished(() => keeper.close());
    w.clock.set('2026-03-04T12:59:50Z');
    counters.countEvents(serviceId, 0, { faulty: 3, tooLarge: 0 });
    await keeper.write();
    w.clock.advance({ seconds: 20 });
    counters.countEvents(serviceId, 0, { faulty: 2, tooLarge: 0 });
    await keeper.write();
    isAway = false;
    await keeper.write();
    await keeper.write();
    const rows = await w.context.db.sql.rows('select hour, count, last_at from ingest_refusals order by hour');
    expect(rows).toEqual([
      { hour: NOON, count: 3, last_at: NOON.add({ minutes: 59, seconds: 50 }) },
      { hour: NOON.add({ hours: 1 }), count: 2, last_at: NOON.add({ hours: 1, seconds: 10 }) },
    ]);
  });

  test('writes every ten seconds', async () => {
    const w = await world();
    const { serviceId } = await w.given.service();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const counters = new IngestCounters();
    const keeper = new RefusalRecorder({ counters, db: w.context.db, clock: w.clock, log: silentLog });
    counters.countEvents(serviceId, 0, { faulty: 1, tooLarge: 0 });
    await whenWritten(10_000);
    expect(await w.context.db.sql.rows('select 1 from ingest_refusals')).toHaveLength(1);
    await keeper.close();
  });
});

describe('the status of a service over HTTP', () => {
  const send = (app: FastifyInstance, key: string, values: readonly unknown[]) =>
    app.inject({
      method: 'POST',
      url: '/api/ingest/metrics',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      payload: { points: values.map((value, i) => ({ name: 'cpu', value, labels: { host: `h${i}` } })) },
    });

  /** Returns the refusals that a viewer of the organization sees. */
  const seen = async (w: World, serviceId: string, orgId = w.orgId) => {
    const { email } = await givenPerson(w, { role: 'viewer', orgId });
    const browser = await signedIn(w, email);
    const answer = await browser.invoke(orgId, 'get_ingest_status', { serviceId });
    return { status: answer.status, refused: answer.body.result?.refused };
  };

  test('tells what was refused to whom it belongs, and nobody else', async () => {
    const w = await world({ settings: { ingestSeriesPerDay: 2, ingestPointsPerSecond: 1 } });
    const [service, quiet] = [await w.given.service(), await w.given.service()];
    const intake = await buildApp(w.context);
    expect((await send(intake, service.ingestionKey, [1, 2, 3, 4, 5, 'x'])).statusCode).toBe(202);
    expect((await send(intake, service.ingestionKey, [1, 2, 3, 4, 5])).statusCode).toBe(202);
    // Beside the world's own this is a second API process, and several let through a little more than one.
    expect((await send(intake, service.ingestionKey, [1])).statusCode).toBe(202);
    expect((await send(intake, service.ingestionKey, [1])).statusCode).toBe(429);
    expect((await send(intake, 'tocsin_ing_unknown', [1])).statusCode).toBe(401);
    expect(await seen(w, service.serviceId)).toEqual({ status: 200, refused: [] });
    const lastAt = w.clock.now().toString({ smallestUnit: 'millisecond' });
    await intake.close();

    const told = [
      { kind: 'points', reason: 'too_many_series', count: 6, lastAt },
      { kind: 'points', reason: 'no_value', count: 1, lastAt },
      { kind: 'points', reason: 'rate_limited', count: 1, lastAt },
    ];
    expect(await seen(w, service.serviceId)).toEqual({ status: 200, refused: told });
    expect(await seen(w, quiet.serviceId)).toEqual({ status: 200, refused: [] });
    const other = await w.given.organization('Other');
    expect(await seen(w, service.serviceId, other.orgId)).toEqual({ status: 404, refused: undefined });
    w.clock.advance({ hours: 24 });
    expect(await seen(w, service.serviceId)).toEqual({ status: 200, refused: [] });
  });
});
