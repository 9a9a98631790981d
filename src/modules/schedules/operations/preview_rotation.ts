import { Type } from 'typebox';

import { PREVIEW_WEEKS_MAX } from '#modules/pages/decide/limits.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, Timestamp } from '#actions/fields.ts';
import { planRotation, ROTATION_FIELDS } from '#modules/schedules/operations/rotation_plan.ts';
import { ShiftView, toShiftView } from '#modules/schedules/operations/shift_view.ts';
import { layerOfRotation } from '#modules/schedules/decide/rotation.ts';
import { collectInTurns } from '#kernel/cooperative_task.ts';
import { isAtOrBefore, toTimestamp } from '#kernel/time.ts';
import { eachFinalShiftBetween } from '#modules/schedules/decide/layered_shifts.ts';

/** Limit on the shifts: an hourly rotation of twelve weeks. */
const SHIFTS_MAX = 2_100;
/** Number of shifts computed in a turn, some milliseconds of work. */
const SHIFTS_A_TURN = 200;

export const previewRotation = defineAction({
  name: 'preview_rotation',
  consoleOnly: true,
  summary: 'Show who would be on call in a new schedule with this rotation. Nothing is saved.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ weeks: Type.Integer({ minimum: 1, maximum: PREVIEW_WEEKS_MAX }), ...ROTATION_FIELDS }, STRICT),
  result: Type.Object({
    from: Timestamp,
    to: Timestamp,
    startAt: Timestamp,
    shifts: Type.Array(ShiftView),
  }),
  example: {
    weeks: 4,
    timezone: 'Europe/Amsterdam',
    rotationType: 'weekly',
    rotationConfig: { userIds: [EXAMPLE_IDS.userId, EXAMPLE_IDS.otherUserId] },
    handOver: { at: '2027-02-08T09:00', position: 1 },
  },
  async handle({ weeks, ...rotation }, context) {
    const plan = await planRotation(rotation, context);
    const from = isAtOrBefore(plan.startAt, context.now) ? context.now : plan.startAt;
    const to = from.add({ hours: weeks * 7 * 24 });
    const { userIds, shiftHours = null } = plan.rotationConfig;
    const layers = [layerOfRotation({ ...plan, userIds, shiftHours })];
    const planned = { timeZone: plan.timezone, layers, overrides: [], holidays: new Map() };
    const ahead = eachFinalShiftBetween(planned, from, to, () => true, SHIFTS_MAX);
    const shifts = await collectInTurns(ahead, SHIFTS_A_TURN);
    return {
      from: toTimestamp(from),
      to: toTimestamp(to),
      startAt: toTimestamp(plan.startAt),
      shifts: shifts.map(toShiftView),
    };
  },
});
