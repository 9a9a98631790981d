import { parentPort } from 'node:worker_threads';

import { OriginalCode } from '#core/source_maps/original_code.ts';
import { BadSourceMap, readSourceMap } from '#core/source_maps/source_map.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/run_with_time_limit.ts';

const MAP = { version: 3, sources: ['a.js'], sourcesContent: ['one\ntwo'], names: ['n'], mappings: 'AAAA' };
const text = (map: object): string => JSON.stringify({ ...MAP, ...map });
const section = (line: number, map: object = {}) => ({ offset: { line, column: 0 }, map: { ...MAP, ...map } });
const sections = (...list: object[]): string => JSON.stringify({ version: 3, sections: list });

/** What somebody could upload to slow the server down, to fill its memory, or to make its answers huge. */
const HOSTILE: Readonly<Record<string, () => string>> = {
  'a million mappings of one line': () => text({ mappings: 'AAAA' + ',CAAA'.repeat(999_998) }),
  'a million mappings in the wrong order': () => text({ mappings: 'AAAA' + ',DAAD'.repeat(999_998) }),
  'a million empty lines': () => text({ mappings: ';'.repeat(999_998) + 'AAAA' }),
  'more mappings than there may be': () => text({ mappings: ',A'.repeat(5_000_000) }),
  'one number without an end': () => text({ mappings: 'g'.repeat(8_000_000) }),
  'numbers beyond 32 bits': () => text({ mappings: 'ggggggggggE,+/////////D,gggggggggggggggggggggA' }),
  'places before the beginning': () => text({ mappings: 'DDDD,AAADD,FFFFF' }),
  'half a million names': () => text({ names: Array.from({ length: 500_000 }, (_, n) => `n${n}`) }),
  'a name of megabytes': () => text({ mappings: 'AAAAA', names: ['n'.repeat(16_000_000)] }),
  'a file name of megabytes': () => text({ sources: ['../'.repeat(5_000_000)] }),
  'names nested deeply': () =>
    `{"version":3,"mappings":"AAAA","sources":[],"names":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
  'a source of megabytes on one line': () => text({ sourcesContent: ['x'.repeat(16_000_000)] }),
  'a source of millions of lines': () => text({ sourcesContent: ['\n'.repeat(4_000_000)] }),
  'a section a billion lines below': () => sections(section(0), section(1_000_000_000)),
  'sections in the wrong order': () => sections(section(900_000), section(5), section(0)),
  'ten thousand sections': () => sections(...Array.from({ length: 10_000 }, (_, line) => section(line))),
  'sections with too many mappings together': () =>
    sections(...Array.from({ length: 30 }, (_, line) => section(line, { mappings: ',A'.repeat(100_000) }))),
  'sections nested deeply': () =>
    `${'{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":'.repeat(50_000)}1${'}]}'.repeat(50_000)}`,
  'a section whose mappings are a list': () => sections(section(0, { mappings: [[[0, 0, 0, 0]]] })),
  'a section at no place': () => sections({ offset: { line: -1, column: 0.5 }, map: MAP }),
};

/** For one map, as the worker that stores an upload allows. */
const READ_MS_MAX = 3_000;

type Outcome = 'read' | 'refused' | 'stopped';

function outcomeOf(make: () => string): readonly [Outcome, longest: number] {
  const uploaded = make();
  try {
    return runWithTimeLimit(READ_MS_MAX, () => {
      const map = readSourceMap(uploaded);
      const code = new OriginalCode({ ...map, functions: [] }).withFunctions('function n(){n()}');
      const original = new OriginalCode(code);
      let longest = 0;
      for (const [line, column] of [
        [1, 1],
        [1, 2],
        [1, 2_000_000],
        [999_999, 1],
        [2_000_000_000, 1],
      ] as const) {
        longest = Math.max(longest, JSON.stringify(original.find(line, column))?.length ?? 0);
      }
      return ['read', longest] as const;
    });
  } catch (error) {
    if (error instanceof BadSourceMap) return ['refused', 0];
    if (error instanceof TimeLimitExceeded || error instanceof RangeError) return ['stopped', 0];
    throw error;
  }
}

for (const [name, make] of Object.entries(HOSTILE)) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
  parentPort?.postMessage([name, ...outcomeOf(make)]);
}
