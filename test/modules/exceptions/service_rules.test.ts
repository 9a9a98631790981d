import { randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { getExceptionSettings, setExceptionSettings } from '#modules/exceptions/operations/set_exception_settings.ts';
import { getIngestStatus } from '#modules/services/operations/get_ingest_status.ts';
import { createCipher } from '#auth/cipher.ts';
import { learnSpikeBaseline } from '#modules/exceptions/learn_spike_baseline.ts';
import { groupJobs } from '#modules/exceptions/group_jobs.ts';
import { packEvents } from '#ingest/packing/pack_events.ts';
import { decodeSentryRequest } from '#ingest/protocols/sentry.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { requestOf } from '#test/ingest/golden/sentry_recordings.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';
import { groupingRuntime } from '#test/modules/exceptions/grouping_runtime.ts';

const CIPHER = createCipher('a secret that is long enough');

const w = await fileWorld();

const NONE = { filters: [], patterns: [], secretNames: [], eventsPerHour: null };

async function handle(serviceId: Id<'service'>, ...events: readonly object[]): Promise<void> {
  const accepted = [];
  for (const event of events) {
    const body = JSON.stringify({ event_id: randomBytes(16).toString('hex'), ...event });
    const request = { ...requestOf('store', body), receivedAt: w.clock.now() };
    const { events: sent } = await decodeSentryRequest(request, async (bytes) => bytes);
    accepted.push({ orgId: w.orgId, serviceId, sent: sent[0]! });
  }
  const runtime = groupingRuntime(w, CIPHER, async () => {});
  await groupJobs(runtime)(packEvents(accepted, CIPHER), { jobId: '1', attempt: 1, log: silentLog });
}

async function payloads(serviceId: Id<'service'>): Promise<string[]> {
  const result = await w.context.clickhouse.query({
    query:
      'SELECT payload FROM exception_events WHERE service_id = {service:UUID} ORDER BY event_id LIMIT 1 BY event_id',
    query_params: { service: uuidOf(serviceId) },
    format: 'JSONEachRow',
  });
  return (await result.json<{ payload: string }>()).map(({ payload }) => payload);
}

async function leftOut(serviceId: string): Promise<unknown[]> {
  const caller = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const { notKept } = await runOperation(w, getIngestStatus, caller, { serviceId });
  return notKept.map((items: Record<string, unknown>) => [items['reason'], items['count']]);
}

const set = (serviceId: string, settings: object) =>
  runOperation(w, setExceptionSettings, memberCaller(w.orgId, w.owner.userId, 'owner'), {
    serviceId,
    ...NONE,
    ...settings,
  });

test('events that a service filters are counted and not stored, and its secret fields lose their values', async () => {
  const { serviceId } = await w.given.service();
  await set(serviceId, { filters: ['bots'], patterns: ['*ResizeObserver*'], secretNames: ['IBAN'] });
  await handle(
    serviceId,
    { message: 'kept', extra: { iban: 'NL91' } },
    { message: 'by a robot', request: { headers: { 'User-Agent': 'Googlebot/2.1' } } },
    { message: 'ResizeObserver loop limit exceeded' },
    { message: 'ResizeObserver loop completed' },
  );
  const stored = await payloads(serviceId);
  expect(stored).toHaveLength(1);
  expect(stored[0]).toContain('"extra":{"iban":"[filtered]"}');
  expect(await leftOut(serviceId)).toEqual([
    ['filter:pattern', 2],
    ['filter:bots', 1],
  ]);
  const audited = await w.context.db.sql.rows<{ action: string }>(
    `select action from audit_log where target = $1 and action = 'set_exception_settings'`,
    [serviceId],
  );
  expect(audited).toHaveLength(1);
});

test('beyond the limit an hour only exceptions that are new are stored, and the next hour begins anew', async () => {
  const { serviceId } = await w.given.service();
  await set(serviceId, { eventsPerHour: 3 });
  const same = { message: 'again and again' };
  await handle(serviceId, same, same);
  await handle(serviceId, same, same, same, { message: 'something new' });
  expect((await payloads(serviceId)).filter((text) => text.includes('again and again'))).toHaveLength(2);
  expect((await payloads(serviceId)).filter((text) => text.includes('something new'))).toHaveLength(1);
  expect(await leftOut(serviceId)).toEqual([['spike', 3]]);
  w.clock.advance({ hours: 1 });
  await handle(serviceId, same);
  expect(await payloads(serviceId)).toHaveLength(4);
});

test('a learnt limit follows from usual traffic, holds a spike back and says so', async () => {
  const { serviceId } = await w.given.service();
  w.clock.set('2027-06-02T12:10:00Z');
  const learn = () =>
    learnSpikeBaseline({ db: w.context.db, clock: w.clock, exceptions: w.context.actions.exceptions });
  await set(serviceId, { learnsSpikes: true });
  await learn();
  const shown = () =>
    runOperation(w, getExceptionSettings, memberCaller(w.orgId, w.owner.userId, 'viewer'), { serviceId });
  expect(await shown()).toMatchObject({
    learnsSpikes: true,
    learntPerHour: null,
    learntAt: '2027-06-02T12:10:00.000Z',
  });
  // Two days with an event an hour: the least limit that there is.
  await w.context.clickhouse.command({
    query: `INSERT INTO exception_events (service_id, group_id, event_id, at, received_at, payload)
      SELECT {service:UUID}, generateUUIDv4(), generateUUIDv4(number), at, at, '{}'
      FROM (SELECT number, toDateTime64('2027-06-02 12:10:00', 3, 'UTC') - toIntervalHour(number + 1) AS at FROM numbers(48))`,
    query_params: { service: uuidOf(serviceId) },
  });
  await learn();
  expect(await shown()).toMatchObject({ learntPerHour: null });
  w.clock.set('2027-06-02T13:10:00Z');
  await learn();
  expect(await shown()).toMatchObject({ learntPerHour: 500 });
  const same = { message: 'the same all over', timestamp: '2027-06-02T13:10:00Z' };
  for (let batch = 0; batch < 3; batch += 1) await handle(serviceId, ...Array.from({ length: 200 }, () => same));
  expect(await leftOut(serviceId)).toEqual([['spike', 100]]);
});
