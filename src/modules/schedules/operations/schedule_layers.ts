import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, Name, StrictObject, Timestamp } from '#actions/fields.ts';
import { collectInTurns, nextTurn } from '#kernel/cooperative_task.ts';
import { notFound } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { PREVIEW_WEEKS_MAX } from '#modules/pages/decide/limits.ts';
import { changedShifts } from '#modules/schedules/decide/changed_shifts.ts';
import { currentTurn, withTurnsAhead } from '#modules/schedules/decide/keep_turn.ts';
import {
  eachFinalShiftBetween,
  type Gap,
  type LayeredSchedule,
  type Shift,
  sortedGaps,
} from '#modules/schedules/decide/layered_shifts.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { readLayers, toColumnsOfLayers } from '#modules/schedules/decide/stored_layers.ts';
import { LAYERS_FIELDS, planLayers, requireUnchanged } from './layer_fields.ts';
import { ShiftView, toShiftView } from './get_on_call_timeline.ts';
import { makeReadable } from '#modules/schedules/store/schedule_store.ts';
import { LayerView, SCHEDULE_EXAMPLE, ScheduleView, toLayerView, toScheduleView } from '#modules/schedules/view.ts';
import { OnCallWarnings, readOnCallWarnings } from '#modules/teams/warnings.ts';

export const setScheduleLayers = defineOperation({
  name: 'set_schedule_layers',
  summary:
    'Replace the name, the time zone and the layers of a schedule, unless somebody else has changed it since it was read. By default nobody’s present turn changes. Overrides for a layer that is left out are removed with it.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    scheduleId: IdText,
    readAt: Type.String({ format: 'date-time', description: 'the updatedAt of the schedule that was changed' }),
    name: Name,
    ...LAYERS_FIELDS,
  }),
  result: Type.Object({
    ...ScheduleView.properties,
    removedOverrides: Type.Integer({ description: 'how many went with layers that were left out' }),
    warnings: OnCallWarnings,
  }),
  conflict: 'somebody else has changed the schedule since it was read',
  example: {
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
    return {
      ...after,
      removedOverrides: removed,
      warnings: await readOnCallWarnings(people, schedule.teamId, context),
    };
  },
});

export const duplicateSchedule = defineOperation({
  name: 'duplicate_schedule',
  summary:
    'Copy a schedule with its layers into the same team, every turn taken by whoever follows in the original: a secondary, in which nobody stands beside themselves. Overrides are not copied.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ scheduleId: IdText, name: Name }),
  result: Type.Object({ ...ScheduleView.properties, warnings: OnCallWarnings }),
  example: { name: 'Secondary' },
  async handle({ scheduleId, name }, context) {
    const { stores, caller, now, record } = context;
    const original = await stores.schedules.lock(caller.orgId, scheduleId);
    makeReadable(original);
    const clock = new ZoneClock(original.timezone);
    const layers = readLayers(original).map((layer, index) => {
      return { ...withTurnsAhead(layer, clock), ...(index > 0 && { id: newId('layer') }) };
    });
    const { rotationType, rotationConfig } = original;
    const columns = toColumnsOfLayers(layers);
    const isLengthElsewhere = columns.layers?.[0]?.rotation !== undefined;
    const schedule = await stores.schedules.insert(
      { orgId: original.orgId, id: original.teamId },
      {
        name,
        timezone: original.timezone,
        ...columns,
        // The contract's own words for the length stay as they were given.
        ...(!isLengthElsewhere && {
          rotationType,
          rotationConfig: { ...rotationConfig, userIds: columns.rotationConfig.userIds },
        }),
      },
      now,
    );
    const after = toScheduleView(schedule);
    record({ target: schedule.id, before: null, after: { ...after, copyOf: original.id } });
    const people = layers.flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds));
    return { ...after, warnings: await readOnCallWarnings(people, schedule.teamId, context) };
  },
});

/** Limit on the shifts: an hourly rotation of twelve weeks. */
const SHIFTS_MAX = 2_100;
const CHANGES_MAX = 100;
const GAPS_MAX = 100;
/** Number of shifts computed in a turn, some milliseconds of work. */
const SHIFTS_A_TURN = 200;

const Span = Type.Object({ since: Timestamp, until: Timestamp });

const PlannedLayerView = Type.Object({
  ...LayerView.properties,
  shifts: Type.Array(ShiftView, { description: 'what the layer says, with the overrides for it' }),
  turnChanges: Type.Boolean({ description: 'whether somebody’s present turn changes' }),
});

