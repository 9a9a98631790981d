import { expect, test } from 'vitest';

import { byNearness } from '#modules/incidents/decide/around.ts';

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
