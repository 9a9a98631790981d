import { type Static, type TObject, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, FreeText, StrictObject, Timestamp } from '#actions/fields.ts';
import { collectInTurns } from '#kernel/cooperative_task.ts';
import { invalidInput } from '#kernel/errors.ts';
import { isAtOrBefore, toTimestamp } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { PREVIEW_WEEKS_MAX } from '#modules/pages/decide/limits.ts';
import { eachFinalShiftBetween } from '#modules/schedules/decide/layered_shifts.ts';
import { parseInstant, skippedWallOf } from '#modules/schedules/decide/parse_instant.ts';
import { layerOfRotation, startForHandOver } from '#modules/schedules/decide/rotation.ts';
import { wallMsOf } from '#modules/schedules/decide/layer_turns.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';
import { RotationConfigInput, toRotationConfig } from './layer_fields.ts';
import { ShiftView, toShiftView } from './get_on_call_timeline.ts';
import type { NewSchedule } from '#modules/schedules/store/schedule_store.ts';
import { RotationTypeName } from '#modules/schedules/view.ts';

/** Fields of the rotation as a form of the console has them, all of them. */
const ROTATION_FIELDS = {
  timezone: FreeText,
  rotationType: RotationTypeName,
  rotationConfig: RotationConfigInput,
  handOver: Type.Optional(
    StrictObject(
      {
        at: Type.String({ maxLength: 64, description: 'RFC 3339, or a local date-time in timezone' }),
        position: Type.Integer({
          minimum: 0,
          maximum: 999,
          description: 'who takes over then, by the index in rotationConfig.userIds',
        }),
      },
      { description: 'turns are counted so that this is a hand-over; when left out, they stay as they are' },
    ),
  ),
};

type RotationInput = Static<TObject<typeof ROTATION_FIELDS>>;

/** Returns the rotation of a new schedule that this form describes. */
async function planRotation(
  { timezone, rotationType, rotationConfig, handOver }: RotationInput,
  context: Pick<ActionContext, 'caller' | 'stores' | 'now'>,
): Promise<Omit<NewSchedule, 'name'>> {
  const zone = unwrap(parseTimeZone(timezone, 'timezone'));
  const at = handOver && unwrap(parseInstant(handOver.at, zone, 'handOver.at'));
  const config = await toRotationConfig(rotationConfig, context);
  const rotation = { timezone: zone, rotationType, rotationConfig: config };
  if (handOver === undefined || at === undefined) return { ...rotation, startAt: context.now, startWall: null };
  const { userIds, shiftHours = null } = config;
  if (handOver.position > 0 && handOver.position >= userIds.length) {
    throw invalidInput([{ path: 'handOver.position', message: 'must be the index of one of the people' }]);
  }
  const layer = layerOfRotation({ rotationType, userIds, shiftHours, startAt: at });
  const { position } = handOver;
  const wall = skippedWallOf(handOver.at, zone);
  const skippedWall = wall === null ? null : wallMsOf(wall);
  const startAt = startForHandOver(layer, new ZoneClock(zone), { at, position, skippedWall }, null);
  if (startAt === null) {
    const message = 'is too many turns after the first person: the rotation would begin before 1970';
    throw invalidInput([{ path: 'handOver.position', message }]);
  }
  return { ...rotation, startAt, startWall: startAt.equals(at) ? wall : null };
}

/** Limit on the shifts: an hourly rotation of twelve weeks. */
const SHIFTS_MAX = 2_100;
/** Number of shifts computed in a turn, some milliseconds of work. */
const SHIFTS_A_TURN = 200;

export const previewRotation = defineOperation({
  name: 'preview_rotation',
  summary: 'Show who would be on call in a new schedule with this rotation. Nothing is saved.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ weeks: Type.Integer({ minimum: 1, maximum: PREVIEW_WEEKS_MAX }), ...ROTATION_FIELDS }),
  result: Type.Object({ from: Timestamp, to: Timestamp, startAt: Timestamp, shifts: Type.Array(ShiftView) }),
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
