import { expect, test } from 'vitest';

import { outcomeOf } from '#modules/incidents/paging/send_notification.ts';
import type { Delivery } from '#notify/channel.ts';
import { at } from '#test/modules/schedules/decide/given_rotation.ts';

const CREATED = at('2026-03-01T09:00:00Z');

/** The outcome of a delivery some seconds after the first try, with the longest delays. */
const outcomeAfter = (
  seconds: number,
  attempts: number,
  delivery: Delivery,
  { uncertainAttemptsMax = 2, isUncertain = false } = {},
) =>
  outcomeOf({ attempts, isUncertain, releasedAt: CREATED, createdAt: CREATED.subtract({ minutes: 10 }) }, delivery, {
    uncertainAttemptsMax,
    now: CREATED.add({ seconds }),
    random: 0,
  });

test('an accepted message is sent, and a rejected one has failed for good', () => {
  const accepted = outcomeAfter(1, 1, { kind: 'accepted', providerId: 'SM1' });
  expect(accepted).toEqual({ status: 'sent', reason: null, providerId: 'SM1' });
  const rejected = outcomeAfter(1, 1, { kind: 'rejected', reason: 'bad_number' });
  expect(rejected).toEqual({ status: 'failed', reason: 'bad_number', providerId: null });
});

test('a temporary fault is tried again, not before the provider allows it, for five minutes from the first try', () => {
  const busy = { kind: 'retry', reason: 'provider_busy', afterMs: 20_000 } as const;
  const dueAt = CREATED.add({ seconds: 21 });
  expect(outcomeAfter(1, 1, busy)).toEqual({ status: 'retry', reason: 'provider_busy', dueAt });
  const late = { status: 'failed', reason: 'provider_busy', providerId: null };
  expect(outcomeAfter(290, 12, busy)).toEqual(late);
});

test('a message with an unknown fate is tried again as often as its channel allows, then it counts as sent', () => {
  const silent = { kind: 'uncertain', reason: 'provider_silent' } as const;
  expect(outcomeAfter(1, 1, silent)).toMatchObject({ status: 'retry', reason: 'provider_silent' });
  const unconfirmed = { status: 'sent', reason: 'unconfirmed', providerId: null };
  expect(outcomeAfter(30, 2, silent, { isUncertain: true })).toEqual(unconfirmed);
  expect(outcomeAfter(1, 1, silent, { uncertainAttemptsMax: 1 })).toEqual(unconfirmed);
});

test('temporary faults before it do not count as tries with an unknown fate, and after it the fate stays unknown', () => {
  const silent = { kind: 'uncertain', reason: 'provider_silent' } as const;
  expect(outcomeAfter(8, 4, silent)).toMatchObject({ status: 'retry', reason: 'provider_silent' });
  const busy = { kind: 'retry', reason: 'provider_busy' } as const;
  expect(outcomeAfter(3, 2, busy, { isUncertain: true })).toMatchObject({ status: 'retry', reason: 'provider_silent' });
  expect(outcomeAfter(299, 12, busy, { isUncertain: true })).toMatchObject({
    status: 'failed',
    reason: 'provider_busy',
  });
});
