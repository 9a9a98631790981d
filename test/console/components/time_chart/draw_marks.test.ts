import { expect, test } from 'vitest';

import { placeLabels } from '#console/components/time_chart/draw_marks.ts';
import fc from '#test/kit/properties.ts';

/** Width of a text whose letters are 6 pixels wide. */
const widthOf = (text: string): number => 6 * text.length;
const place = (...lines: readonly (readonly [at: number, label: string])[]) =>
  placeLabels(
    lines.map(([at, label]) => ({ at, label })),
    { left: 50, right: 650 },
    widthOf,
  );

test('a label stands right of its line, and left of it at the right edge', () => {
  expect(place([100, '#1 Checkout is slow'], [620, 'shop@1.4.0'])).toEqual([
    { text: '#1 Checkout is slow', row: 0, x: 107 },
    { text: 'shop@1.4.0', row: 0, x: 553 },
  ]);
});

test('a label without room in the first row stands in the second, so that none is cut at the edge of a phone', () => {
  expect(place([100, '#1 Checkout is slow'], [190, '#2'], [200, '#3 Disk is full'])).toEqual([
    { text: '#1 Checkout is slow', row: 1, x: 107 },
    { text: '#2', row: 0, x: 171 },
    { text: '#3 Disk is full', row: 0, x: 207 },
  ]);
  expect(place([600, 'Triggered'], [640, 'Resolved'])).toEqual([
    { text: 'Triggered', row: 0, x: 539 },
    { text: 'Resolved', row: 1, x: 585 },
  ]);
});

test('a label is shortened or left out where neither row has room', () => {
  const lines = [0, 30, 60].map((more) => [100 + more, '#1 Checkout is slow'] as const);
  expect(place(...lines, [170, '#2 Disk']).map((label) => label?.text ?? null)).toEqual([
    '#1 Checkout is slow',
    null,
    null,
    '#2 Disk',
  ]);
});

test('no label lies over another one or outside of the plot, and none of the first row over a line', () => {
  const lines = fc.array(fc.tuple(fc.integer({ min: 50, max: 650 }), fc.string({ minLength: 1, maxLength: 60 })), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(lines, (drawn) => {
      const sorted = drawn.toSorted(([a], [b]) => a - b);
      const labels = place(...sorted).flatMap((label) =>
        label === null ? [] : [[label.x, label.x + widthOf(label.text), label.row] as const],
      );
      for (const [index, [from, to, row]] of labels.entries()) {
        expect(from).toBeGreaterThanOrEqual(50);
        expect(to).toBeLessThanOrEqual(650);
        expect(sorted.filter(([at]) => row === 0 && at > from && at < to)).toEqual([]);
        for (const [otherFrom, otherTo, otherRow] of labels.slice(index + 1)) {
          expect(row !== otherRow || from >= otherTo || otherFrom >= to).toBe(true);
        }
      }
    }),
  );
});
