import { expect, test } from 'vitest';

import { BadSourceMap } from '#modules/releases/decide/source_maps/source_map.ts';
import { HOSTILE_MAPS, readHostileMap } from '#test/modules/releases/decide/source_maps/hostile_maps.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';
import { countedPart } from '#test/kit/properties.ts';

/** Longest text for one frame: a file, a function and eleven lines. */
const PLACE_LENGTH_MAX = 20_000;
/** Only more mappings than there may be need a size of a million. */
const sizeOf = (name: string) => (/more mappings|too many mappings/.test(name) ? 1_000_000 : 20_000);

test('a hostile map is read or refused, and makes no frame large', () => {
  const refused: string[] = [];
  for (const [name, make] of Object.entries(HOSTILE_MAPS)) {
    try {
      expect(readHostileMap(make(sizeOf(name))), name).toBeLessThanOrEqual(PLACE_LENGTH_MAX);
    } catch (error) {
      if (!(error instanceof BadSourceMap)) throw new Error(name, { cause: error });
      refused.push(name);
    }
  }
  expect(refused).toEqual([
    'more mappings than there may be',
    'a section a billion lines below',
    'sections with too many mappings together',
    'sections nested deeply',
    'a section whose mappings are a list',
    'a section at no place',
  ]);
});

test('reading a hostile map takes work linear in its size', async () => {
  expect(await beyondLinear(import.meta.resolve('./hostile_maps_workloads.ts'), 500, countedPart(2))).toEqual([]);
});
