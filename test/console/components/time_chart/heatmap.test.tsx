import { expect, test } from 'vitest';

import { levelsOf, rowNames } from '#console/components/time_chart/heatmap.tsx';

test('the levels of colour of a heatmap end at its highest count, and are as few as its counts', () => {
  expect(levelsOf([{ values: [1, 100] }, { values: [7] }])).toEqual([4, 16, 36, 64, 100]);
  expect(levelsOf([{ values: [2] }])).toEqual([1, 2]);
  expect(levelsOf([{ values: [0.4] }])).toEqual([1]);
  expect(levelsOf([{ values: [] }])).toEqual([]);
});

test('the rows of a heatmap are named by their bounds, with as many digits as tell them apart', () => {
  const seconds = { unit: 'seconds', factor: 1 } as const;
  expect(
    rowNames(
      [
        { from: -Infinity, to: 0.1 },
        { from: 0.1, to: 2.5 },
        { from: 2.5, to: Infinity },
      ],
      seconds,
    ),
  ).toEqual(['up to 100 ms', '100 ms to 2.5 s', 'more than 2.5 s']);
  expect(
    rowNames(
      [
        { from: 1.0001, to: 1.0002 },
        { from: 1.0002, to: 1.0003 },
      ],
      seconds,
    ),
  ).toEqual(['1.0001 s to 1.0002 s', '1.0002 s to 1.0003 s']);
});
