import { expect, test } from 'vitest';

import { PointBatch } from '#core/metrics/point.ts';
import { columnsOf, ColumnsWriter } from '#core/metrics/point_columns.ts';

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
  const { told, names, ...columns } = columnsOf(batch());
  expect(names).toEqual(['cpu', 'memory']);
  expect([...columns.name]).toEqual([0, 0, 0, 1]);
  expect([...columns.key]).toEqual([1n, 2n ** 64n - 1n, 1n, 3n]);
  expect([...columns.at]).toEqual([T0, T0 + 1, T0 - 5, T0 + 9]);
  expect([...columns.value]).toEqual([1, -2.5, 0, 0].map((value, index) => (index === 2 ? 3 : value)));
  expect([...columns.kind]).toEqual([0, 1, 3, 3]);
  expect(told.map(({ key, labels, newestAt }) => [key, labels, newestAt])).toEqual([
    [1n, ['host', 'h0'], T0],
    [2n ** 64n - 1n, ['host', 'h1'], T0 + 1],
    [3n, ['host', 'h2'], 0],
  ]);
});

test('of a part of a batch only its own series are asked about', () => {
  const writer = new ColumnsWriter(3);
  const asked: unknown[] = [];
  writer.add(batch(), 1, 2, ({ key }, newestAt) => asked.push([key, newestAt]) > 99);
  writer.add(batch(), 2, 4, ({ key }, newestAt) => asked.push([key, newestAt]) > 99);
  expect(asked).toEqual([
    [2n ** 64n - 1n, T0 + 1],
    [1n, 0],
    [3n, 0],
  ]);
  expect([writer.length, writer.told, writer.names]).toEqual([3, [], ['cpu', 'memory']]);
  expect([...writer.memory.rows(0, 3).key]).toEqual([2n ** 64n - 1n, 1n, 3n]);
});
