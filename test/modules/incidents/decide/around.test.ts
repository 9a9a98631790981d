import { expect, test } from 'vitest';

import { byNearness, joinOpened } from '#modules/incidents/decide/around.ts';

const event = (minute: number, isOwn: boolean) => ({ atMs: minute * 60_000, isOwn });

test('events of the own service come first, there those before the trigger, and there the nearest', () => {
  const events = [event(1, false), event(-1, false), event(1, true), event(-10, true), event(0, true), event(-2, true)];
  expect(byNearness(events, 0)).toEqual([
    event(0, true),
    event(-2, true),
    event(-10, true),
    event(1, true),
    event(-1, false),
    event(1, false),
  ]);
});

test('a new exception and the last incident that it opened are told once', () => {
  const groups = [{ groupId: 'pool' }, { groupId: 'disk' }];
  const opened = { number: 2, exceptionGroupId: 'pool' };
  const others = [
    { number: 4, exceptionGroupId: null },
    { number: 3, exceptionGroupId: 'earlier' },
  ];
  const before = { number: 1, exceptionGroupId: 'pool' };
  expect(joinOpened(groups, [before, opened, ...others])).toEqual({
    groups: [
      { groupId: 'pool', opened },
      { groupId: 'disk', opened: null },
    ],
    others: [before, ...others],
  });
});
