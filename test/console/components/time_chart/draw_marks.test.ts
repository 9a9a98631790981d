import { expect, test } from 'vitest';

import { linesAt, placeLabels } from '#console/components/time_chart/draw_marks.ts';
import fc from '#test/kit/properties.ts';

/** Width of a text whose letters are 6 pixels wide. */
const widthOf = (text: string): number => 6 * text.length;
type Line = readonly [at: number, label: string, short?: string];
const PLOT = { left: 50, right: 650 } as const;
const place = (...lines: readonly Line[]) =>
  placeLabels(
    lines.map(([at, label, short]) => ({ at, label, ...(short !== undefined && { shorter: [short] }) })),
    PLOT,
    widthOf,
  );
const textsOf = (...lines: readonly Line[]) => place(...lines).labels.map((label) => label?.text ?? null);

test('a label stands right of its line, and left of it at the right edge', () => {
  expect(place([100, '#1 Checkout is slow'], [620, 'shop@1.4.0'])).toEqual({
    labels: [
      { text: '#1 Checkout is slow', row: 0, x: 107 },
      { text: 'shop@1.4.0', row: 0, x: 553 },
    ],
    counts: [],
  });
});

test('two labels share the room between their lines, one below the other', () => {
  expect(place([100, '#1 Disk is full'], [205, '#2 Slow answers'], [215, '#3']).labels).toEqual([
    { text: '#1 Disk is full', row: 0, x: 107 },
    { text: '#2 Slow answers', row: 1, x: 108 },
    { text: '#3', row: 0, x: 222 },
  ]);
});

test('where a label has no room, its short form stands, and never a part of it', () => {
  const title = '#1 Checkout is slow';
  expect(textsOf([100, title, '#1'], [160, '#2 Disk is full', '#2'], [220, '#3'])).toEqual(['#1', '#2', '#3']);
  expect(textsOf([100, title], [120, '#2'])).toEqual([null, '#2']);
  expect(textsOf([100, 'A very long title of an incident that fills the plot', '#4'])).toEqual(['#4']);
});

test('lines that stand together have their number, and two of them their labels if both fit', () => {
  expect(place([300, '#1 Slow', '#1'], [304, '#2 Full', '#2'])).toEqual({
    labels: [
      { text: '#1 Slow', row: 0, x: 251 },
      { text: '#2 Full', row: 0, x: 311 },
    ],
    counts: [],
  });
  expect(place([300, '#1', '#1'], [304, '#2', '#2'], [309, '#3', '#3'])).toEqual({
    labels: [null, null, null],
    counts: [{ at: 304.5, lines: [0, 1, 2] }],
  });
  // At the edge there is no room for either, and the number stays inside of the plot.
  expect(place([646, '#1 Slow'], [649, '#2 Full']).counts).toEqual([{ at: 643, lines: [0, 1] }]);
});

test('the cursor at a mark finds the line of a dot, and all lines of a number', () => {
  const lines = [100, 300, 305, 310, 315, 400].map((at) => ({ at }));
  expect([98, 150, 300, 309, 317, 403].map((at) => linesAt(lines, PLOT, at))).toEqual([
    [0],
    [],
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [5],
  ]);
});

test('no label and no number lies over another one, a line, or the edge of the plot', () => {
  const lines = fc.array(
    fc.tuple(
      fc.integer({ min: 50, max: 650 }),
      fc.string({ minLength: 1, maxLength: 60 }),
      fc.option(fc.string({ minLength: 1, maxLength: 4 }), { nil: undefined }),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(lines, (drawn) => {
      const sorted = drawn.toSorted(([a], [b]) => a - b);
      const { labels, counts } = place(...sorted);
      const texts = labels.flatMap((label) =>
        label === null ? [] : [[label.x, label.x + widthOf(label.text), label.row] as const],
      );
      const counted = counts.map(({ at }) => [at - 7, at + 7, 0] as const);
      const all = [...texts, ...counted];
      for (const [index, [from, to, row]] of all.entries()) {
        expect(from).toBeGreaterThanOrEqual(PLOT.left);
        expect(to).toBeLessThanOrEqual(PLOT.right);
        for (const [otherFrom, otherTo, otherRow] of all.slice(index + 1)) {
          expect(row !== otherRow || from >= otherTo || otherFrom >= to).toBe(true);
        }
      }
      for (const [from, to] of texts) expect(sorted.filter(([at]) => at > from && at < to)).toEqual([]);
      const ofCounts = counts.flatMap((count) => count.lines);
      expect(new Set(ofCounts).size).toBe(ofCounts.length);
      expect(ofCounts.filter((line) => labels[line] !== null)).toEqual([]);
    }),
  );
});
