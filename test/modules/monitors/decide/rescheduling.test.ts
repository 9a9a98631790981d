import { expect, test } from 'vitest';

import { decideRescheduling, NEW_MONITOR } from '#modules/monitors/decide/monitor.ts';
import { Temporal } from '#kernel/time.ts';

const NOW = Temporal.Instant.from('2027-06-01T12:00:10Z');
const crontab = (text: string) => ({ type: 'crontab' as const, crontab: text, timezone: 'UTC' });
const FIVE = { ...NEW_MONITOR, schedule: crontab('*/5 * * * *') };

test.each([
  ['nothing', FIVE, null],
  ['once a year', { ...FIVE, schedule: crontab('0 0 1 1 *') }, 'later'],
  ['never', { ...FIVE, schedule: crontab('0 0 30 2 *') }, 'later'],
  ['every minute', { ...FIVE, schedule: crontab('* * * * *') }, 'other'],
  ['a longer margin', { ...FIVE, marginMinutes: 40_000 }, 'later'],
  ['more failures', { ...FIVE, failureThreshold: 720 }, 'later'],
  ['fewer successes', { ...FIVE, recoveryThreshold: 2 }, 'other'],
  [
    'a schedule that cannot be read',
    { ...FIVE, schedule: { type: 'unreadable' as const, text: 'H', fault: '', timezone: 'UTC' } },
    null,
  ],
])('a check-in that says %s', (_what, after, decision) => {
  expect(decideRescheduling(FIVE, after, NOW)).toBe(decision);
});

test('the first schedule of a monitor replaces none', () => {
  expect(decideRescheduling(NEW_MONITOR, FIVE, NOW)).toBeNull();
});
