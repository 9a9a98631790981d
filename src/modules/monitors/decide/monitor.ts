import { addMinutesSaturating, isAtOrBefore, Temporal, toTimestamp } from '#kernel/time.ts';
import type { CheckInStatus, RunStatus } from '#modules/monitors/decide/check_in.ts';
import {
  CONFIG_DEFAULTS,
  dueFinder,
  type EditedConfig,
  type MonitorConfig,
  type MonitorSchedule,
  nextDue,
  nextRuns,
  scheduleText,
} from '#modules/monitors/decide/schedule.ts';

type Instant = Temporal.Instant;

/** State of a scheduled job in one environment. */
export interface MonitorState extends Omit<MonitorConfig, 'schedule'> {
  /** Schedule of the job; null while nobody has set one: then no run is missed. */
  readonly schedule: MonitorSchedule | null;
  /** Config that a person has set: it overrides the job's own until the person lets the job decide again. */
  readonly editedConfig: EditedConfig | null;
  /** Config that the job sent last. */
  readonly sentConfig: MonitorConfig | null;
  readonly isFailing: boolean;
  /** Runs in a row that went wrong, and that went well. */
  readonly failures: number;
  readonly successes: number;
  readonly nextDueAt: Instant | null;
}

export const NEW_MONITOR: MonitorState = {
  schedule: null,
  editedConfig: null,
  sentConfig: null,
  ...CONFIG_DEFAULTS,
  isFailing: false,
  failures: 0,
  successes: 0,
  nextDueAt: null,
};

export interface Run {
  readonly status: RunStatus;
  readonly startedAt: Instant;
  readonly endedAt: Instant | null;
  /** Time when it has taken too long; null once it has ended. */
  readonly timeoutAt: Instant | null;
}

/** A report of a client, and when it was received. */
export interface CheckIn {
  readonly status: CheckInStatus;
  /** Duration of the run, as the client measured it. */
  readonly durationMs: number | null;
  readonly at: Instant;
  /** Config that was sent with it; null if none was, and then the stored one stays. */
  readonly config: MonitorConfig | null;
}

/** Newest runs of a monitor. */
export interface LastRuns {
  /** Time when the last run that was missed was due. */
  readonly missedAt: Instant | null;
  /** Time when the last run of the others began. */
  readonly begunAt: Instant | null;
}

/** Change of a monitor. `fails`: enough runs in a row have gone wrong; `recovers`: enough good ones have followed. */
export type MonitorChange = 'fails' | 'recovers' | 'none';

interface CheckInDecision {
  readonly monitor: MonitorState;
  /** Run to store; null when the check-in changes nothing. */
  readonly run: Run | null;
  readonly change: MonitorChange;
}

/**
 * Time before a run is due in which one that begins is that run: clocks differ, and schedulers start early. At most
 * half the time to the run after it, so that each run stays its own.
 */
const EARLY = { minutes: 5 };
/** Shorter time while an earlier run is still expected: a run that begins is rather that one. */
const EARLY_BESIDE_LATE = { seconds: 30 };
/**
 * Part of the time between two runs that is as short while one that was missed has not begun since: a run that begins
 * well before the next one is late. In a daily job it is early, as nothing begins so late.
 */
const EARLY_BESIDE_MISSED = 1 / 60;

/** Decides the effect of a check-in. `openRun` is the run that it is about, if that has begun before. */
export function decideCheckIn(
  before: MonitorState,
  openRun: Run | null,
  checkIn: CheckIn,
  last: LastRuns,
): CheckInDecision {
  const monitor = withDue(withConfig(before, checkIn.config), { before, openRun, last }, checkIn);
  const { status, at, durationMs } = checkIn;
  const isBegun = openRun !== null;
  if (status === 'in_progress') {
    const timeoutAt = addMinutesSaturating(at, monitor.runtimeMinutes);
    // As in Sentry, a run that says again that it goes on has as much time again.
    if (openRun?.status === 'in_progress') return { monitor, run: { ...openRun, timeoutAt }, change: 'none' };
    if (isBegun) return { monitor, run: null, change: 'none' };
    return { monitor, run: { status, startedAt: at, endedAt: null, timeoutAt }, change: 'none' };
  }
  // A run that has ended stays as it is, unless it timed out too early.
  if (isBegun && openRun.status !== 'in_progress' && openRun.status !== 'timeout') {
    return { monitor, run: null, change: 'none' };
  }
  // The client's own duration is not affected by delays of its check-ins.
  const startedAt = durationMs === null && openRun !== null ? openRun.startedAt : startOf(at, durationMs);
  const run: Run = { status, startedAt, endedAt: at, timeoutAt: null };
  // A run that timed out has already counted as failed.
  if (status === 'error' && openRun?.status === 'timeout') return { monitor, run, change: 'none' };
  return { ...(status === 'ok' ? afterGood(monitor) : afterBad(monitor)), run };
}

