import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, Name, STRICT } from '#actions/fields.ts';
import { SCHEDULE_EXAMPLE, ScheduleView, toScheduleView } from '#modules/schedules/view.ts';
import { DutyWarnings, readDutyWarnings } from '#modules/teams/warnings.ts';
import { LAYERS_FIELDS, planLayers, requireUnchanged } from '#modules/schedules/operations/layer_fields.ts';
import { readLayers, toColumnsOfLayers } from '#modules/schedules/decide/stored_layers.ts';
import { makeReadable } from '#modules/schedules/store/schedule_store.ts';

export const setScheduleLayers = defineAction({
  name: 'set_schedule_layers',
  consoleOnly: true,
  summary:
    'Replace the name, the time zone and the layers of a schedule, unless somebody else has changed it since it was read. By default nobody’s present turn changes. Overrides for a layer that is left out are removed with it.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      scheduleId: IdText,
      readAt: Type.String({ format: 'date-time', description: 'the updatedAt of the schedule that was changed' }),
      name: Name,
      ...LAYERS_FIELDS,
    },
    STRICT,
  ),
  result: Type.Object({
    ...ScheduleView.properties,
    removedOverrides: Type.Integer({ description: 'how many went with layers that were left out' }),
    warnings: DutyWarnings,
  }),
  conflict: 'somebody else has changed the schedule since it was read',
  example: {
    scheduleId: EXAMPLE_IDS.scheduleId,
    readAt: SCHEDULE_EXAMPLE.updatedAt,
    name: SCHEDULE_EXAMPLE.name,
    timezone: SCHEDULE_EXAMPLE.timezone,
    keepTurns: true,
    layers: [
      {
        layerId: 'rotation',
        name: 'Days',
        rotation: { every: 1, unit: 'weeks' },
        turns: [{ userIds: [EXAMPLE_IDS.userId] }, { userIds: [EXAMPLE_IDS.otherUserId] }],
        hours: [{ fromDay: 1, from: '09:00', toDay: 1, to: '17:00' }],
      },
      {
        name: 'Nights',
        rotation: { every: 1, unit: 'days' },
        turns: [{ userIds: [EXAMPLE_IDS.otherUserId] }],
        startsAt: '2027-02-01T22:00',
        hours: [{ fromDay: 1, from: '22:00', toDay: 2, to: '06:00' }],
      },
    ],
  },
  async handle({ scheduleId, readAt, name, ...input }, context) {
    const { stores, caller, now, record } = context;
    const schedule = await stores.schedules.lock(caller.orgId, scheduleId);
    makeReadable(schedule);
    const { timezone, layers } = await planLayers(input, schedule, context);
    requireUnchanged(schedule, readAt);
    const before = toScheduleView(schedule);
    const { rotationType, rotationConfig } = schedule;
    const [first] = readLayers(schedule);
    const columns = toColumnsOfLayers(layers);
    Object.assign(schedule, { name, timezone, ...columns });
    const isSameLength =
      first !== undefined &&
      first.rotation.every === layers[0]?.rotation.every &&
      first.rotation.unit === layers[0].rotation.unit;
    if (isSameLength && columns.layers?.[0]?.rotation === undefined) {
      // The contract's own words for an unchanged length stay as they were given.
      const { userIds } = columns.rotationConfig;
      Object.assign(schedule, { rotationType, rotationConfig: { ...rotationConfig, userIds } });
    }
    await stores.schedules.save(schedule, now);
    const layerIds = layers.map(({ id }) => id);
    const removed = await stores.schedules.deleteOverridesOfOtherLayers(schedule, layerIds);
    const after = toScheduleView(schedule);
    record({ target: schedule.id, before, after: { ...after, ...(removed > 0 && { removedOverrides: removed }) } });
    const people = layers.flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds));
    return { ...after, removedOverrides: removed, warnings: await readDutyWarnings(people, context) };
  },
});
