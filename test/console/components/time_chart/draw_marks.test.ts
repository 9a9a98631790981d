import { expect, test } from 'vitest';

import { placeLabels } from '#console/components/time_chart/draw_marks.ts';
import fc from '#test/kit/properties.ts';

/** As if each letter were 6 pixels wide. */
const widthOf = (text: string): number => 6 * text.length;
const place = (...lines: readonly (readonly [at: number, label: string])[]) =>
  placeLabels(
    lines.map(([at, label]) => ({ at, label })),
    { left: 50, right: 650 },
    widthOf,
  );

test('a label stands right of its line, and left of it at the right edge', () => {
  expect(place([100, '#1 Checkout is slow'], [620, 'shop@1.4.0'])).toEqual([
    { text: '#1 Checkout is slow', x: 107 },
    { text: 'shop@1.4.0', x: 553 },
  ]);
});

test('a label is shortened before the next line, or left out where nothing could be read', () => {
  expect(place([100, '#1 Checkout is slow'], [190, '#2'], [200, '#3 Disk is full'])).toEqual([
    { text: '#1 Checkout…', x: 107 },
    null,
    { text: '#3 Disk is full', x: 207 },
  ]);
});

test('no label lies over a line, over another label or outside of the plot', () => {
  const lines = fc.array(fc.tuple(fc.integer({ min: 50, max: 650 }), fc.string({ minLength: 1, maxLength: 60 })), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(lines, (given) => {
      const sorted = given.toSorted(([a], [b]) => a - b);
      const labels = place(...sorted).flatMap((label) =>
        label === null ? [] : [[label.x, label.x + widthOf(label.text)] as const],
      );
      for (const [index, [from, to]] of labels.entries()) {
        expect(from).toBeGreaterThanOrEqual(50);
        expect(to).toBeLessThanOrEqual(650);
        expect(sorted.filter(([at]) => at > from && at < to)).toEqual([]);
        for (const [otherFrom, otherTo] of labels.slice(index + 1)) {
          expect(from >= otherTo || otherFrom >= to).toBe(true);
        }
      }
    }),
  );
});
