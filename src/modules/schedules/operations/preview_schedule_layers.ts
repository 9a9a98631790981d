import { type Static, Type } from 'typebox';

import { PREVIEW_WEEKS_MAX } from '#modules/pages/decide/limits.ts';
import { defineAction } from '#actions/action_context.ts';
import { IdText, STRICT, Timestamp } from '#actions/fields.ts';
import { ShiftView, toShiftView } from '#modules/schedules/operations/shift_view.ts';
import { setScheduleLayers } from '#modules/schedules/operations/set_schedule_layers.ts';
import { LAYERS_FIELDS, planLayers } from '#modules/schedules/operations/layer_fields.ts';
import { LayerView, toLayerView } from '#modules/schedules/view.ts';
import { changedShifts } from '#modules/schedules/decide/changed_shifts.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { notFound } from '#kernel/errors.ts';
import { collectInTurns, nextTurn } from '#kernel/cooperative_task.ts';
import { isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';
import { currentTurn } from '#modules/schedules/decide/keep_turn.ts';
import {
  eachFinalShiftBetween,
  type Gap,
  gapsBetween,
  type LayeredSchedule,
  type Shift,
} from '#modules/schedules/decide/layered_shifts.ts';

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

export const previewScheduleLayers = defineAction({
  name: 'preview_schedule_layers',
  consoleOnly: true,
  summary:
    'Show who would be on call with these layers, layer by layer and as the result, and whose shifts change. Overrides stay. Nothing is saved.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      scheduleId: IdText,
      from: Timestamp,
      weeks: Type.Integer({ minimum: 1, maximum: PREVIEW_WEEKS_MAX }),
      ...LAYERS_FIELDS,
    },
    STRICT,
  ),
  result: Type.Object({
    from: Timestamp,
    to: Timestamp,
    layers: Type.Array(PlannedLayerView),
    shifts: Type.Array(ShiftView, { description: 'who would be on call' }),
    gaps: Type.Array(Span, { description: 'when nobody would be on call, oldest first, at most 100' }),
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
    const gaps = gapsBetween(planned, from, to, isPresent, GAPS_MAX);
    return {
      from: toTimestamp(from),
      to: toTimestamp(to),
      layers,
      shifts: shifts.map(toShiftView),
      gaps: gaps.map(toSpan),
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
