import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { expect, test } from 'vitest';

/** A worker of the product has several times as much; one that needs more is ended. */
const MEMORY_MB = 512;
/** Of what is shown for one frame: a file, a function and eleven lines. */
const PLACE_LENGTH_MAX = 20_000;

test('a hostile map is read or refused within the time and the memory that a map may take, and makes no frame large', async () => {
  const worker = new Worker(new URL('./hostile_maps.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const outcomes = new Map<string, readonly [outcome: string, longest: number]>();
  worker.on('message', ([name, outcome, longest]: [string, string, number]) => outcomes.set(name, [outcome, longest]));
  const [exitCode] = await once(worker, 'exit');
  expect([exitCode, outcomes.size]).toEqual([0, 20]);
  const of = (wanted: string): string[] =>
    [...outcomes].filter(([, [outcome]]) => outcome === wanted).map(([name]) => name);
  expect(of('stopped')).toEqual([]);
  expect(of('refused')).toEqual([
    'more mappings than there may be',
    'a section a billion lines below',
    'sections with too many mappings together',
    'sections nested deeply',
    'a section whose mappings are a list',
    'a section at no place',
  ]);
  for (const [name, [, longest]] of outcomes) expect([name, longest <= PLACE_LENGTH_MAX]).toEqual([name, true]);
});
