import { expect, test } from 'vitest';

import { type RateLimit, type SharedBuckets, SharedLimit } from '#kernel/shared_limit.ts';
import { TokenBucketStore } from '#storage/postgres/token_bucket_store.ts';
import { type TestClock, testClock } from '#test/kit/clock.ts';
import fc from '#test/kit/properties.ts';
import { world } from '#test/kit/world.ts';

/** Buckets as every store of them has to be. */
class Buckets implements SharedBuckets {
  readonly #buckets = new Map<string, { left: number; atMs: number }>();
  asked = 0;
  isAway = false;

  async take(...[key, amount, { burst, perSecond }, now]: Parameters<SharedBuckets['take']>) {
    this.asked += 1;
    if (this.isAway) throw new Error('away');
    const atMs = now.epochMilliseconds;
    const bucket = this.#buckets.get(key) ?? { left: burst, atMs };
    const level = Math.min(burst, bucket.left + ((atMs - bucket.atMs) * perSecond) / 1_000);
    const isGranted = level >= 1;
    const left = isGranted ? level - amount : level;
    this.#buckets.set(key, { left, atMs });
    return { isGranted, left };
  }
}

function processesOf(count: number, rate: RateLimit, clock: TestClock, buckets: SharedBuckets): SharedLimit[] {
  return Array.from(
    { length: count },
    () => new SharedLimit({ name: 'calls', ...rate, buckets, processes: () => count, now: () => clock.now() }),
  );
}

const uses = fc.array(
  fc.record({ process: fc.nat({ max: 7 }), times: fc.integer({ min: 1, max: 60 }), afterMs: fc.nat({ max: 2_000 }) }),
  { maxLength: 60 },
);

test('many processes together let through little more than the limit, whoever asks which of them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 20, max: 500 }),
      fc.integer({ min: 1, max: 100 }),
      uses,
      async (count, burst, perSecond, all) => {
        const clock = testClock();
        const processes = processesOf(count, { burst, perSecond }, clock, new Buckets());
        const began = clock.now().epochMilliseconds;
        let used = 0;
        for (const { process, times, afterMs } of all) {
          clock.advance({ milliseconds: afterMs });
          for (let time = 0; time < times; time += 1) {
            if ((await processes[process % count]?.take('key', 1)) === 0) used += 1;
          }
        }
        const seconds = (clock.now().epochMilliseconds - began) / 1_000;
        // What is left in parts of one is let through by each.
        expect(used).toBeLessThanOrEqual(1.16 * (burst + perSecond * seconds) + 2 * count);
      },
    ),
    { numRuns: 150 },
  );
});

test('a caller who always comes to the same of many processes has the whole limit there', async () => {
  const clock = testClock();
  const [one] = processesOf(8, { burst: 1_000, perSecond: 100 }, clock, new Buckets());
  let used = 0;
  for (let time = 0; time < 1_500; time += 1) used += (await one?.take('key', 1)) === 0 ? 1 : 0;
  expect(used).toBeGreaterThanOrEqual(1_000);
  expect(used).toBeLessThanOrEqual(1_160);
  clock.advance({ seconds: 5 });
  for (let time = 0; time < 1_500; time += 1) used += (await one?.take('key', 1)) === 0 ? 1 : 0;
  expect(used).toBeGreaterThanOrEqual(1_450);
});

test('who uses little, or is alone, asks nothing, and a key at its limit asks a few times a second', async () => {
  const clock = testClock();
  const buckets = new Buckets();
  const [one] = processesOf(4, { burst: 6_000, perSecond: 100 }, clock, buckets);
  const [alone] = processesOf(1, { burst: 10, perSecond: 1 }, clock, buckets);
  for (let time = 0; time < 100; time += 1) expect(await one?.take('key', 1)).toBe(0);
  for (let time = 0; time < 20; time += 1) await alone?.take('key', 1);
  expect(buckets.asked).toBe(0);
  for (let second = 0; second < 60; second += 1) {
    clock.advance({ seconds: 1 });
    for (let time = 0; time < 200; time += 1) await one?.take('busy', 1);
  }
  expect(buckets.asked).toBeLessThan(60 * 5);
});

test('while the shared buckets are away each process lets through its part', async () => {
  const clock = testClock();
  const buckets = new Buckets();
  buckets.isAway = true;
  const processes = processesOf(4, { burst: 400, perSecond: 40 }, clock, buckets);
  let used = 0;
  for (let second = 0; second < 10; second += 1) {
    for (const process of processes) {
      for (let time = 0; time < 100; time += 1) used += (await process.take('key', 1)) === 0 ? 1 : 0;
    }
    clock.advance({ milliseconds: 900 });
  }
  expect(used).toBeGreaterThan(200);
  expect(used).toBeLessThanOrEqual(400 + 400);
});

test('the buckets in PostgreSQL count as they should, also when the clock was set back', async () => {
  const w = await world();
  const store = new TokenBucketStore(w.context.db.session());
  const rate = { burst: 10, perSecond: 2 };
  const take = (amount: number) => store.take('calls key', amount, rate, w.clock.now());
  expect(await take(4)).toEqual({ isGranted: true, left: 6 });
  expect(await take(9)).toEqual({ isGranted: true, left: -3 });
  expect(await take(1)).toEqual({ isGranted: false, left: -3 });
  w.clock.advance({ seconds: 2 });
  expect(await take(1)).toEqual({ isGranted: true, left: 0 });
  w.clock.advance({ hours: 1 });
  expect(await take(12)).toEqual({ isGranted: true, left: -2 });
  w.clock.advance({ hours: -2 });
  expect(await take(1)).toEqual({ isGranted: false, left: -2 });
  w.clock.advance({ seconds: 3 });
  expect(await take(1)).toEqual({ isGranted: true, left: 3 });
  w.clock.advance({ hours: 1 });
  await store.removeOld(w.clock.now());
  expect(await w.context.db.sql.row('select count(*)::int as left from token_buckets')).toEqual({ left: 0 });
});
