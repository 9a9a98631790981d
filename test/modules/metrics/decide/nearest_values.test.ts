import { expect, test } from 'vitest';

import { nearestValues } from '#modules/metrics/decide/nearest_values.ts';
import { readSelector } from '#modules/metrics/decide/read_selector.ts';

const VALUES = new Map([
  ['le', ['+Inf', '1', '5']],
  ['route', ['/pay', '/cart']],
]);
const alike = (written: string, known: readonly string[]) =>
  known.filter((one) => one.slice(0, 2) === written.slice(0, 2)).slice(0, 1);
const nearest = (text: string) => nearestValues(readSelector(text), VALUES, alike);

test('a value that does not occur is answered with the nearest that do, numbers as numbers', () => {
  expect(nearest('x_bucket{le="2"}')).toEqual(['x_bucket{le="1"}', 'x_bucket{le="5"}']);
  expect(nearest('x{route="/pai",le="1.0"}')).toEqual(['x{route="/pay",le="1.0"}']);
});

test('a label that no series has is answered with one that is written alike, or that has the value', () => {
  expect(nearest('x{rout="/pay",le="1"}')).toEqual(['x{route="/pay",le="1"}']);
  expect(nearest('x{path="/pay"}')).toEqual(['x{route="/pay"}']);
});

test('a pattern that matches no value is answered with values that do occur', () => {
  expect(nearestValues(readSelector('x{route=~"/p.y|/q"}'), VALUES, alike, 'route')).toEqual(['x{route="/pay"}']);
  expect(nearestValues(readSelector('x{rout=~"/p.*"}'), VALUES, alike, 'rout')).toEqual(['x{route=~"/p.*"}']);
});

test('values that occur, patterns, labels like no other and the empty text are answered with nothing', () => {
  for (const text of [
    'x{le="1.0"}',
    'x{route=~"/p.*"}',
    'x{zone="a"}',
    'x{route=""}',
    'x{route!="/pai"}',
    'x{rout!="a"}',
  ]) {
    expect(nearest(text), text).toEqual([]);
  }
});
