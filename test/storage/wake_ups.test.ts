import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { WakeUps } from '#storage/queue/wake_ups.ts';

let woken: string[];
let wakeUps: WakeUps<string>;

beforeEach(() => {
  vi.useFakeTimers();
  woken = [];
  wakeUps = new WakeUps((name) => woken.push(name));
});

afterEach(() => vi.useRealTimers());

test('a quiet queue is woken for at once', async () => {
  wakeUps.ask('points');
  wakeUps.ask('events');
  expect(woken).toEqual(['points', 'events']);
  await vi.advanceTimersByTimeAsync(100);
  wakeUps.ask('points');
  expect(woken).toEqual(['points', 'events', 'points']);
});

test('a busy queue is woken for every now and then, and once more after the last that asked', async () => {
  for (let i = 0; i < 10; i += 1) {
    wakeUps.ask('points');
    await vi.advanceTimersByTimeAsync(25);
  }
  const before = woken.length;
  expect(before).toBe(3);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(woken).toHaveLength(before + 1);
});

test('nothing waits any longer once all is to be settled', async () => {
  wakeUps.ask('points');
  wakeUps.ask('points');
  expect(woken).toHaveLength(1);
  wakeUps.settle();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(woken).toHaveLength(2);
});
