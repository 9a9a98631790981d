import { expect, test } from 'vitest';

import { FairTurns } from '#kernel/threads/fair_turns.ts';

/** Each item takes longer than a turn. */
function turnsOfOneItem(): FairTurns {
  let now = 0;
  return new FairTurns(() => (now += 10));
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

test('calls of an organization that wait share a turn, in their order, and each has its own results', async () => {
  const turns = new FairTurns(() => 0);
  let taken = 0;
  const inTurn = (turn: () => void): void => {
    taken += 1;
    turn();
  };
  const double = (n: number) => n * 2;
  expect(
    await Promise.all([
      turns.map('a', [1, 2], double, inTurn),
      turns.map('a', [], double, inTurn),
      turns.map('a', [3], double, inTurn),
    ]),
  ).toEqual([[2, 4], [], [6]]);
  expect(taken).toBe(1);
  await turns.map('b', [1], double, inTurn);
  expect(taken).toBe(2);
});

test('calls within other limits have turns of their own', async () => {
  const turns = new FairTurns(() => 0);
  const depths: number[] = [];
  let depth = 0;
  const limit = () => (turn: () => void) => {
    depth += 1;
    turn();
    depth -= 1;
  };
  const note = () => depths.push(depth);
  await Promise.all([
    turns.map('a', [1], note, limit()),
    turns.map('a', [1], note, limit()),
    turns.map('a', [1], note),
  ]);
  expect(depths).toEqual([1, 1, 0]);
});

test('of the calls that share a turn, the one whose work is stopped or fails is the only one that fails', async () => {
  const turns = new FairTurns(() => 0);
  const inTurn = (turn: () => void): void => turn();
  const work = (item: string): string => {
    if (item === 'endless') throw new Error('stopped');
    return item.toUpperCase();
  };
  const calls = [['a', 'b'], ['c', 'endless', 'd'], ['e']].map((items) => turns.map('org', items, work, inTurn));
  expect(await Promise.allSettled(calls)).toMatchObject([
    { status: 'fulfilled', value: ['A', 'B'] },
    { status: 'rejected', reason: { message: 'stopped' } },
    { status: 'fulfilled', value: ['E'] },
  ]);
});

test('a turn that is stopped although its work is done ends neither other calls nor itself without an answer', async () => {
  const turns = new FairTurns(() => 0);
  let times = 0;
  const inTurn = (turn: () => void): void => {
    turn();
    times += 1;
    if (times === 1) throw new Error('stopped');
  };
  const calls = [turns.map('a', [1], String, inTurn), turns.map('a', [2], String, inTurn)];
  expect(await Promise.all(calls)).toEqual([['1'], ['2']]);
  expect(await turns.map('a', [3], String, inTurn)).toEqual(['3']);
});
