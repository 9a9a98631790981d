import { beforeEach, expect, test } from 'vitest';

import { PointBatch } from '#ingest/admission/point_batch.ts';
import { newId } from '#kernel/ids.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { acceptedPoints } from '#test/ingest/accepted_data.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

let service: Awaited<ReturnType<World['given']['service']>>;
const w = await fileWorld();
beforeEach(async () => {
  service = await w.given.service();
});

interface Item {
  readonly name: string;
  readonly type: string;
  readonly value: number;
  readonly sequence?: number;
  readonly ago?: number;
  readonly attributes?: object;
}

function itemOf({ ago = 0, sequence = 0, attributes = {}, ...item }: Item): object {
  const timestamp = w.clock.now().epochMilliseconds / 1_000 - ago;
  const sent = { ...attributes, 'sentry.timestamp.sequence': { value: sequence, type: 'integer' } };
  return { ...item, timestamp, trace_id: 'a'.repeat(32), attributes: sent };
}

async function send(items: readonly object[], { dsn } = service) {
  const { username, pathname } = new URL(dsn);
  const lines = [{}, { type: 'trace_metric', item_count: items.length }, { version: 2, items }];
  const payload = lines.map((line) => JSON.stringify(line)).join('\n');
  const answer = await w.app.inject({
    method: 'POST',
    url: `/api${pathname}/envelope/?sentry_key=${username}`,
    payload,
  });
  expect(answer.statusCode).toBe(200);
}

const pointsOf = async () => (await acceptedPoints(w)).filter(({ serviceId }) => serviceId === service.serviceId);
const sumOf = async (name: string) =>
  (await pointsOf()).filter((point) => point.name === name).reduce((sum, { value }) => sum + value, 0);

test('counters, gauges and distributions of Sentry are metrics of the service', async () => {
  const attributes = { plan: { value: 'team', type: 'string' } };
  await send([
    itemOf({ name: 'orders', type: 'counter', value: 2, attributes }),
    itemOf({ name: 'orders', type: 'counter', value: 3, sequence: 1, attributes }),
    itemOf({ name: 'queue', type: 'gauge', value: 7, ago: 1 }),
    itemOf({ name: 'queue', type: 'gauge', value: -4 }),
    itemOf({ name: 'took', type: 'distribution', value: 10 }),
    itemOf({ name: 'took', type: 'distribution', value: 30, sequence: 1 }),
  ]);
  const points = await pointsOf();
  const valueOf = (name: string) =>
    points.filter((point) => point.name === name).map(({ value, kind }) => [value, kind]);
  expect(valueOf('orders')).toEqual([[5, 'delta']]);
  expect(points.find(({ name }) => name === 'orders')).toMatchObject({ labels: { plan: 'team' } });
  expect(valueOf('queue')).toEqual([[-4, 'gauge']]);
  expect([valueOf('took_count'), valueOf('took_sum')]).toEqual([[[2, 'delta']], [[40, 'delta']]]);
  expect([valueOf('took_min'), valueOf('took_max')]).toEqual([[[10, 'gauge']], [[30, 'gauge']]]);
  expect(valueOf('took_bucket')).toHaveLength(2);
});

test('a value that is sent twice is stored once, and two of one millisecond are two', async () => {
  const first = itemOf({ name: 'orders', type: 'counter', value: 2 });
  await send([first, first]);
  await send([first]);
  await send([first, itemOf({ name: 'orders', type: 'counter', value: 3, sequence: 1 })]);
  expect(await sumOf('orders')).toBe(5);
  const times = (await pointsOf()).map(({ at }) => at);
  expect(new Set(times).size).toBe(2);
});

test('a service without the capability metrics counts them as not kept', async () => {
  const other = await w.given.service({ capabilities: ['exceptions'] });
  await send([itemOf({ name: 'orders', type: 'counter', value: 2 })], other);
  expect((await acceptedPoints(w)).filter(({ serviceId }) => serviceId === other.serviceId)).toEqual([]);
});

async function storeByKey(...names: readonly string[]): Promise<void> {
  const batch = new PointBatch();
  for (const name of names) {
    const series = batch.addSeries({ name, labels: [], key: seriesKey(name, []) });
    batch.add(series, w.clock.now().epochMilliseconds, 95, 'gauge');
  }
  const { serviceId } = service;
  await new MetricWriter(w.context.clickhouse).insert([{ serviceId, points: columnsOf(batch) }], newId('job'));
}

test('the public key sends nothing to a metric a minute after its first point by the ingestion key', async () => {
  await send([itemOf({ name: 'load', type: 'gauge', value: 0 })]);
  await storeByKey('load');
  w.clock.advance({ seconds: 61 });
  await send([itemOf({ name: 'load', type: 'gauge', value: 1 })]);
  expect((await pointsOf()).map(({ value }) => value)).toEqual([0]);
});

test('the public key sends nothing to a metric that comes by the ingestion key, whatever it says of itself', async () => {
  await storeByKey('load', 'took_bucket');
  const attributes = { sent_by: { value: 'us', type: 'string' } };
  await send([
    itemOf({ name: 'load', type: 'gauge', value: 0 }),
    itemOf({ name: 'took', type: 'distribution', value: 0 }),
    itemOf({ name: 'own', type: 'gauge', value: 2, attributes }),
  ]);
  expect((await pointsOf()).map(({ name, labels }) => ({ name, labels }))).toEqual([
    { name: 'own', labels: { sent_by: 'dsn' } },
  ]);
});
