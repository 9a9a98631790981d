import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { FreeText, IdText, Name, nullable, SafeInteger, USERS_MAX } from '#actions/fields.ts';
import { namedUsers, requireUsers } from '#actions/require_users.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, invalidInput, notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { faultsOfLayers } from '#modules/schedules/decide/layer_faults.ts';
import {
  FIRST_LAYER,
  type Layer,
  LAYERS_MAX,
  PEOPLE_OF_TURN_MAX,
  ROTATION_UNITS,
  TURNS_MAX,
  WINDOWS_MAX,
} from '#modules/schedules/decide/layer.ts';
import { isLocalTime, parseInstant, skippedWallOf } from '#modules/schedules/decide/parse_instant.ts';
import { changesTurns, keepTurn } from '#modules/schedules/decide/keep_turn.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';
import { readLayers } from '#modules/schedules/decide/stored_layers.ts';
import type { ScheduleRow } from '#modules/schedules/store/schedule_store.ts';
import type { RotationConfig } from '#storage/postgres/entities/oncall.ts';

const TimeOfDay = Type.String({
  pattern: String.raw`^([01]\d|2[0-3]):[0-5]\d$|^24:00$`,
  description: 'a time of the day, up to 24:00',
});
const Weekday = Type.Integer({ minimum: 1, maximum: 7 });

const Window = StrictObject({ fromDay: Weekday, from: TimeOfDay, toDay: Weekday, to: TimeOfDay });

const TurnLengthInput = StrictObject({
  every: Type.Integer({ minimum: 1, maximum: 10_000 }),
  unit: Type.Enum([...ROTATION_UNITS]),
});

const HolidaysInput = StrictObject({ calendarId: IdText, on: Type.Enum(['speaks', 'silent']) });

const When = Type.String({ maxLength: 64, description: 'RFC 3339, or a local date-time in timezone' });

/** A layer as people set it. What is left out is as it was; of a new layer, `startsAt` is now and the rest is null. */
const LayerInput = StrictObject({
  layerId: Type.Optional(Type.String({ description: 'of a layer that the schedule has; without it, a new one' })),
  name: Name,
  rotation: TurnLengthInput,
  turns: Type.Array(StrictObject({ userIds: Type.Array(IdText, { maxItems: PEOPLE_OF_TURN_MAX }) }), {
    maxItems: TURNS_MAX,
    description: 'in turn; one may hold several people, or nobody',
  }),
  startsAt: Type.Optional(When),
  activeFrom: Type.Optional(nullable(When)),
  endsAt: Type.Optional(nullable(When)),
  hours: Type.Optional(
    nullable(Type.Array(Window, { maxItems: WINDOWS_MAX, description: 'days count from Monday as 1' })),
  ),
  holidays: Type.Optional(nullable(HolidaysInput)),
});

export const LAYERS_FIELDS = {
  timezone: FreeText,
  layers: Type.Array(LayerInput, {
    minItems: 1,
    maxItems: LAYERS_MAX,
    description: 'lowest first; the first is the rotation of the schedule, and the highest that names somebody decides',
  }),
  keepTurns: Type.Optional(
    Type.Boolean({
      description:
        'true, or left out: where people or the length of turns change, the present turn ends when it was to; false: turns are counted from startsAt as it is',
    }),
  ),
};

interface LayersInput {
  readonly timezone: string;
  readonly layers: readonly Static<typeof LayerInput>[];
  readonly keepTurns?: boolean | undefined;
}

interface LayersPlan {
  readonly timezone: string;
  readonly clock: ZoneClock;
  readonly layers: readonly Layer[];
  readonly holidays: ReadonlyMap<string, readonly string[]>;
}

/** Returns the layers that a schedule would have. Throws with the path of every field that is wrong. */
export async function planLayers(
  input: LayersInput,
  schedule: ScheduleRow,
  context: Pick<ActionContext, 'caller' | 'stores' | 'now'>,
): Promise<LayersPlan> {
  const { stores, caller, now } = context;
  const timezone = unwrap(parseTimeZone(input.timezone, 'timezone'));
  const clock = new ZoneClock(timezone);
  const stored = new Map(readLayers(schedule).map((layer) => [layer.id, layer]));
  requireIds(input.layers, stored);
  const people = input.layers.flatMap(({ turns }, index) =>
    turns.flatMap(({ userIds }, turn) => namedUsers(`layers[${index}].turns[${turn}].userIds`, userIds)),
  );
  await requireUsers(people, context);
  const calendarIds = input.layers.flatMap(({ holidays }) => (holidays ? asId('calendar', holidays.calendarId) : []));
  const holidays = await stores.holidayCalendars.listDates(caller.orgId, calendarIds);
  for (const [index, { holidays: layerHolidays }] of input.layers.entries()) {
    if (layerHolidays && !holidays.has(layerHolidays.calendarId)) {
      throw notFound(`layers[${index}].holidays.calendarId`, 'calendar of holidays');
    }
  }
  const layers = input.layers.map((layer, index) => {
    const before = stored.get(index === 0 ? FIRST_LAYER : (layer.layerId ?? ''));
    const after = toLayer(layer, before, { index, timezone, isSameZone: timezone === schedule.timezone, now });
    const isCounted = before !== undefined && before.startsAt.equals(after.startsAt);
    if (!isCounted || !changesTurns(before, after)) return after;
    return input.keepTurns === false ? { ...after, carried: null } : keepTurn(before, after, clock, now);
  });
  const faults = faultsOfLayers(layers, timezone, clock, now);
  if (faults.length > 0) throw invalidInput(faults);
  return { timezone, clock, layers, holidays };
}

