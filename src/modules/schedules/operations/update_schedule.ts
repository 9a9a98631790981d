import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, FreeText, IdText, Name, StrictObject } from '#actions/fields.ts';
import { RotationConfigInput, toRotationConfig } from './layer_fields.ts';
import { RotationTypeName, SCHEDULE_EXAMPLE, ScheduleView, toScheduleView } from '#modules/schedules/view.ts';
import { OnCallWarnings, readOnCallWarnings } from '#modules/teams/warnings.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseTimeZone, timeFaults } from '#modules/schedules/decide/schedule_times.ts';
import { AppError } from '#kernel/errors.ts';
import { isBeyondRotation } from '#modules/schedules/decide/stored_layers.ts';
import { makeReadable, type ScheduleRow } from '#modules/schedules/store/schedule_store.ts';

export const updateSchedule = defineAction({
  name: 'update_schedule',
  summary:
    'Update the name, timezone or rotation of a schedule. rotationConfig is replaced as a whole; other layers stay as they are. The rotation keeps the instant at which it started; a new timezone moves the local time of the hand-overs with it.',
  guidance: 'A field that is left out stays.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    scheduleId: IdText,
    name: Type.Optional(Name),
    timezone: Type.Optional(FreeText),
    rotationType: Type.Optional(RotationTypeName),
    rotationConfig: Type.Optional(RotationConfigInput),
  }),
  result: Type.Object({ ...ScheduleView.properties, warnings: OnCallWarnings }),
  conflict: 'the first layer says more than a rotation can',
  validate: ({ timezone }) => timeFaults({ timezone }),
  example: {
    scheduleId: IDS.scheduleId,
    name: SCHEDULE_EXAMPLE.name,
    timezone: SCHEDULE_EXAMPLE.timezone,
    rotationType: 'daily',
    rotationConfig: { userIds: [IDS.otherUserId, IDS.userId], shiftHours: 12 },
  },
  exampleResult: {
    ...SCHEDULE_EXAMPLE,
    rotationType: 'daily',
    rotationConfig: { userIds: [IDS.otherUserId, IDS.userId], shiftHours: 12 },
    updatedAt: '2027-02-01T13:20:11.046Z',
    warnings: [],
  },
  async handle({ scheduleId, name, timezone, rotationType, rotationConfig }, context) {
    const { stores, caller, now, record } = context;
    const zone = timezone === undefined ? undefined : unwrap(parseTimeZone(timezone, 'timezone'));
    const schedule = await stores.schedules.lock(caller.orgId, scheduleId);
    makeReadable(schedule);
    const before = toScheduleView(schedule);
    const rotation = {
      rotationType: rotationType ?? schedule.rotationType,
      rotationConfig:
        rotationConfig === undefined ? schedule.rotationConfig : await toRotationConfig(rotationConfig, context),
    };
    if (!isSameRotation(schedule, rotation)) changeRotation(schedule, rotation);
    if (name !== undefined) schedule.name = name;
    if (zone !== undefined && zone !== schedule.timezone) changeZone(schedule, zone);
    await stores.schedules.save(schedule, now);
    const after = toScheduleView(schedule);
    record({ target: schedule.id, before, after });
    return { ...after, warnings: await readOnCallWarnings(schedule.rotationConfig.userIds, schedule.teamId, context) };
  },
});

type RotationColumns = Pick<ScheduleRow, 'rotationType' | 'rotationConfig'>;

/** Whether these say the same rotation: sent again as it is, it ends no turn that was kept. */
function isSameRotation(a: RotationColumns, b: RotationColumns): boolean {
  const [before, after] = [a, b].map(({ rotationType, rotationConfig: { userIds, shiftHours } }) => [
    rotationType,
    shiftHours,
    ...userIds,
  ]);
  return isDeepStrictEqual(before, after);
}

/** Replaces the rotation, or throws if the first layer says more than a rotation can. */
function changeRotation(schedule: ScheduleRow, rotation: RotationColumns): void {
  if (isBeyondRotation(schedule.layers)) {
    const message =
      'the first layer of this schedule has turns of several people, of nobody or of months, which rotationConfig cannot say; change it in the console under Layers';
    throw new AppError('conflict', message);
  }
  const [first, ...others] = schedule.layers ?? [];
  Object.assign(schedule, rotation, first && { layers: [{ ...first, carried: null }, ...others] });
}

/** Moves the local times of all hand-overs, which keep their instants: none of them is one that the clocks skip. */
function changeZone(schedule: ScheduleRow, timezone: string): void {
  const layers = schedule.layers?.map((layer) => (layer.startWall == null ? layer : { ...layer, startWall: null }));
  Object.assign(schedule, { timezone, startWall: null, layers: layers ?? null });
}