function startOf(at: Instant, durationMs: number | null): Instant {
  return durationMs === null ? at : at.subtract({ milliseconds: Math.max(0, Math.round(durationMs)) });
}

function withConfig(monitor: MonitorState, config: MonitorConfig | null): MonitorState {
  const sentConfig = sentAfter(monitor, config);
  const counts = monitor.editedConfig ?? config;
  return counts === null ? monitor : { ...monitor, ...configOf(counts), sentConfig };
}

/** Returns what the job sent last. Instead of a schedule that cannot be read it is the one before, to compare the next with. */
function sentAfter({ sentConfig, editedConfig }: MonitorState, config: MonitorConfig | null): MonitorConfig | null {
  const isKept = editedConfig === null && config?.schedule.type === 'unreadable' && isReadable(sentConfig);
  return isKept ? sentConfig : (config ?? sentConfig);
}

function isReadable(config: MonitorConfig | null): config is MonitorConfig {
  return config !== null && config.schedule.type !== 'unreadable';
}

function configOf(config: MonitorConfig): MonitorConfig {
  const { schedule, marginMinutes, runtimeMinutes, failureThreshold, recoveryThreshold } = config;
  return { schedule, marginMinutes, runtimeMinutes, failureThreshold, recoveryThreshold };
}

/** Applies a person's config of the job. Runs that have begun keep their time; a new schedule begins now. */
export function editMonitor(before: MonitorState, config: MonitorConfig, now: Instant): MonitorState {
  const { schedule, editedConfig } = before;
  const sentConfig =
    before.sentConfig ?? (schedule === null || editedConfig !== null ? null : configOf({ ...before, schedule }));
  return dueAnew({ ...before, ...config, sentConfig, editedConfig: { ...config, at: toTimestamp(now) } }, before, now);
}

/** Returns to the config that the job sent last; without one, the current config stays until it sends one. */
export function useJobSchedule(before: MonitorState, now: Instant): MonitorState {
  return dueAnew({ ...before, ...before.sentConfig, editedConfig: null }, before, now);
}

function dueAnew(monitor: MonitorState, before: MonitorState, now: Instant): MonitorState {
  const { schedule } = monitor;
  if (schedule === null || (before.schedule !== null && isSameSchedule(schedule, before.schedule))) return monitor;
  return { ...monitor, nextDueAt: nextDue(schedule, now) };
}

interface DueContext {
  readonly before: MonitorState;
  readonly openRun: Run | null;
  readonly last: LastRuns;
}

/** Updates when the next run is due: at the begin of a run, and at the end of one that repeats after a pause. */
function withDue(
  monitor: MonitorState,
  { before, openRun: run, last }: DueContext,
  { at, durationMs }: CheckIn,
): MonitorState {
  const begin = run?.startedAt ?? startOf(at, durationMs);
  const { schedule } = monitor;
  if (schedule === null) return { ...monitor, nextDueAt: null };
  const isChanged = before.schedule === null || !isSameSchedule(schedule, before.schedule);
  if (run !== null && schedule.type === 'crontab' && !isChanged) return monitor;
  const { nextDueAt } = monitor;
  const expected = isChanged ? NOTHING_EXPECTED : { expectedAt: nextDueAt, last };
  const dueAt = schedule.type === 'crontab' ? dueAfterBegin(monitor, schedule, begin, expected) : nextDue(schedule, at);
  // A late check-in does not change runs that were due after it.
  const isLate = !isChanged && nextDueAt !== null && dueAt !== null && isAtOrBefore(dueAt, nextDueAt);
  return isLate ? monitor : { ...monitor, nextDueAt: dueAt };
}

