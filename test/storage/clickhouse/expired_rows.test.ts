import { afterEach, beforeEach, expect, test } from 'vitest';

import { PointBatch } from '#ingest/admission/point_batch.ts';
import { type Id, newId, uuidOf } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { EXCEPTION_EVENTS, METRIC_POINTS, ExpiredRows, type RetentionTier } from '#storage/clickhouse/expired_rows.ts';
import type { DataTable } from '#storage/clickhouse/layout.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { type World, world } from '#test/kit/world.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { whenDeleted } from '#test/kit/when.ts';

const NOW = Temporal.Instant.from('2027-03-10T12:10:00Z');

let w: World;
beforeEach(async () => {
  w = await world({ keepOpen: true });
});
afterEach(() => w.close());

test('points older than their service keeps go, those of services that keep them longer stay', async () => {
  const [short, long] = [newId('service'), newId('service')];
  const tiers = [
    { days: 3, serviceIds: [short] },
    { days: 30, serviceIds: [long] },
  ];
  for (const serviceId of [short, long]) await insertPoints(serviceId, [0, 1, 4, 5, 20, 31, 40]);
  await removePoints(tiers);
  expect(await agesOf(short)).toEqual([0, 1]);
  expect(await agesOf(long)).toEqual([0, 1, 4, 5, 20]);
  expect(await partitions('metric_points')).not.toContain('20270128');
});

test('deleted rows are removed from the disk after the retention of all services in their partition', async () => {
  const [short, long] = [newId('service'), newId('service')];
  const tiers = [
    { days: 3, serviceIds: [short] },
    { days: 30, serviceIds: [long] },
  ];
  await insertPoints([short, long], [1, 3.5, 6]);
  // 7 March is still being outdated, half an hour after half an hour.
  await removePoints(tiers);
  await removePoints(tiers);
  expect(await holeyPartitions()).toEqual(['20270307']);
  await removePoints(tiers, NOW.add({ hours: 24 }));
  expect(await holeyPartitions()).toEqual([]);
  expect([await agesOf(short), await agesOf(long)]).toEqual([[1], [1, 3.5, 6]]);
});

test('names and series go with the last point that bears them', async () => {
  const serviceId = newId('service');
  await insertPoints(serviceId, [1], 'recent');
  await insertPoints(serviceId, [5], 'recent');
  await insertPoints(serviceId, [5], 'old');
  await new ExpiredRows(w.context.clickhouse).removeNames([{ days: 3, serviceIds: [serviceId] }], NOW);
  await whenDeleted(w.context);
  const names = await column(
    'SELECT DISTINCT metric FROM metric_names WHERE service_id = {service:UUID} ORDER BY 1',
    serviceId,
  );
  expect(names).toEqual(['recent']);
  const series = await column(
    'SELECT DISTINCT metric FROM metric_series WHERE service_id = {service:UUID} ORDER BY 1',
    serviceId,
  );
  expect(series).toEqual(['recent']);
});

test('events older than their service keeps go by weeks or by themselves', async () => {
  const [short, long] = [newId('service'), newId('service')];
  const writer = new ExceptionWriter(w.context.clickhouse);
  for (const serviceId of [short, long]) {
    const events = [0, 2, 4, 9, 50].map((days) => exceptionEvent(NOW.subtract({ hours: 24 * days })));
    const grouped = events.map((event) => ({ serviceId, groupId: newId('group'), event }));
    await writer.insert(grouped, serviceId);
  }
  const tiers = [
    { days: 3, serviceIds: [short] },
    { days: 30, serviceIds: [long] },
  ];
  await new ExpiredRows(w.context.clickhouse).remove(EXCEPTION_EVENTS, tiers, NOW);
  await whenDeleted(w.context);
  const counts = (serviceId: Id<'service'>) =>
    column('SELECT count() FROM exception_events WHERE service_id = {service:UUID}', serviceId);
  expect(await counts(short)).toEqual(['2']);
  expect(await counts(long)).toEqual(['4']);
});

test('where nothing is due nothing is ordered, and nothing while a deletion is under way', async () => {
  const serviceId = newId('service');
  await insertPoints(serviceId, [0, 29]);
  const commands: string[] = [];
  const client = watching(w.context.clickhouse, commands);
  await new ExpiredRows(client).remove(METRIC_POINTS, [{ days: 30, serviceIds: [serviceId] }], NOW);
  expect(commands).toEqual([]);
  await w.context.clickhouse.command({ query: `SYSTEM STOP MERGES ${stored('metric_points')}` });
  await new MetricWriter(w.context.clickhouse).deleteService(serviceId);
  await new ExpiredRows(client).remove(METRIC_POINTS, [{ days: 3, serviceIds: [serviceId] }], NOW);
  expect(commands).toEqual([]);
  await w.context.clickhouse.command({ query: `SYSTEM START MERGES ${stored('metric_points')}` });
});

async function insertPoints(of: Id<'service'> | Id<'service'>[], days: readonly number[], name = 'm'): Promise<void> {
  const points = new PointBatch();
  const series = points.addSeries({ name, labels: [], key: seriesKey(name, []) });
  for (const day of days) points.add(series, NOW.epochMilliseconds - day * 86_400_000, 1, 'gauge');
  await new MetricWriter(w.context.clickhouse).insert(
    [of].flat().map((serviceId) => ({ serviceId, points: columnsOf(points) })),
    newId('job'),
  );
}

async function removePoints(tiers: readonly RetentionTier[], now = NOW): Promise<void> {
  await new ExpiredRows(w.context.clickhouse).remove(METRIC_POINTS, tiers, now);
  await whenDeleted(w.context);
}

/** Returns the ages of the service's points in days. */
async function agesOf(serviceId: Id<'service'>): Promise<number[]> {
  const ages = await column(
    `SELECT toString((${NOW.epochMilliseconds} - toUnixTimestamp64Milli(ts)) / 86400000) FROM metric_points
     WHERE service_id = {service:UUID} ORDER BY ts DESC`,
    serviceId,
  );
  return ages.map(Number);
}

function stored(table: DataTable): string {
  return w.context.clickhouse.layout.stored(table);
}

async function partitions(table: DataTable, condition = '1'): Promise<string[]> {
  return await column(
    `SELECT DISTINCT partition_id FROM system.parts WHERE database = currentDatabase() AND table = '${stored(table)}'
       AND active AND rows > 0 AND ${condition} ORDER BY 1 DESC`,
  );
}

async function holeyPartitions(): Promise<string[]> {
  return await partitions('metric_points', 'has_lightweight_delete');
}

async function column(query: string, serviceId: Id<'service'> | null = null): Promise<string[]> {
  const result = await w.context.clickhouse.query({
    query,
    query_params: serviceId === null ? {} : { service: uuidOf(serviceId) },
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[string]>()).map(([value]) => value);
}

/** The store, noting every command that it is given. */
function watching(client: ClickHouseClient, commands: string[]): ClickHouseClient {
  return {
    layout: client.layout,
    database: client.database,
    query: (parameters: Parameters<ClickHouseClient['query']>[0]) => client.query(parameters),
    command: (parameters: Parameters<ClickHouseClient['command']>[0]) => {
      commands.push(parameters.query);
      return client.command(parameters);
    },
  } as unknown as ClickHouseClient;
}
