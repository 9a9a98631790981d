import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { WakeUpCoalescer } from '#storage/queue/durable_queue.ts';

let woken: string[];
let wakeUps: WakeUpCoalescer<string>;

beforeEach(() => {
  vi.useFakeTimers();
  woken = [];
  wakeUps = new WakeUpCoalescer((name) => woken.push(name));
});

afterEach(() => vi.useRealTimers());

test('a worker is woken at once when there is little to do', async () => {
  wakeUps.request('points');
  wakeUps.request('events');
  expect(woken).toEqual(['points', 'events']);
  await vi.advanceTimersByTimeAsync(100);
  wakeUps.request('points');
  expect(woken).toEqual(['points', 'events', 'points']);
});

test('many requests become a wake-up at each interval, and one more after the last request', async () => {
  for (let i = 0; i < 10; i += 1) {
    wakeUps.request('points');
    await vi.advanceTimersByTimeAsync(25);
  }
  const before = woken.length;
  expect(before).toBe(3);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(woken).toHaveLength(before + 1);
});

test('others are woken once a second by a worker that has no room, and once more after its last request', async () => {
  const others = new WakeUpCoalescer<string>((name) => woken.push(name), 1_000);
  for (let i = 0; i < 50; i += 1) {
    others.request('events');
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(woken).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(woken).toHaveLength(4);
});

test('no request waits any longer after a flush', async () => {
  wakeUps.request('points');
  wakeUps.request('points');
  expect(woken).toHaveLength(1);
  wakeUps.flush();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(woken).toHaveLength(2);
});
