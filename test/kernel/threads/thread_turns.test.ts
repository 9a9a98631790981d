import { expect, test } from 'vitest';

import { ThreadTurns } from '#kernel/threads/thread_turns.ts';

/** Each item takes longer than a turn. */
function turnsOfOneItem(): ThreadTurns {
  let now = 0;
  return new ThreadTurns(() => (now += 10));
}

test('organizations take turns, however much one of them brings', async () => {
  const turns = turnsOfOneItem();
  const order: string[] = [];
  const map = (orgId: string, items: number) =>
    turns.map(orgId, Array.from({ length: items }), (_, index) => {
      order.push(orgId);
      return index;
    });
  const [many] = await Promise.all([map('a', 4), map('a', 4), map('b', 1), map('c', 1)]);
  expect(many).toEqual([0, 1, 2, 3]);
  expect(order.slice(0, 3).toSorted()).toEqual(['a', 'b', 'c']);
});

test('others have the thread between two turns, and a fault ends only its own work', async () => {
  const turns = turnsOfOneItem();
  let isServed = false;
  const served: boolean[] = [];
  const long = turns.map('a', ['first', 'second'], () => {
    served.push(isServed);
    setImmediate(() => (isServed = true));
  });
  const faulty = turns.map('b', ['one'], () => {
    throw new Error('no');
  });
  await expect(faulty).rejects.toThrow('no');
  await long;
  expect(served).toEqual([false, true]);
});
