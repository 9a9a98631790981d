import { expect, onTestFinished, test } from 'vitest';

import { HEAP_GROWTH } from '#entry/memory.ts';
import { NewSeriesMemory } from '#entry/new_series_memory.ts';

function watched() {
  const done: string[] = [];
  const memory = new NewSeriesMemory({
    limitGrowth: (percent) => done.push(`at most ${percent} %`),
    limitGrowthAsUsual: () => done.push('as usual'),
    collect: () => done.push('collected'),
  });
  /** What it does at so many looks, each after so many new series. */
  const after = (series: number, looks = 1): string[] => {
    done.length = 0;
    for (let look = 0; look < looks; look += 1) {
      memory.add(series);
      memory.look();
    }
    return [...done];
  };
  return { after };
}

test('the heap is kept small while many series are new, and as usual again half a minute after', () => {
  const { after } = watched();
  expect(after(20_000)).toEqual(['at most 30 %']);
  expect(after(20_000, 10)).toEqual(['collected']);
  expect(after(4_999, 14)).toEqual([]);
  expect(after(0)).toEqual(['as usual']);
  expect(after(0, 100)).toEqual([]);
});

test('few new series change nothing, however long they come', () => {
  expect(watched().after(4_999, 1_000)).toEqual([]);
});

test('a service that starts with new labels makes nobody wait for a collection', () => {
  const { after } = watched();
  expect([...after(16_000), ...after(10_000), ...after(0, 20)]).toEqual(['at most 30 %', 'as usual']);
});

test('a pause in between ends nothing, and series that come again later begin anew', () => {
  const { after } = watched();
  expect(after(60_000)).toEqual(['at most 30 %', 'collected']);
  expect([...after(0, 14), ...after(60_000), ...after(0, 14)]).toEqual([]);
  expect(after(0)).toEqual(['as usual']);
  expect(after(60_000)).toEqual(['at most 30 %', 'collected']);
});

test('the heap of this process takes what it is told', () => {
  const memory = new NewSeriesMemory();
  onTestFinished(() => {
    for (let look = 0; look < 20; look += 1) memory.look();
  });
  memory.add(60_000);
  expect(() => memory.look()).not.toThrow();
  expect(HEAP_GROWTH.usual()).toBe(0);
});
