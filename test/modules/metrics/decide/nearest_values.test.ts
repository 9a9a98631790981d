import { expect, test } from 'vitest';

import { nearestValues } from '#modules/metrics/decide/nearest_values.ts';
import { readSelector } from '#modules/metrics/decide/read_selector.ts';

const VALUES = new Map([
  ['le', ['+Inf', '1', '5']],
  ['route', ['/pay', '/cart']],
]);
const nearest = (text: string) => nearestValues(readSelector(text), VALUES, (_, known) => known.slice(0, 1));

test('a value that does not occur is answered with the nearest that do, numbers as numbers', () => {
  expect(nearest('x_bucket{le="2"}')).toEqual(['x_bucket{le="1"}', 'x_bucket{le="5"}']);
  expect(nearest('x{route="/pai",le="1.0"}')).toEqual(['x{route="/pay",le="1.0"}']);
});

test('values that occur, patterns, labels that no series has and the empty text are answered with nothing', () => {
  for (const text of ['x{le="1.0"}', 'x{route=~"/p.*"}', 'x{zone="a"}', 'x{route=""}', 'x{route!="/pai"}']) {
    expect(nearest(text), text).toEqual([]);
  }
});