export const previewScheduleLayers = defineOperation({
  name: 'preview_schedule_layers',
  summary:
    'Show who would be on call with these layers, layer by layer and as the result, and whose shifts change. Overrides stay. Nothing is saved.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    scheduleId: IdText,
    from: Timestamp,
    weeks: Type.Integer({ minimum: 1, maximum: PREVIEW_WEEKS_MAX }),
    ...LAYERS_FIELDS,
  }),
  result: Type.Object({
    from: Timestamp,
    to: Timestamp,
    layers: Type.Array(PlannedLayerView),
    shifts: Type.Array(ShiftView, { description: 'who would be on call' }),
    gaps: Type.Array(Span, { description: 'when nobody would be on call, oldest first, at most 100' }),
    holidays: Type.Array(Span, { description: 'when nobody would be, as it is a holiday' }),
    changes: Type.Array(
      Type.Object({ since: Timestamp, until: Timestamp, before: Type.Array(IdText), after: Type.Array(IdText) }),
      { description: 'from now on, oldest first, at most 100; an empty list stands for nobody' },
    ),
    changeCount: Type.Integer(),
  }),
  example: {
    scheduleId: setScheduleLayers.example.scheduleId,
    from: '2027-02-01T00:00:00Z',
    weeks: 4,
    timezone: setScheduleLayers.example.timezone,
    layers: setScheduleLayers.example.layers,
    keepTurns: true,
  },
  async handle({ scheduleId, from: fromText, weeks, ...input }, context) {
    const { stores, caller, now } = context;
    const schedule = await stores.schedules.find(caller.orgId, scheduleId);
    if (schedule === null) throw notFound('scheduleId', 'schedule');
    const plan = await planLayers(input, schedule, context);
    const from = readFrom(fromText);
    const to = from.add({ hours: weeks * 7 * 24 });
    const earliest = isAtOrBefore(from, now) ? from : now;
    const range = { from: earliest, to, at: now, limit: SHIFTS_MAX };
    const { schedules, people: onCallPeople } = await stores.onCall.overTime(caller.orgId, [schedule], range);
    const [current] = schedules;
    const named = plan.layers.flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds));
    const people = await stores.people.listPeople(caller.orgId, [...named, ...onCallPeople.keys()]);
    const isPresent = (userId: string) => people.has(userId);
    const overrides = current?.layered.overrides ?? [];
    const planned: LayeredSchedule = { ...plan, timeZone: plan.timezone, overrides };
    const shiftsOf = async (of: LayeredSchedule): Promise<Shift[]> =>
      await collectInTurns(eachFinalShiftBetween(of, earliest, to, isPresent, SHIFTS_MAX), SHIFTS_A_TURN);
    const shifts = await shiftsOf(planned);
    const layers: Static<typeof PlannedLayerView>[] = [];
    for (const layer of plan.layers) {
      const layerOverrides = overrides.filter(({ layerId }) => layerId === layer.id);
      const alone = await shiftsOf({ ...planned, layers: [layer], overrides: layerOverrides });
      const before = current?.layered.layers.find(({ id }) => id === layer.id);
      const [was, is] = [before, layer].map((of) => of && currentTurn(of, plan.clock, now.epochMilliseconds));
      const turnChanges = before !== undefined && was?.userIds.join() !== is?.userIds.join();
      layers.push({ ...toLayerView(layer), shifts: alone.map(toShiftView), turnChanges });
      await nextTurn();
    }
    const end = [current?.shifts ?? [], shifts].map((of) => endOf(of, to)).reduce(earlier);
    const changes = changedShifts(current?.shifts ?? [], shifts, isAtOrBefore(from, now) ? now : from, end);
    const gaps = sortedGaps(planned, from, to, isPresent, GAPS_MAX);
    return {
      from: toTimestamp(from),
      to: toTimestamp(to),
      layers,
      shifts: shifts.map(toShiftView),
      gaps: gaps.unplanned.map(toSpan),
      holidays: gaps.holidays.map(toSpan),
      changes: changes.slice(0, CHANGES_MAX).map(({ before, after, ...span }) => {
        return { ...toSpan(span), before: [...before], after: [...after] };
      }),
      changeCount: changes.length,
    };
  },
});

function readFrom(text: string): Temporal.Instant {
  return unwrap(parseInstant(text, 'UTC', 'from'));
}

function toSpan({ since, until }: Gap): Static<typeof Span> {
  return { since: toTimestamp(since), until: toTimestamp(until) };
}

/** Returns the end of the known time: that of the last shift when there are as many as there may be. */
function endOf(shifts: readonly Shift[], wanted: Temporal.Instant): Temporal.Instant {
  const last = shifts.length < SHIFTS_MAX ? null : (shifts.at(-1)?.until ?? null);
  return last === null ? wanted : earlier(last, wanted);
}

function earlier(a: Temporal.Instant, b: Temporal.Instant): Temporal.Instant {
  return isAtOrBefore(a, b) ? a : b;
}
