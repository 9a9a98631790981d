import { TraceMap, traceSegment } from '@jridgewell/trace-mapping';
import { expect, test } from 'vitest';

import { resolveAddress, sourcePath, uploadedAddresses } from '#modules/releases/decide/source_maps/code_address.ts';
import { OriginalCode, Segments, withFunctions } from '#modules/releases/decide/source_maps/original_code.ts';
import { BadSourceMap, readSourceMap } from '#modules/releases/decide/source_maps/source_map.ts';
import fc from '#test/kit/properties.ts';

const INT_MAX = 2 ** 31 - 1;
const bounded = (value: number): number => Math.max(-INT_MAX, Math.min(INT_MAX, value));

/** Returns what the reader of the library finds. */
function found(map: TraceMap, line: number, column: number) {
  const segment = traceSegment(map, line, column);
  if (segment === null) return null;
  const [generatedColumn, source = null, originalLine = 0, originalColumn = 0, name = null] = segment.map(bounded);
  return { generatedColumn, source, line: originalLine, column: originalColumn, name };
}

const PLACES = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((line) =>
  [0, 1, 2, 3, 5, 8, 13, 21, 34, 144, 5_000].map((column) => [line, column] as const),
);

/** Returns what both readers find at each place. */
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

test.each([
  ['https://shop.example/js/app.js?v=1#x', ['https://shop.example/js/app.js', '~/js/app.js']],
  ['app:///dist/main.js', ['app:///dist/main.js', '~/dist/main.js']],
  ['/srv/app/main.js', ['~/srv/app/main.js']],
  ['C:\\srv\\main.js', ['~/srv/main.js']],
  ['node:internal/process', []],
  ['<anonymous>', []],
])('code of %s may have been uploaded as %j', (path, addresses) => {
  expect(uploadedAddresses(path)).toEqual(addresses);
});

test.each([
  ['app.js.map', '~/js/app.js', '~/js/app.js.map'],
  ['../maps/app.js.map', '~/js/app.js', '~/maps/app.js.map'],
  ['/maps/app.js.map', 'https://shop.example/js/app.js', 'https://shop.example/maps/app.js.map'],
  ['../../../app.js.map', '~/js/app.js', '~/app.js.map'],
  ['https://cdn.example/app.js.map', '~/js/app.js', 'https://cdn.example/app.js.map'],
])('the map %s of %s is %s', (reference, base, address) => {
  expect(resolveAddress(reference, base)).toBe(address);
});

test.each([
  'webpack://shop/./src/pay.ts',
  'webpack:///./src/pay.ts?5f3a',
  '../../src/pay.ts',
  './src/pay.ts',
  'src\\pay.ts',
])('the source %s is the file that people know', (source) => {
  expect(sourcePath(source)).toBe('src/pay.ts');
});

const MAP = { version: 3, sources: ['a.js'], sourcesContent: ['one\ntwo\nthree'], names: [], mappings: 'AACA' };

function codeOf(map: object): OriginalCode {
  return new OriginalCode({ ...readSourceMap(JSON.stringify(map)), functions: [] });
}

test('a place is found with the lines around it', () => {
  expect(codeOf(MAP).find(1, 1)).toEqual({
    file: 'a.js',
    line: 2,
    column: 1,
    isIgnored: false,
    contextLine: 'two',
    preContext: ['one'],
    postContext: ['three'],
    functionName: null,
  });
  expect(codeOf(MAP).find(2, 1)).toBeNull();
});

test('a map with sections is read as one', () => {
  const sections = [
    { offset: { line: 0, column: 0 }, map: { ...MAP, sources: ['first.js'] } },
    { offset: { line: 1, column: 0 }, map: MAP },
  ];
  const code = codeOf({ version: 3, sections });
  expect([code.find(1, 1)?.file, code.find(2, 1)?.file]).toEqual(['first.js', 'a.js']);
});

test.each([
  ['no JSON', 'x'],
  ['another version', JSON.stringify({ ...MAP, version: 2 })],
  ['no mappings', JSON.stringify({ version: 3, sources: [] })],
  ['characters that no mapping has', JSON.stringify({ ...MAP, mappings: 'A B' })],
  ['too many mappings', JSON.stringify({ ...MAP, mappings: ','.repeat(1_000_001) })],
  ['sections within sections', JSON.stringify({ version: 3, sections: [{ offset: {}, map: { sections: [] } }] })],
])('a map with %s is refused with the reason', (_what, text) => {
  expect(() => readSourceMap(text)).toThrow(BadSourceMap);
});

function readOrRefused(map: object, line: number, column: number): boolean {
  try {
    codeOf(map).find(line, column);
    return true;
  } catch (error) {
    return error instanceof BadSourceMap;
  }
}

test('whatever a map says, it is read or refused, and no place in it fails', () => {
  const odd = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.string()), fc.jsonValue());
  const mappings = fc.oneof(fc.stringMatching(/^[A-Za-z0-9+/,;]{0,40}$/), odd);
  const map = fc.record({
    version: fc.constant(3),
    mappings,
    sources: odd,
    names: odd,
    sourcesContent: odd,
    ignoreList: odd,
  });
  fc.assert(
    fc.property(map, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100 }), (value, line, column) => {
      expect(readOrRefused(value, line, column)).toBe(true);
    }),
  );
});

test('the function around a place has the name that it has in the source', () => {
  const code = 'class A{pay(){var a=()=>{x()};a()}}var b=function(){y()};b()';
  const stored = (mappings: string) => ({ ...readSourceMap(JSON.stringify({ ...MAP, mappings })), functions: [] });
  const original = new OriginalCode(withFunctions(stored('AAAA'), code));
  expect(original.find(1, code.indexOf('var a') + 1)?.functionName).toBe('pay');
  // The map has no name for this place.
  expect(original.find(1, code.indexOf('x()') + 1)?.functionName).toBeNull();
  expect(original.find(1, code.length)?.functionName).toBeNull();
  expect(withFunctions(stored('AACA'), 'this is no code').functions).toEqual([]);
});
