import { Type } from 'typebox';

import { defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, EXAMPLE_IDS, IdText, Timestamp } from '#actions/fields.ts';
import { requireUsers } from '#actions/require_users.ts';
import { StrictObject } from '#kernel/action.ts';
import { notFound } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseOverrideWindow, timeFaults } from '#modules/schedules/decide/schedule_times.ts';
import { readLayers } from '#modules/schedules/decide/stored_layers.ts';
import { withShiftNotices } from '#modules/schedules/shift_notices.ts';
import { readSchedule } from '#modules/schedules/store/schedule_store.ts';
import { OnCallWarnings, readOnCallWarnings } from '#modules/teams/warnings.ts';

const Moment = Type.Unknown({
  description: 'RFC 3339, a local date-time in the timezone of the schedule, or epoch milliseconds',
});

export const createScheduleOverride = defineAction({
  name: 'create_schedule_override',
  summary:
    'Put a user of the organization on call from startAt until before endAt, in place of the rotation. Where overrides overlap, the one created last wins.',
  guidance: 'Use it for leave and swaps.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ scheduleId: IdText, userId: IdText, startAt: Moment, endAt: Moment }),
  result: Type.Object({
    overrideId: IdText,
    scheduleId: IdText,
    userId: IdText,
    startAt: Timestamp,
    endAt: Timestamp,
    warnings: OnCallWarnings,
  }),
  validate: ({ startAt, endAt }) => timeFaults({ startAt, endAt }),
  example: {
    scheduleId: IDS.scheduleId,
    userId: IDS.otherUserId,
    startAt: '2027-02-06T09:00',
    endAt: '2027-02-07T09:00:00+01:00',
  },
  exampleResult: {
    overrideId: IDS.overrideId,
    scheduleId: IDS.scheduleId,
    userId: IDS.otherUserId,
    startAt: '2027-02-06T08:00:00.000Z',
    endAt: '2027-02-07T08:00:00.000Z',
    warnings: [],
  },
  async handle(input, context) {
    const { stores, caller, now, record } = context;
    const timezone = await stores.schedules.findTimezone(caller.orgId, input.scheduleId);
    // The body is judged before what it names: without a schedule its local times are read in UTC.
    const window = unwrap(parseOverrideWindow(input, timezone ?? 'UTC'));
    const schedule = await stores.schedules.lock(caller.orgId, input.scheduleId);
    const [userId] = await requireUsers([{ path: 'userId', userId: input.userId }], context);
    if (userId === undefined) throw new Error('a user that was required is missing');
    const override = await withShiftNotices(context, [{ schedule, ...window }], async () => {
      const result = await stores.schedules.insertOverride(schedule, { userId, ...window }, now);
      return { changeId: result.id, result };
    });
    const after = {
      overrideId: override.id,
      scheduleId: schedule.id,
      userId,
      startAt: toTimestamp(override.startAt),
      endAt: toTimestamp(override.endAt),
    };
    record({ target: override.id, before: null, after });
    return { ...after, warnings: await readOnCallWarnings([userId], schedule.teamId, context) };
  },
});

export const deleteScheduleOverride = defineOperation({
  name: 'delete_schedule_override',
  summary: 'Remove an override: the schedule without it decides who is on call from now on.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: StrictObject({ overrideId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), overrideId: IdText }),
  async handle({ overrideId }, context) {
    const { stores, caller, record } = context;
    const override = await stores.schedules.getOverride(caller.orgId, overrideId);
    const schedule = await stores.schedules.lock(caller.orgId, override.scheduleId);
    const deleted = await withShiftNotices(context, [{ ...override, schedule }], async () => {
      const result = await stores.schedules.deleteOverride(caller.orgId, overrideId);
      return { changeId: `${result.id}.deleted`, result };
    });
    const { id, scheduleId, userId, startAt, endAt } = deleted;
    const window = { startAt: toTimestamp(startAt), endAt: toTimestamp(endAt) };
    record({ target: id, before: { overrideId: id, scheduleId, userId, ...window }, after: null });
    return { deleted: true as const, overrideId: id };
  },
});

const When = Type.String({ maxLength: 64, description: 'RFC 3339, or a local date-time in the zone of the schedule' });

/** Layer by its id, or by its name, as a file knows it. */
const LayerRef = Type.Union([IdText, StrictObject({ name: Type.String({ maxLength: 500 }) })]);

export const createLayerOverride = defineOperation({
  name: 'create_layer_override',
  summary:
    'Put a user of the organization in the place of whom one layer names, from startAt until before endAt and within the hours of the layer.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ scheduleId: IdText, layerId: LayerRef, userId: IdText, startAt: When, endAt: When }),
  result: Type.Object({
    overrideId: IdText,
    scheduleId: IdText,
    layerId: Type.String(),
    userId: IdText,
    startAt: Timestamp,
    endAt: Timestamp,
    warnings: OnCallWarnings,
  }),
  validate: ({ startAt, endAt }) => timeFaults({ startAt, endAt }),
  example: {
    layerId: 'rotation',
    userId: EXAMPLE_IDS.otherUserId,
    startAt: '2027-02-06T09:00',
    endAt: '2027-02-07T09:00:00+01:00',
  },
  async handle(input, context) {
    const { stores, caller, now, record } = context;
    const schedule = await stores.schedules.lock(caller.orgId, input.scheduleId);
    const readable = readSchedule(schedule);
    const window = unwrap(parseOverrideWindow(input, readable.timezone));
    const layer = readLayers(readable).find(({ id, name }) =>
      typeof input.layerId === 'string' ? id === input.layerId : name === input.layerId.name,
    );
    if (layer === undefined) throw notFound('layerId', 'layer');
    const [userId] = await requireUsers([{ path: 'userId', userId: input.userId }], context);
    if (userId === undefined) throw new Error('a user that was required is missing');
    const override = await withShiftNotices(context, [{ schedule, ...window }], async () => {
      const wanted = { userId, layerId: layer.id, ...window };
      const result = await stores.schedules.insertOverride(schedule, wanted, now);
      return { changeId: result.id, result };
    });
    const after = {
      overrideId: override.id,
      scheduleId: schedule.id,
      layerId: layer.id,
      userId,
      startAt: toTimestamp(override.startAt),
      endAt: toTimestamp(override.endAt),
    };
    record({ target: override.id, before: null, after });
    return { ...after, warnings: await readOnCallWarnings([userId], schedule.teamId, context) };
  },
});
