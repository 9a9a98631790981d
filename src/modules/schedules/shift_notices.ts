import type { ActionContext } from '#actions/action_context.ts';
import type { Id } from '#kernel/ids.ts';
import { FAR_FUTURE, isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';
import { ownShifts, type Shift } from '#modules/schedules/decide/layered_shifts.ts';
import { inUnitOfWork, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { changedShifts } from '#modules/schedules/decide/changed_shifts.ts';
import type { ScheduleRow } from '#modules/schedules/store/schedule_store.ts';
import { sendDutyNotice } from '#storage/queue/jobs.ts';

/** Time of a schedule in which a change may put others on call. */
export interface TouchedTime {
  readonly schedule: ScheduleRow;
  readonly startAt: Temporal.Instant;
  readonly endAt: Temporal.Instant;
}

interface ShiftChange {
  readonly userId: Id<'user'>;
  readonly scheduleId: Id<'schedule'>;
  readonly isOnCall: boolean;
  readonly since: Temporal.Instant;
  readonly until: Temporal.Instant;
}

/** Shifts of a window that are compared; of a longer one the first ones are told about. */
const SHIFTS_MAX = 500;

/**
 * Makes a change of who is on call in these times, and tells everybody whose shifts it changes, once by mail and once by push,
 * but not the person who makes it. What is past is told to nobody.
 */
export async function withShiftNotices<Result>(
  context: ActionContext,
  times: readonly TouchedTime[],
  change: () => Promise<{ readonly changeId: string; readonly result: Result }>,
): Promise<Result> {
  const { caller, now, enqueue } = context;
  const ahead = times.flatMap(({ schedule, startAt, endAt }) => {
    const from = isAtOrBefore(startAt, now) ? now : startAt;
    return isAtOrBefore(endAt, from) ? [] : [{ schedule, from, to: endAt }];
  });
  const before = await Promise.all(ahead.map((time) => readShifts(time, context)));
  const { changeId, result } = await change();
  const changes: ShiftChange[] = [];
  for (const [place, time] of ahead.entries()) {
    const after = await readShifts(time, context);
    for (const { since, until, ...people } of changedShifts(before[place] ?? [], after, time.from, time.to)) {
      const tell = (userId: Id<'user'>, isOnCall: boolean): void => {
        addChange(changes, { userId, scheduleId: time.schedule.id, isOnCall, since, until });
      };
      for (const userId of people.after.filter((id) => !people.before.includes(id))) tell(userId, true);
      for (const userId of people.before.filter((id) => !people.after.includes(id))) tell(userId, false);
    }
  }
  const actorId = caller.actor.kind === 'user' ? caller.actor.userId : null;
  for (const [userId, changesOfPerson] of Map.groupBy(changes, (changed) => changed.userId)) {
    if (userId === actorId) continue;
    const notice = {
      orgId: caller.orgId,
      userId,
      byUserId: actorId,
      changeId,
      changes: changesOfPerson.map(({ scheduleId, isOnCall, since, until }) => {
        return { scheduleId, isOnCall, since: toTimestamp(since), until: toTimestamp(until) };
      }),
    };
    enqueue(sendDutyNotice, notice);
    enqueue(sendDutyNotice, { ...notice, byPush: true });
  }
  return result;
}

async function readShifts(
  {
    schedule,
    from,
    to,
  }: { readonly schedule: ScheduleRow; readonly from: Temporal.Instant; readonly to: Temporal.Instant },
  { stores, caller, now }: ActionContext,
) {
  const range = { from, to, at: now, limit: SHIFTS_MAX };
  const { schedules } = await stores.onCall.overTime(caller.orgId, [schedule], range);
  return schedules[0]?.shifts ?? [];
}

/** Adds a change; one that goes on where the last one of the person ended makes it longer. */
function addChange(changes: ShiftChange[], next: ShiftChange): void {
  const last = changes.findLastIndex(
    ({ userId, scheduleId, isOnCall }) =>
      userId === next.userId && scheduleId === next.scheduleId && isOnCall === next.isOnCall,
  );
  const before = changes[last];
  if (before?.until.equals(next.since) === true) changes[last] = { ...before, until: next.until };
  else changes.push(next);
}

/** Minutes before a shift at which its person is reminded. */
const REMINDED_MINUTES = 60;
/** Shorter turns change too often to be told of each. */
const SHORTEST_HOURS = 4;
/** Shifts of this length are also mailed about. */
const MAILED_HOURS = 24;
/** Time after which a reminder would come too late to be of use. */
const LATE_MINUTES = 30;
const SCHEDULES_AT_ONCE = 500;
const SHIFTS_AHEAD_MAX = 200;

/**
 * Reminds everybody who takes over from somebody else within the hour: of the shifts that have come within it since the last time.
 */
export async function remindOfShifts(runtime: UnitOfWorkRuntime, doneAt: Temporal.Instant | null): Promise<void> {
  const { db, clock } = runtime;
  const now = clock.now();
  const earliest = now.subtract({ minutes: LATE_MINUTES });
  const since = doneAt === null || isAtOrBefore(doneAt, earliest) ? earliest : doneAt;
  const [from, to] = [since, now].map((at) => at.add({ minutes: REMINDED_MINUTES }));
  if (from === undefined || to === undefined) return;
  const { schedules, onCall } = storesOf(db.session());
  let after: Id<'schedule'> | null = null;
  for (;;) {
    const page: ScheduleRow[] = await schedules.listAllAfter(after, SCHEDULES_AT_ONCE);
    after = page.at(-1)?.id ?? null;
    if (after === null) return;
    for (const [orgId, ofOrganization] of Map.groupBy(page, (schedule) => schedule.orgId)) {
      // A moment more: whoever is on call right before has to be known.
      const range = {
        from: from.subtract({ seconds: 1 }),
        to: to.add({ seconds: 1 }),
        at: now,
        limit: SHIFTS_AHEAD_MAX,
      };
      const { schedules: ahead, people } = await onCall.overTime(orgId, ofOrganization, range);
      const beginning = ahead.flatMap(({ schedule, layered, shifts }) =>
        beginningBetween(shifts, from, to).flatMap(({ userId, since: begins }) => {
          // All the time without a break, whichever layers name the person in it.
          const [time] = ownShifts(layered, { userId, from: begins, limit: 1 }, (id) => people.has(id));
          return time !== undefined && lastsFor(time, SHORTEST_HOURS) ? [{ schedule, userId, begins, time }] : [];
        }),
      );
      if (beginning.length === 0) continue;
      await inUnitOfWork(runtime, async ({ enqueue }) => {
        for (const { schedule, userId, begins, time } of beginning) {
          const until = toTimestamp(time.until ?? FAR_FUTURE);
          const changes = [{ scheduleId: schedule.id, isOnCall: true, since: toTimestamp(begins), until }];
          const changeId = `begins.${schedule.id}.${begins.epochMilliseconds}`;
          const notice = { orgId, userId, byUserId: null, changes, changeId, isReminder: true as const };
          enqueue(sendDutyNotice, { ...notice, byPush: true });
          if (lastsFor(time, MAILED_HOURS)) enqueue(sendDutyNotice, notice);
        }
      });
    }
  }
}

/** Returns who is on call from a time in `(from, to]` on and was not right before. */
function beginningBetween(
  shifts: readonly Shift[],
  from: Temporal.Instant,
  to: Temporal.Instant,
): { readonly userId: Id<'user'>; readonly since: Temporal.Instant }[] {
  return shifts.flatMap(({ since, userIds }, place) => {
    if (isAtOrBefore(since, from) || !isAtOrBefore(since, to)) return [];
    const before = shifts[place - 1];
    const earlier = before?.until?.equals(since) === true ? before.userIds : [];
    return userIds.filter((userId) => !earlier.includes(userId)).map((userId) => ({ userId, since }));
  });
}

function lastsFor({ since, until }: Pick<Shift, 'since' | 'until'>, hours: number): boolean {
  return until === null || isAtOrBefore(since.add({ hours }), until);
}
