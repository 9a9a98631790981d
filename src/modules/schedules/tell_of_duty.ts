import type { ActionContext } from '#actions/action_context.ts';
import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';
import { changedShifts } from '#modules/schedules/decide/changed_shifts.ts';
import type { ScheduleRow } from '#modules/schedules/store/schedule_store.ts';
import { sendDutyNotice } from '#storage/queue/jobs.ts';

/** Time of a schedule in which a change may put others on call. */
export interface TouchedTime {
  readonly schedule: ScheduleRow;
  readonly startAt: Temporal.Instant;
  readonly endAt: Temporal.Instant;
}

interface DutyChange {
  readonly userId: Id<'user'>;
  readonly scheduleId: Id<'schedule'>;
  readonly isOnCall: boolean;
  readonly since: Temporal.Instant;
  readonly until: Temporal.Instant;
}

/** Shifts of a window that are compared; of a longer one the first ones are told about. */
const SHIFTS_MAX = 500;

/**
 * Makes a change of who is on call in these times, and mails everybody whose shifts it changes, once, but not the
 * person who makes it. What is past is told to nobody.
 */
export async function tellingOfDuty<Result>(
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
  const changes: DutyChange[] = [];
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
    enqueue(sendDutyNotice, {
      orgId: caller.orgId,
      userId,
      byUserId: actorId,
      changeId,
      changes: changesOfPerson.map(({ scheduleId, isOnCall, since, until }) => {
        return { scheduleId, isOnCall, since: toTimestamp(since), until: toTimestamp(until) };
      }),
    });
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
function addChange(changes: DutyChange[], next: DutyChange): void {
  const last = changes.findLastIndex(
    ({ userId, scheduleId, isOnCall }) =>
      userId === next.userId && scheduleId === next.scheduleId && isOnCall === next.isOnCall,
  );
  const before = changes[last];
  if (before?.until.equals(next.since) === true) changes[last] = { ...before, until: next.until };
  else changes.push(next);
}