function requireIds(layers: LayersInput['layers'], stored: ReadonlyMap<string, Layer>): void {
  const [first, ...others] = layers;
  if (first?.layerId !== undefined && first.layerId !== FIRST_LAYER) {
    const message = 'must be the rotation of the schedule: the lowest layer stays where it is';
    throw invalidInput([{ path: 'layers[0].layerId', message }]);
  }
  const seen = new Set<string>();
  for (const [index, { layerId }] of others.entries()) {
    if (layerId === undefined) continue;
    if (layerId === FIRST_LAYER || seen.has(layerId)) {
      throw invalidInput([{ path: `layers[${index + 1}].layerId`, message: 'must be given for one layer only' }]);
    }
    if (!stored.has(layerId)) throw notFound(`layers[${index + 1}].layerId`, 'layer');
    seen.add(layerId);
  }
}

interface LayerSetting {
  readonly index: number;
  readonly timezone: string;
  /** Whether the schedule keeps its time zone. */
  readonly isSameZone: boolean;
  readonly now: Temporal.Instant;
}

function toLayer(
  input: Static<typeof LayerInput>,
  before: Layer | undefined,
  { index, timezone, isSameZone, now }: LayerSetting,
): Layer {
  const path = `layers[${index}]`;
  const readWhen = (field: 'startsAt' | 'activeFrom' | 'endsAt'): Temporal.Instant | null | undefined => {
    const text = input[field];
    return text === undefined || text === null ? text : unwrap(parseInstant(text, timezone, `${path}.${field}`));
  };
  const startsAt = readWhen('startsAt') ?? before?.startsAt ?? now;
  const isSameStart = before?.startsAt.equals(startsAt) ?? false;
  const keepsWall = isSameStart && isSameZone && !isLocalTime(input.startsAt);
  const orKept = <Value>(value: Value | undefined, old: Value | undefined, otherwise: Value): Value =>
    value === undefined ? (old ?? otherwise) : value;
  return {
    id: index === 0 ? FIRST_LAYER : (before?.id ?? newId('layer')),
    name: input.name,
    rotation: input.rotation,
    turns: input.turns.map(({ userIds }) => ({ userIds: userIds.map((userId): Id<'user'> => asId('user', userId)) })),
    startsAt,
    startWall: keepsWall ? (before?.startWall ?? null) : skippedWallOf(input.startsAt, timezone),
    activeFrom: orKept(readWhen('activeFrom'), before?.activeFrom, null),
    endsAt: orKept(readWhen('endsAt'), before?.endsAt, null),
    hours: orKept(input.hours, before?.hours, null),
    holidays: orKept(input.holidays, before?.holidays, null),
    carried: isSameStart ? (before?.carried ?? null) : null,
  };
}

/** Throws `conflict` unless the schedule is as it was read. */
export function requireUnchanged({ updatedAt }: ScheduleRow, readAt: string): void {
  if (toTimestamp(updatedAt) === readAt) return;
  throw new AppError('conflict', 'somebody else has changed this schedule; compare, and save again');
}

export const RotationConfigInput = StrictObject({
  userIds: Type.Array(IdText, {
    maxItems: USERS_MAX,
    description: 'in order of their turns; a user listed twice has two turns',
  }),
  shiftHours: Type.Optional(SafeInteger),
});

/** Throws `not_found` with the paths of users who do not belong to the organization. */
export async function toRotationConfig(
  input: Static<typeof RotationConfigInput>,
  context: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<RotationConfig> {
  const userIds = await requireUsers(namedUsers('rotationConfig.userIds', input.userIds), context);
  return { userIds, ...(input.shiftHours === undefined ? {} : { shiftHours: input.shiftHours }) };
}
