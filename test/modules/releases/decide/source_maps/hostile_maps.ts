import { OriginalCode, withFunctions } from '#modules/releases/decide/source_maps/original_code.ts';
import { readSourceMap } from '#modules/releases/decide/source_maps/source_map.ts';

const MAP = { version: 3, sources: ['a.js'], sourcesContent: ['one\ntwo'], names: ['n'], mappings: 'AAAA' };
const text = (map: object): string => JSON.stringify({ ...MAP, ...map });
const section = (line: number, map: object = {}) => ({ offset: { line, column: 0 }, map: { ...MAP, ...map } });
const sections = (...list: object[]): string => JSON.stringify({ version: 3, sections: list });

/**
 * Maps that somebody could upload to slow the server down, to fill its memory, or to make its answers huge, by their
 * names at a size of a million.
 */
export const HOSTILE_MAPS: Readonly<Record<string, (size: number) => string>> = {
  'a million mappings of one line': (n) => text({ mappings: 'AAAA' + ',CAAA'.repeat(n - 2) }),
  'a million mappings in the wrong order': (n) => text({ mappings: 'AAAA' + ',DAAD'.repeat(n - 2) }),
  'a million empty lines': (n) => text({ mappings: ';'.repeat(n - 2) + 'AAAA' }),
  'more mappings than there may be': (n) => text({ mappings: ',A'.repeat(5 * n) }),
  'one number without an end': (n) => text({ mappings: 'g'.repeat(8 * n) }),
  'numbers beyond 32 bits': () => text({ mappings: 'ggggggggggE,+/////////D,gggggggggggggggggggggA' }),
  'places before the beginning': () => text({ mappings: 'DDDD,AAADD,FFFFF' }),
  'half a million names': (n) => text({ names: Array.from({ length: n / 2 }, (_, index) => `n${index}`) }),
  'a name of megabytes': (n) => text({ mappings: 'AAAAA', names: ['n'.repeat(16 * n)] }),
  'a file name of megabytes': (n) => text({ sources: ['../'.repeat(5 * n)] }),
  'names nested deeply': (n) =>
    `{"version":3,"mappings":"AAAA","sources":[],"names":${'['.repeat(n / 2)}${']'.repeat(n / 2)}}`,
  'a source of megabytes on one line': (n) => text({ sourcesContent: ['x'.repeat(16 * n)] }),
  'a source of millions of lines': (n) => text({ sourcesContent: ['\n'.repeat(4 * n)] }),
  'a section a billion lines below': () => sections(section(0), section(1_000_000_000)),
  'sections in the wrong order': () => sections(section(900_000), section(5), section(0)),
  'ten thousand sections': (n) => sections(...Array.from({ length: n / 100 }, (_, line) => section(line))),
  'sections with too many mappings together': (n) =>
    sections(...Array.from({ length: 30 }, (_, line) => section(line, { mappings: ',A'.repeat(n / 10) }))),
  'sections nested deeply': (n) =>
    `${'{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":'.repeat(n / 20)}1${'}]}'.repeat(n / 20)}`,
  'a section whose mappings are a list': () => sections(section(0, { mappings: [[[0, 0, 0, 0]]] })),
  'a section at no place': () => sections({ offset: { line: -1, column: 0.5 }, map: MAP }),
};

/** Reads a map as the worker that stores an upload, and looks places up in it; tells how long the longest place is. */
export function readHostileMap(uploaded: string): number {
  const map = readSourceMap(uploaded);
  const original = new OriginalCode(withFunctions({ ...map, functions: [] }, 'function n(){n()}'));
  const places = [
    [1, 1],
    [1, 2],
    [1, 2_000_000],
    [999_999, 1],
    [2_000_000_000, 1],
  ] as const;
  return Math.max(...places.map(([line, column]) => JSON.stringify(original.find(line, column))?.length ?? 0));
}