interface Expected {
  /** Time when the next run is due. */
  readonly expectedAt: Instant | null;
  readonly last: LastRuns;
}

const NOTHING_EXPECTED: Expected = { expectedAt: null, last: { missedAt: null, begunAt: null } };

/** Returns when the run after the one that began at `begin` is due; null for never. */
function dueAfterBegin(
  { marginMinutes }: MonitorState,
  schedule: MonitorSchedule,
  begin: Instant,
  { expectedAt, last }: Expected,
): Instant | null {
  const dueAt = nextDue(schedule, begin);
  const following = dueAt && nextDue(schedule, dueAt);
  if (dueAt === null || following === null) return dueAt;
  const betweenMs = following.epochMilliseconds - dueAt.epochMilliseconds;
  const earlyMs = Math.min(millisecondsOf({ minutes: Math.max(EARLY.minutes, marginMinutes) }), betweenMs / 2);
  const besideLateMs = millisecondsOf(EARLY_BESIDE_LATE);
  let mostMs = earlyMs;
  if (expectedAt !== null && isAtOrBefore(expectedAt, begin)) mostMs = besideLateMs;
  else if (isMissing(last, begin, earlyMs)) mostMs = Math.max(besideLateMs, betweenMs * EARLY_BESIDE_MISSED);
  return dueAt.epochMilliseconds - begin.epochMilliseconds <= Math.min(mostMs, earlyMs) ? following : dueAt;
}

/** Whether no run has begun since the one that was missed, nor so early before it that it may have been that one. */
function isMissing({ missedAt, begunAt }: LastRuns, begin: Instant, earlyMs: number): boolean {
  if (missedAt === null || !isAtOrBefore(missedAt, begin)) return false;
  return begunAt === null || begunAt.epochMilliseconds < missedAt.epochMilliseconds - earlyMs;
}

function millisecondsOf(duration: Temporal.DurationLike): number {
  return Temporal.Duration.from(duration).total('milliseconds');
}

/** Whether both expect the same runs. */
function isSameSchedule(a: MonitorSchedule, b: MonitorSchedule): boolean {
  if (a.timezone !== b.timezone) return false;
  if (a.type === 'crontab') return b.type === 'crontab' && a.crontab === b.crontab;
  if (a.type === 'unreadable') return b.type === 'unreadable' && a.text === b.text;
  return b.type === 'interval' && a.value === b.value && a.unit === b.unit;
}

/** Highest count of runs in a row; more need not be told apart. */
const COUNTED_MAX = 1_000_000;

function afterBad(monitor: MonitorState): Omit<CheckInDecision, 'run'> {
  const failures = Math.min(monitor.failures + 1, COUNTED_MAX);
  const fails = monitor.isFailing || failures >= monitor.failureThreshold;
  return { monitor: { ...monitor, failures, successes: 0, isFailing: fails }, change: fails ? 'fails' : 'none' };
}

function afterGood(monitor: MonitorState): Omit<CheckInDecision, 'run'> {
  const successes = Math.min(monitor.successes + 1, COUNTED_MAX);
  const recovers = monitor.isFailing && successes >= monitor.recoveryThreshold;
  return {
    monitor: { ...monitor, failures: 0, successes, isFailing: monitor.isFailing && !recovers },
    change: recovers ? 'recovers' : 'none',
  };
}

interface OverdueDecision {
  readonly monitor: MonitorState;
  /** Time when the missed run was due; null for none. */
  readonly missedAt: Instant | null;
  /** Number of running ones that have taken too long. */
  readonly timedOut: number;
  readonly change: MonitorChange;
}

/**
 * Decides what is overdue: a run that was to begin, and the end of those that began. After a pause in the checks, the
 * runs that were missed meanwhile count as one.
 */
