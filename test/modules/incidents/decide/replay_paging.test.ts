import { expect, test } from 'vitest';

import { replayPagingInSteps, type ReplayedOpening } from '#modules/incidents/decide/replay_paging.ts';
import { asId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { restsOf } from '#test/kit/counting/rests.ts';

const BEGIN = Temporal.Instant.from('2027-03-10T12:00:00Z');

test('the replay of paging rests at each opening and closing, so that others have their turn', () => {
  const openings = Array.from({ length: 100 }, (_, index): ReplayedOpening => {
    const openedAt = BEGIN.add({ minutes: 40 * index });
    return {
      serviceId: asId('service', 'service_1'),
      ruleId: null,
      labels: {},
      escalationPolicyId: null,
      severity: 'error',
      groupMinutes: 0,
      repageMinutes: 5,
      steps: 10,
      openedAt,
      closedAt: openedAt.add({ minutes: 20 }),
    };
  });
  const setting = { windows: [], others: [], acknowledgedAfterMinutes: 5, now: BEGIN.add({ hours: 100 }) };
  expect(restsOf(replayPagingInSteps(openings, setting))).toBeGreaterThanOrEqual(200);
});
