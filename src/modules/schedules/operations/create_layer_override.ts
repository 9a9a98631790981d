import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, StrictObject, Timestamp } from '#actions/fields.ts';
import { requireUsers } from '#actions/require_users.ts';
import { OnCallWarnings, readOnCallWarnings } from '#modules/teams/warnings.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { withShiftNotices } from '#modules/schedules/shift_notices.ts';
import { parseOverrideWindow, timeFaults } from '#modules/schedules/decide/schedule_times.ts';
import { notFound } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { readLayers } from '#modules/schedules/decide/stored_layers.ts';
import { readSchedule } from '#modules/schedules/store/schedule_store.ts';

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