export function decideOverdue(before: MonitorState, running: readonly Run[], now: Instant): OverdueDecision {
  const timedOut = running.filter(({ timeoutAt }) => timeoutAt !== null && isAtOrBefore(timeoutAt, now)).length;
  const { schedule, nextDueAt, marginMinutes } = before;
  const isMissed = nextDueAt !== null && isAtOrBefore(addMinutesSaturating(nextDueAt, marginMinutes), now);
  let monitor = before;
  let change: MonitorChange = 'none';
  for (let bad = timedOut + (isMissed ? 1 : 0); bad > 0; bad -= 1) ({ monitor, change } = afterBad(monitor));
  if (!isMissed) return { monitor, missedAt: null, timedOut, change };
  const looked = now.subtract({ minutes: marginMinutes });
  const due = schedule === null ? null : nextDue(schedule, nextDueAt);
  const isPast = schedule !== null && due !== null && isAtOrBefore(due, looked);
  const next = isPast ? nextDue(schedule, looked) : due;
  return { monitor: { ...monitor, nextDueAt: next }, missedAt: nextDueAt, timedOut, change };
}

/** Returns when it has to be checked if no check-in comes before; null for never. */
export function overdueFrom({ nextDueAt, marginMinutes }: MonitorState, running: readonly Run[]): Instant | null {
  const times = running.flatMap(({ timeoutAt }) => timeoutAt ?? []);
  if (nextDueAt !== null) times.push(addMinutesSaturating(nextDueAt, marginMinutes));
  return times.reduce<Instant | null>(
    (first, time) => (first === null || isAtOrBefore(time, first) ? time : first),
    null,
  );
}

type Expectation = Pick<
  MonitorState,
  'schedule' | 'marginMinutes' | 'runtimeMinutes' | 'failureThreshold' | 'recoveryThreshold'
>;

/**
 * Classifies the effect of a check-in on the expected runs: `later` if a run that does not begin, takes too long or
 * fails is noticed later than before; null if they are unchanged, are the first, or cannot be read. After a schedule that
 * cannot be read, the one before it counts.
 */
export function decideRescheduling(
  before: Expectation & Pick<MonitorState, 'sentConfig'>,
  after: Expectation,
  now: Temporal.Instant,
): 'later' | 'other' | null {
  if (before.schedule?.type === 'unreadable' && isReadable(before.sentConfig)) {
    const decision = decideRescheduling({ ...before.sentConfig, sentConfig: null }, after, now);
    return after.schedule?.type === 'unreadable' ? null : (decision ?? 'other');
  }
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
  const isFirstLater = moved === null || !isAtOrBefore(moved, expected);
  return isFirstLater || waitsLonger(before.schedule, after.schedule, now) ? 'later' : 'other';
}

const RUNS_COMPARED = 8;
/** Times from now, in hours, at which waits are compared besides those at the next runs. */
const HOURS_COMPARED = [3, 6, 9, 12, 15, 18, 21, ...[1, 2, 3, 4, 5, 6, 7, 31, 92, 183].map((days) => days * 24)];
/** Factor by which a wait may be longer: clocks are changed, and runs may move a little. */
const WAIT_FACTOR = 1.1;
const SELDOM_MS = millisecondsOf({ hours: 62 * 24 });

/** Whether a run is waited for longer some time than before, though the first may come sooner. */
function waitsLonger(before: MonitorSchedule, after: MonitorSchedule, now: Instant): boolean {
  const [first, second] = nextRuns(before, now, 2);
  // Runs of such a schedule take long to compute, and a stranger may send schedules in great number.
  if (first === undefined || second === undefined) return false;
  if (second.epochMilliseconds - first.epochMilliseconds > SELDOM_MS) return false;
  const times = [now, ...nextRuns(before, now, RUNS_COMPARED), ...HOURS_COMPARED.map((hours) => now.add({ hours }))];
  const longestMs = Math.max(...times.map(waitFinder(before)));
  const waitMs = waitFinder(after);
  return times.some((time) => waitMs(time) > longestMs * WAIT_FACTOR);
}

/** Returns a function that tells how many milliseconds after an instant the next run is due. */
function waitFinder(schedule: MonitorSchedule): (from: Instant) => number {
  const find = dueFinder(schedule);
  return (from) => (find(from)?.epochMilliseconds ?? Infinity) - from.epochMilliseconds;
}

/** Describes all that is expected of a job. */
export function expectationText(expected: Expectation): string {
  const { schedule, marginMinutes, runtimeMinutes, failureThreshold, recoveryThreshold } = expected;
  const when = schedule === null ? 'no schedule' : scheduleText(schedule);
  return `${when}, margin ${marginMinutes} min, runtime ${runtimeMinutes} min, ${failureThreshold} to fail, ${recoveryThreshold} to recover`;
}
