import { TraceMap, traceSegment } from '@jridgewell/trace-mapping';
import { expect, test } from 'vitest';

import { Segments } from '#modules/releases/decide/source_maps/original_code.ts';
import fc from '#test/kit/properties.ts';

const INT_MAX = 2 ** 31 - 1;
const bounded = (value: number): number => Math.max(-INT_MAX, Math.min(INT_MAX, value));

/** What the reader that others use finds. */
function found(map: TraceMap, line: number, column: number) {
  const segment = traceSegment(map, line, column);
  if (segment === null) return null;
  const [generatedColumn, source = null, originalLine = 0, originalColumn = 0, name = null] = segment.map(bounded);
  return { generatedColumn, source, line: originalLine, column: originalColumn, name };
}

const PLACES = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((line) =>
  [0, 1, 2, 3, 5, 8, 13, 21, 34, 144, 5_000].map((column) => [line, column] as const),
);

/** What both readers find at each place. */
function readBoth(mappings: string) {
  const map = new TraceMap({ version: 3, mappings, names: [], sources: [] });
  const segments = new Segments(mappings);
  return {
    ours: PLACES.map(([line, column]) => segments.find(line, column)),
    theirs: PLACES.map(([line, column]) => found(map, line, column)),
  };
}

const segment = fc.constantFrom('A', 'C', 'AAAA', 'CAAC', 'EACA', 'DAAA', 'gBAEA', 'IAAIA', 'AAAAA', 'kBDDDD');
const line = fc.array(segment, { maxLength: 12 }).map((segments) => segments.join(','));

test('places are found as the reader that others use finds them, on lines in any order', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
      const { ours, theirs } = readBoth(lines.join(';'));
      expect(ours).toEqual(theirs);
    }),
  );
});

test('what was encoded wrongly is read in the same way', () => {
  const letter = fc.constantFrom(...'ACDEIg+/9z,,;'.split(''));
  fc.assert(
    fc.property(fc.array(letter, { maxLength: 60 }), (letters) => {
      const { ours, theirs } = readBoth(letters.join(''));
      expect(ours).toEqual(theirs);
    }),
  );
});

test('segments that were freed find nothing, and hold nothing', () => {
  const segments = new Segments('AAAA,CAAA;AACA');
  expect(segments.find(1, 0)).not.toBeNull();
  segments.free();
  expect(segments.find(0, 0)).toBeNull();
  expect(segments.find(1, 0)).toBeNull();
});
