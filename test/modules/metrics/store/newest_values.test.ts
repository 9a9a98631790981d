import { expect, test } from 'vitest';

import type { PointKind } from '#modules/metrics/decide/point.ts';
import { newestValuesOf } from '#entry/http/ingest/ingest_ports.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { newId } from '#kernel/ids.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { world } from '#test/kit/world.ts';

test('the newest value of a series of the last day is found by its labels, in whatever order these are', async () => {
  const w = await world();
  const serviceId = newId('service');
  const now = w.clock.now().epochMilliseconds;
  const batch = new PointBatch();
  const add = (name: string, labels: string[], minutesAgo: number, value: number, kind: PointKind = 'gauge') =>
    batch.add(batch.addSeries({ name, labels, key: seriesKey(name, labels) }), now - minutesAgo * 60_000, value, kind);
  add('depth', ['shop', 'a', 'zone', 'b'], 60, 3);
  add('depth', ['shop', 'a', 'zone', 'b'], 30, 5);
  add('depth', ['shop', 'a'], 5, 8);
  add('old', [], 25 * 60, 2);
  add('ended', [], 9, 2);
  add('ended', [], 8, 0, 'stale');
  await new MetricWriter(w.context.clickhouse).insert([{ serviceId, points: columnsOf(batch) }], serviceId);
  const newestValues = newestValuesOf(new MetricReader(w.context.clickhouse), w.clock);
  const asked = [
    {
      name: 'depth',
      tags: [
        ['zone', 'b'],
        ['none', ''],
        ['shop', 'a'],
      ],
    },
    { name: 'depth', tags: [['shop', 'a']] },
    { name: 'depth', tags: [] },
    { name: 'old', tags: [] },
    { name: 'ended', tags: [] },
  ] as const;
  expect(await newestValues(serviceId, asked)).toEqual([5, 8, null, null, null]);
  expect(await newestValues(newId('service'), asked)).toEqual([null, null, null, null, null]);
});
