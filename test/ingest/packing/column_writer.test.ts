import { expect, test } from 'vitest';

import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { ColumnWriter } from '#ingest/packing/column_writer.ts';
import { columnsOf, pointAt } from '#test/kit/metrics/points.ts';

const T0 = 1_795_258_360_000;

function batch(): PointBatch {
  const points = new PointBatch();
  const [a, b, c] = [1n, 2n ** 64n - 1n, 3n].map((key, index) =>
    points.addSeries({ name: index === 2 ? 'memory' : 'cpu', labels: ['host', `h${index}`], key }),
  );
  points.add(a!, T0, 1, 'gauge');
  points.add(b!, T0 + 1, -2.5, 'counter');
  points.add(a!, T0 - 5, 3, 'stale');
  points.add(c!, T0 + 9, 0, 'stale');
  return points;
}

test('columns hold every point, and each series once with the time of its newest point', () => {
  const { announced, names, ...columns } = columnsOf(batch());
  expect(names).toEqual(['cpu', 'memory']);
  expect([...columns.name]).toEqual([0, 0, 0, 1]);
  expect([...columns.key]).toEqual([1n, 2n ** 64n - 1n, 1n, 3n]);
  expect([...columns.at]).toEqual([T0, T0 + 1, T0 - 5, T0 + 9]);
  expect([...columns.value]).toEqual([1, -2.5, 0, 0].map((value, index) => (index === 2 ? 3 : value)));
  expect([...columns.kind]).toEqual([0, 1, 3, 3]);
  expect([...announced].map(({ key, labels, newestAt }) => [key, labels, newestAt])).toEqual([
    [1n, ['host', 'h0'], T0],
    [2n ** 64n - 1n, ['host', 'h1'], T0 + 1],
    [3n, ['host', 'h2'], 0],
  ]);
});

test('a part of a batch asks only about its own series', () => {
  const writer = new ColumnWriter(3);
  const asked: unknown[] = [];
  writer.add(batch(), 1, 2, ({ key }, newestAt) => asked.push([key, newestAt]) > 99);
  writer.add(batch(), 2, 4, ({ key }, newestAt) => asked.push([key, newestAt]) > 99);
  expect(asked).toEqual([
    [2n ** 64n - 1n, T0 + 1],
    [1n, 0],
    [3n, 0],
  ]);
  expect([writer.length, writer.announced.length, writer.names]).toEqual([3, 0, ['cpu', 'memory']]);
  expect([...writer.memory.rows(0, 3).key]).toEqual([2n ** 64n - 1n, 1n, 3n]);
});

test('a batch holds points of every kind, and more than it was made for', () => {
  const points = new PointBatch(0);
  const index = points.addSeries({ name: 'cpu', labels: ['host', 'a'], key: 1n });
  const kindOf = (i: number) => POINT_KINDS[i % POINT_KINDS.length]!;
  for (let i = 0; i < 1_000; i += 1) points.add(index, T0 + i, i / 2, kindOf(i));
  expect(points.length).toBe(1_000);
  for (let i = 0; i < 1_000; i += 1) {
    expect(pointAt(points, i)).toEqual({
      name: 'cpu',
      labels: { host: 'a' },
      at: T0 + i,
      value: i / 2,
      kind: kindOf(i),
    });
    expect(points.kind[i]).toBe(i % POINT_KINDS.length);
  }
});
