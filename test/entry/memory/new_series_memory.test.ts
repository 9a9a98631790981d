import { expect, onTestFinished, test } from 'vitest';

import { HEAP_GROWTH } from '#entry/memory/memory.ts';
import { NewSeriesMemory } from '#entry/foundation.ts';

function watched() {
  const done: string[] = [];
  const memory = new NewSeriesMemory({
    limitGrowth: (percent) => done.push(`at most ${percent} %`),
    limitGrowthAsUsual: () => done.push('as usual'),
    collect: () => done.push('collected'),
  });
  /** Returns the actions of so many looks, each after so many series with so many points each. */
  const after = (series: number, looks = 1, points = 0): string[] => {
    done.length = 0;
    for (let look = 0; look < looks; look += 1) {
      memory.add(series, series * points);
      memory.look();
    }
    return [...done];
  };
  return { after, memory, done };
}

test('the heap is kept small once many series were new, and as usual again half a minute after', () => {
  const { after } = watched();
  expect(after(20_000, 2)).toEqual([]);
  expect(after(20_000, 10)).toEqual(['at most 30 %', 'collected']);
  expect(after(4_999, 14)).toEqual([]);
  expect(after(0)).toEqual(['as usual']);
  expect(after(0, 100)).toEqual([]);
});

test('many that come at once are not waited for', () => {
  const { memory, done } = watched();
  memory.add(30_000);
  expect(done).toEqual([]);
  memory.add(20_000);
  expect(done).toEqual(['at most 30 %', 'collected']);
  memory.add(500_000);
  expect(done).toHaveLength(2);
});

test('few new series change nothing, however long they come', () => {
  expect(watched().after(4_999, 1_000)).toEqual([]);
});

test('a service that starts with new labels changes nothing', () => {
  const { after } = watched();
  expect([...after(16_000), ...after(10_000), ...after(0, 20)]).toEqual([]);
  expect([...after(16_000), ...after(10_000), ...after(0, 20)]).toEqual([]);
});

test('a pause in between ends nothing, and series that come again later begin anew', () => {
  const { after } = watched();
  expect(after(60_000)).toEqual(['at most 30 %', 'collected']);
  expect([...after(0, 14), ...after(60_000), ...after(0, 14)]).toEqual([]);
  expect(after(0)).toEqual(['as usual']);
  expect(after(60_000)).toEqual(['at most 30 %', 'collected']);
});

test('known series that bring their labels again are not new', () => {
  const { after } = watched();
  expect(after(20_000, 100, 5)).toEqual([]);
  expect(after(20_000, 4, 1)).toEqual(['at most 30 %', 'collected']);
});

test('the heap of this process takes what it is told', () => {
  const memory = new NewSeriesMemory();
  onTestFinished(() => {
    for (let look = 0; look < 20; look += 1) memory.look();
  });
  memory.add(60_000);
  expect(() => memory.look()).not.toThrow();
  // As this process was started: V8 decides by itself, unless it was told how much the heap may grow.
  expect(HEAP_GROWTH.usual()).toBe(process.execArgv.includes('--heap-growing-percent=300') ? 300 : 0);
});
