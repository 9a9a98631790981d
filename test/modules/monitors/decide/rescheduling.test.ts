import { expect, test } from 'vitest';

import { decideCheckIn, decideRescheduling, type MonitorState, NEW_MONITOR } from '#modules/monitors/decide/monitor.ts';
import { readMonitorConfig } from '#modules/monitors/decide/schedule.ts';
import { Temporal } from '#kernel/time.ts';
import { NO_RUNS } from '#test/modules/monitors/decide/watched_monitor.ts';

const NOW = Temporal.Instant.from('2027-06-01T12:00:10Z');
const crontab = (text: string) => ({ type: 'crontab' as const, crontab: text, timezone: 'UTC' });
const FIVE = { ...NEW_MONITOR, schedule: crontab('*/5 * * * *') };

test.each([
  ['nothing', FIVE, null],
  ['once a year', { ...FIVE, schedule: crontab('0 0 1 1 *') }, 'later'],
  ['never', { ...FIVE, schedule: crontab('0 0 30 2 *') }, 'later'],
  ['in a minute, and then once a year', { ...FIVE, schedule: crontab('1 12 1 6 *') }, 'later'],
  ['every minute of this day alone', { ...FIVE, schedule: crontab('* * 1 6 *') }, 'later'],
  ['every minute, but at night', { ...FIVE, schedule: crontab('* 6-20 * * *') }, 'later'],
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

test.each([
  ['an hour earlier', '0 4 * * *', '0 3 * * *', 'other'],
  ['on another day', '0 4 * * 4', '0 4 * * 3', 'other'],
  ['on another day of the month', '0 4 5 * *', '0 4 4 * *', 'other'],
  ['half as often', '10 */2 * * *', '10 */4 * * *', 'later'],
  ['not at weekends', '0 4 * * *', '0 3 * * 1-5', 'later'],
  ['once in a leap year', '0 4 29 2 *', '0 3 29 2 *', 'other'],
])('a job that runs %s from now on', (_what, before, after, decision) => {
  const [old, next] = [before, after].map((text) => ({ ...NEW_MONITOR, schedule: crontab(text) }));
  expect(decideRescheduling(old!, next!, NOW)).toBe(decision);
});

test('a schedule is compared with the last that could be read, whatever came between them', () => {
  const say = (before: MonitorState, value: string, margin: number): MonitorState => {
    const config = readMonitorConfig({ schedule: { type: 'crontab', value }, checkin_margin: margin });
    return decideCheckIn(before, null, { status: 'ok', durationMs: null, at: NOW, config }, NO_RUNS).monitor;
  };
  const often = say(NEW_MONITOR, '*/5 * * * *', 1);
  const unreadable = say(say(often, 'H 4 * * *', 40_000), 'H 5 * * *', 40_000);
  const decide = (value: string, margin: number) => decideRescheduling(unreadable, say(unreadable, value, margin), NOW);
  expect(decide('0 0 1 1 *', 1)).toBe('later');
  expect(decide('*/5 * * * *', 40_000)).toBe('later');
  expect(decide('*/5 * * * *', 1)).toBe('other');
});
