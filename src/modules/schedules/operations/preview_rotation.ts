import { Type } from 'typebox';

import { PREVIEW_WEEKS_MAX } from '#modules/pages/decide/limits.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { planRotation, ROTATION_FIELDS } from '#modules/schedules/operations/rotation_plan.ts';
import { ShiftView, toShiftView } from '#modules/schedules/operations/shift_view.ts';
import { changedShifts } from '#modules/schedules/decide/changed_shifts.ts';
import { eachFinalShiftBetween } from '#modules/schedules/decide/final_shifts.ts';
import type { Shift } from '#modules/schedules/decide/shift.ts';
import { notFound } from '#kernel/errors.ts';
import { collectInTurns, nextTurn } from '#kernel/event_loop_turns.ts';
import { isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';

/** Limit on the shifts: an hourly rotation of twelve weeks. */
const SHIFTS_MAX = 2_100;
const CHANGES_MAX = 100;
/** Number of shifts computed in a turn, some milliseconds of work. */
const SHIFTS_A_TURN = 200;

export const previewRotation = defineAction({
  name: 'preview_rotation',
  consoleOnly: true,
  summary:
    'Show who would be on call in the next weeks with this rotation, and which times would change hands. Overrides stay. Nothing is saved.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      scheduleId: Type.Optional(
        Type.String({ description: 'the schedule that would be changed; without it, a new one' }),
      ),
      weeks: Type.Integer({ minimum: 1, maximum: PREVIEW_WEEKS_MAX }),
      ...ROTATION_FIELDS,
    },
    CLOSED,
  ),
  result: Type.Object({
    from: Timestamp,
    to: Timestamp,
    startAt: Timestamp,
    before: Type.Array(ShiftView),
    after: Type.Array(ShiftView),
    changes: Type.Array(
      Type.Object({ since: Timestamp, until: Timestamp, before: nullable(IdText), after: nullable(IdText) }),
      { description: 'oldest first, at most 100; null stands for nobody' },
    ),
    changeCount: Type.Integer(),
  }),
  example: {
    scheduleId: EXAMPLE_IDS.scheduleId,
    weeks: 4,
    timezone: 'Europe/Amsterdam',
    rotationType: 'weekly',
    rotationConfig: { userIds: [EXAMPLE_IDS.userId, EXAMPLE_IDS.otherUserId] },
    handOver: { at: '2027-02-08T09:00', position: 1 },
  },
  async handle({ scheduleId, weeks, ...rotation }, context) {
    const { stores, caller, now } = context;
    const schedule = scheduleId === undefined ? null : await stores.schedules.find(caller.orgId, scheduleId);
    if (scheduleId !== undefined && schedule === null) throw notFound('scheduleId', 'schedule');
    const plan = await planRotation(rotation, schedule, context);
    const from = schedule === null && !isAtOrBefore(plan.startAt, now) ? plan.startAt : now;
    const wanted = from.add({ hours: weeks * 7 * 24 });
    const range = { from, to: wanted, at: now, limit: SHIFTS_MAX };
    const found = await stores.onCall.overTime(caller.orgId, schedule === null ? [] : [schedule], range);
    const [current] = found.schedules;
    const people = await stores.people.listPeople(caller.orgId, [
      ...plan.rotationConfig.userIds,
      ...found.people.keys(),
    ]);
    const { userIds, shiftHours = null } = plan.rotationConfig;
    const after = await collectInTurns(
      eachFinalShiftBetween(
        { ...plan, userIds, shiftHours },
        current?.overrides ?? [],
        from,
        wanted,
        (userId) => people.has(userId),
        SHIFTS_MAX,
      ),
      SHIFTS_A_TURN,
    );
    await nextTurn();
    const before = current?.shifts ?? [];
    const to = [before, after].map((shifts) => endOf(shifts, wanted)).reduce(earlier);
    const changes = schedule === null ? [] : changedShifts(before, after, from, to);
    return {
      from: toTimestamp(from),
      to: toTimestamp(to),
      startAt: toTimestamp(plan.startAt),
      before: before.map(toShiftView),
      after: after.map(toShiftView),
      changes: changes.slice(0, CHANGES_MAX).map((change) => {
        return { ...change, since: toTimestamp(change.since), until: toTimestamp(change.until) };
      }),
      changeCount: changes.length,
    };
  },
});

/** Returns the end of the known time: that of the last shift when there are as many as there may be. */
function endOf(shifts: readonly Shift[], wanted: Temporal.Instant): Temporal.Instant {
  const last = shifts.length < SHIFTS_MAX ? null : (shifts.at(-1)?.until ?? null);
  return last === null ? wanted : earlier(last, wanted);
}

function earlier(a: Temporal.Instant, b: Temporal.Instant): Temporal.Instant {
  return isAtOrBefore(a, b) ? a : b;
}
