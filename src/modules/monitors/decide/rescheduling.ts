import { isSameSchedule, type MonitorState } from '#modules/monitors/decide/monitor.ts';
import { nextDue, scheduleText } from '#modules/monitors/decide/schedule.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

type Expectation = Pick<
  MonitorState,
  'schedule' | 'marginMinutes' | 'runtimeMinutes' | 'failureThreshold' | 'recoveryThreshold'
>;

/**
 * Classifies the effect of a check-in on the expected runs: `later` if a run that does not begin, takes too long or
 * fails is noticed later than before; null if they are unchanged, are the first, or cannot be read.
 */
export function decideRescheduling(
  before: Expectation,
  after: Expectation,
  now: Temporal.Instant,
): 'later' | 'other' | null {
  if (before.schedule === null || after.schedule === null || after.schedule.type === 'unreadable') return null;
  const grown = (['marginMinutes', 'runtimeMinutes', 'failureThreshold'] as const).some(
    (name) => after[name] > before[name],
  );
  if (grown) return 'later';
  if (isSameSchedule(before.schedule, after.schedule)) {
    return expectationText(before) === expectationText(after) ? null : 'other';
  }
  const [expected, moved] = [nextDue(before.schedule, now), nextDue(after.schedule, now)];
  if (expected === null) return 'other';
  return moved === null || !isAtOrBefore(moved, expected) ? 'later' : 'other';
}

/** Describes all that is expected of a job. */
export function expectationText(expected: Expectation): string {
  const { schedule, marginMinutes, runtimeMinutes, failureThreshold, recoveryThreshold } = expected;
  const when = schedule === null ? 'no schedule' : scheduleText(schedule);
  return `${when}, margin ${marginMinutes} min, runtime ${runtimeMinutes} min, ${failureThreshold} to fail, ${recoveryThreshold} to recover`;
}
