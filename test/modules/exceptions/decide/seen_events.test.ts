import { expect, test } from 'vitest';

import type { Level } from '#modules/exceptions/decide/level.ts';
import {
  eventsByGroup,
  groupKeyOf,
  isNoticeable,
  onOccurrences,
  OVERFLOW,
  type SeenEvent,
  withinGroupLimit,
} from '#modules/exceptions/decide/seen_events.ts';
import { asId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';

const NOW = Temporal.Instant.from('2027-03-10T12:00:00Z');

function seen(
  service: string,
  key: string,
  { level = 'error', ago = 0, release = null }: { level?: Level; ago?: number; release?: string | null } = {},
): SeenEvent {
  const at = NOW.subtract({ minutes: ago });
  return {
    orgId: asId('org', 'org'),
    serviceId: asId('service', service),
    grouping: { version: 2, key, parts: [] },
    occurrence: {
      eventId: 'e'.repeat(32),
      headline: { type: 'Error', message: key, place: null },
      level,
      at,
      receivedAt: at,
      release,
    },
  };
}

const keyOf = (service: string, key: string) => groupKeyOf(asId('service', service), key);
const keysOf = (events: readonly SeenEvent[]) => events.map(({ grouping }) => grouping.key);

test('events of one group are listed together, oldest first, and those of another service apart', () => {
  const byGroup = eventsByGroup([seen('a', 'x'), seen('a', 'x', { ago: 5 }), seen('b', 'x')]);
  expect([...byGroup.keys()].sort()).toEqual([keyOf('a', 'x'), keyOf('b', 'x')]);
  expect(byGroup.get(keyOf('a', 'x'))?.map(({ occurrence }) => occurrence.at)).toEqual([
    NOW.subtract({ minutes: 5 }),
    NOW,
  ]);
});

test('events of more new groups than a service may begin go to its overflow group, those of known groups never', () => {
  const events = [seen('a', '1'), seen('a', '2'), seen('a', '3'), seen('a', 'known'), seen('b', '1'), seen('a', '3')];
  const existing = new Set([keyOf('a', 'known')]);
  const limited = (begun: number) => keysOf(withinGroupLimit(events, existing, new Map([['a', begun]]), 3));
  expect(limited(0)).toEqual(['1', '2', '3', 'known', '1', '3']);
  expect(limited(1)).toEqual(['1', '2', OVERFLOW.key, 'known', '1', OVERFLOW.key]);
  expect(limited(7)).toEqual([OVERFLOW.key, OVERFLOW.key, OVERFLOW.key, 'known', '1', OVERFLOW.key]);
});

test('the events of a batch mean together the most telling of what each means, at the worst level among them', () => {
  const first = onOccurrences(null, [
    seen('a', 'x', { level: 'warning', ago: 2 }),
    seen('a', 'x', { level: 'fatal', ago: 1 }),
  ]);
  expect(first).toMatchObject({
    outcome: 'new',
    level: 'fatal',
    state: { level: 'fatal', firstSeenAt: NOW.subtract({ minutes: 2 }) },
  });
  const resolved = { ...first.state, status: 'resolved' as const, statusChangedAt: NOW.subtract({ seconds: 30 }) };
  const late = seen('a', 'x', { ago: 1, level: 'info' });
  const back = onOccurrences(resolved, [late, seen('a', 'x', { level: 'info' }), seen('a', 'x', { level: 'info' })]);
  expect(back).toMatchObject({ outcome: 'regression', level: 'info', state: { status: 'unresolved', level: 'fatal' } });
  expect(onOccurrences(resolved, [late])).toMatchObject({ outcome: 'known', state: { status: 'resolved' } });
});

test('an event that comes late was the first one of its group, and never the last', () => {
  const { state } = onOccurrences(null, [seen('a', 'x')]);
  const { firstSeenAt, lastSeenAt } = onOccurrences(state, [seen('a', 'x', { ago: 9 })]).state;
  expect([firstSeenAt, lastSeenAt]).toEqual([NOW.subtract({ minutes: 9 }), NOW]);
});

test('one event more of the same is no change that a person sees', () => {
  const { state } = onOccurrences(null, [seen('a', 'x', { ago: 1 })]);
  expect(isNoticeable(state, onOccurrences(state, [seen('a', 'x')]).state)).toBe(false);
  expect(isNoticeable(state, onOccurrences(state, [seen('a', 'x', { level: 'fatal' })]).state)).toBe(true);
});
