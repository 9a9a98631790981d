import type { Id } from '#kernel/ids.ts';
import { findFaults, objectWith, orNull } from '#kernel/input_faults.ts';
import { Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { parseIsoMs } from '#kernel/wall_clock.ts';
import { layerOfRotation, type Rotation, ROTATION_TYPES } from './rotation.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';

import {
  type CarriedTurn,
  FIRST_LAYER,
  type Layer,
  type LayerHolidays,
  LAYERS_MAX,
  type LayerTurn,
  ROTATION_UNITS,
  type TurnLength,
  type WeekWindow,
} from './layer.ts';

/** A layer as it is stored. The first leaves out what the columns of its schedule say as well. */
export interface StoredLayer {
  readonly id: string;
  readonly name: string;
  readonly rotation?: TurnLength;
  readonly turns?: readonly LayerTurn[];
  readonly startsAt?: string;
  readonly startWall?: string | null;
  readonly activeFrom?: string | null;
  readonly endsAt: string | null;
  readonly hours: readonly WeekWindow[] | null;
  readonly holidays: LayerHolidays | null;
  readonly carried?: {
    readonly userIds: CarriedTurn['userIds'];
    readonly since: string;
    readonly until: string;
  } | null;
}

/** A schedule as it is stored, whoever wrote it. */
interface StoredSchedule extends StoredRotation {
  readonly layers: unknown;
}

const TIME_OF_DAY = { type: 'string', pattern: String.raw`^([01]\d|2[0-3]):[0-5]\d$|^24:00$` };
const DAY = { type: 'integer', minimum: 1, maximum: 7 };
const INSTANT = { type: 'string', pattern: String.raw`^[12]\d{3}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z$` };
const USER_IDS = { type: 'array', items: { type: 'string', maxLength: 200 } };

/** Schema of the column, for rows that somebody else wrote. */
export const STORED_LAYERS = {
  type: 'array',
  minItems: 1,
  maxItems: LAYERS_MAX,
  items: objectWith(
    {
      id: { type: 'string', minLength: 1, maxLength: 100 },
      name: { type: 'string', maxLength: 200 },
      rotation: objectWith({
        every: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        unit: { enum: ROTATION_UNITS },
      }),
      turns: { type: 'array', items: objectWith({ userIds: USER_IDS }) },
      startsAt: INSTANT,
      startWall: orNull({ type: 'string', maxLength: 40 }),
      activeFrom: orNull(INSTANT),
      endsAt: orNull(INSTANT),
      hours: orNull({
        type: 'array',
        items: objectWith({ fromDay: DAY, from: TIME_OF_DAY, toDay: DAY, to: TIME_OF_DAY }),
      }),
      holidays: orNull(
        objectWith({ calendarId: { type: 'string', maxLength: 100 }, on: { enum: ['speaks', 'silent'] } }),
      ),
      carried: orNull(objectWith({ userIds: USER_IDS, since: INSTANT, until: INSTANT })),
    },
    ['id', 'name', 'endsAt', 'hours', 'holidays'],
  ),
};

/** Whether stored layers can be read: the first is the rotation, and all others say everything. */
export function areLayers(stored: unknown): stored is readonly StoredLayer[] | null {
  if (stored === null) return true;
  if (findFaults(STORED_LAYERS, stored).length > 0) return false;
  const [first, ...others] = stored as StoredLayer[];
  return (
    first?.id === FIRST_LAYER &&
    others.every(({ id, rotation, turns, startsAt }) => id !== FIRST_LAYER && rotation && turns && startsAt) &&
    [first, ...others].every(
      ({ startsAt, startWall, activeFrom, endsAt, carried }) =>
        [startsAt, activeFrom, endsAt, carried?.since, carried?.until].every(isInstant) && isWall(startWall),
    )
  );
}

function isInstant(text: string | null | undefined): boolean {
  return text === undefined || text === null || parseIsoMs(text) !== null;
}

function isWall(text: string | null | undefined): boolean {
  if (text === undefined || text === null) return true;
  try {
    Temporal.PlainDateTime.from(text, { overflow: 'reject' });
    return true;
  } catch {
    return false;
  }
}

/** Reads the layers of a schedule, the lowest first. Layers that cannot be read leave the rotation alone. */
export function readLayers(stored: StoredSchedule): Layer[] {
  const rotation = layerOfRotation(readRotation(stored));
  if (stored.layers === null || !areLayers(stored.layers)) return [rotation];
  return (stored.layers ?? []).map((layer, index) => toLayer(layer, index === 0 ? rotation : null));
}

function toLayer(stored: StoredLayer, rotation: Layer | null): Layer {
  const { carried, activeFrom } = stored;
  return {
    id: stored.id,
    name: stored.name,
    rotation: stored.rotation ?? rotation?.rotation ?? { every: 1, unit: 'weeks' },
    turns: stored.turns ?? rotation?.turns ?? [],
    startsAt: rotation?.startsAt ?? Temporal.Instant.from(stored.startsAt ?? ''),
    startWall: rotation === null ? (stored.startWall ?? null) : (rotation.startWall ?? null),
    activeFrom: activeFrom ? Temporal.Instant.from(activeFrom) : null,
    endsAt: stored.endsAt === null ? null : Temporal.Instant.from(stored.endsAt),
    hours: stored.hours,
    holidays: stored.holidays,
    carried: carried
      ? {
          userIds: carried.userIds,
          since: Temporal.Instant.from(carried.since),
          until: Temporal.Instant.from(carried.until),
        }
      : null,
  };
}

/** Columns of a schedule that say its layers. */
type LayerColumns = Pick<StoredSchedule, 'rotationType' | 'startAt' | 'startWall'> & {
  readonly rotationConfig: { readonly userIds: LayerTurn['userIds']; readonly shiftHours?: number };
  readonly layers: readonly StoredLayer[] | null;
};

/**
 * Returns the columns for these layers, the first of which is the rotation. `rotationConfig` names the people of the
 * first in their order even where its turns say more.
 */
export function toColumnsOfLayers([first, ...others]: readonly Layer[]): LayerColumns {
  if (first === undefined) throw new Error('a schedule without a first layer cannot be stored');
  const simple = contractLengthOf(first.rotation);
  const { rotationType, ...shiftHours } = simple ?? { rotationType: 'weekly' as const };
  const areSingle = first.turns.every(({ userIds }) => userIds.length === 1);
  const beyond = { ...(simple === null && { rotation: first.rotation }), ...(!areSingle && { turns: first.turns }) };
  const { name, activeFrom, endsAt, hours, holidays, carried } = first;
  const stored: StoredLayer = { ...beyond, ...besideRotation(first), id: FIRST_LAYER, name };
  const isPlain =
    others.length === 0 &&
    simple !== null &&
    areSingle &&
    !activeFrom &&
    endsAt === null &&
    hours === null &&
    holidays === null &&
    !carried;
  return {
    rotationType,
    rotationConfig: { userIds: first.turns.flatMap(({ userIds }) => userIds), ...shiftHours },
    startAt: first.startsAt,
    startWall: first.startWall ?? null,
    layers: isPlain ? null : [stored, ...others.map(toStored)],
  };
}

/** Whether the first layer says more than the contract's rotation can. */
export function isBeyondRotation(layers: readonly StoredLayer[] | null): boolean {
  const [first] = layers ?? [];
  return first?.rotation !== undefined || first?.turns !== undefined;
}

function contractLengthOf({
  every,
  unit,
}: TurnLength): { readonly rotationType: 'daily' | 'weekly'; readonly shiftHours?: number } | null {
  switch (unit) {
    case 'hours':
      return { rotationType: 'daily', shiftHours: every };
    case 'days':
      return every === 1 ? { rotationType: 'daily' } : { rotationType: 'daily', shiftHours: every * 24 };
    case 'weeks':
      return every === 1 ? { rotationType: 'weekly' } : { rotationType: 'weekly', shiftHours: every * 168 };
    case 'months':
      return null;
  }
}

function toStored(layer: Layer): StoredLayer {
  const { id, name, rotation, turns, startsAt, startWall = null } = layer;
  return { id, name, rotation, turns, startsAt: toTimestamp(startsAt), startWall, ...besideRotation(layer) };
}

function besideRotation({ activeFrom = null, endsAt, hours, holidays, carried }: Layer) {
  return {
    activeFrom: toTimestampOrNull(activeFrom),
    endsAt: toTimestampOrNull(endsAt),
    hours,
    holidays,
    carried: carried
      ? { userIds: carried.userIds, since: toTimestamp(carried.since), until: toTimestamp(carried.until) }
      : null,
  };
}

/** A rotation as it is stored, whoever wrote it. */
interface StoredRotation {
  readonly timezone: string;
  readonly rotationType: Rotation['rotationType'];
  readonly rotationConfig: unknown;
  readonly startAt: Temporal.Instant;
  readonly startWall: string | null;
}

const CONFIG = objectWith(
  {
    userIds: { type: 'array', items: { type: 'string' } },
    shiftHours: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER },
  },
  ['userIds'],
);

export function isRotation({ timezone, rotationType, rotationConfig, startAt, startWall }: StoredRotation): boolean {
  return (
    parseTimeZone(timezone, 'timezone').kind === 'ok' &&
    ROTATION_TYPES.includes(rotationType) &&
    (startWall === null || isWallTime(startWall, startAt)) &&
    findFaults(CONFIG, rotationConfig).length === 0
  );
}

/** Rotation used in place of one that cannot be read. */
export const EMPTY_ROTATION = {
  timezone: 'UTC',
  rotationType: 'weekly',
  rotationConfig: { userIds: [] },
  startWall: null,
} as const;

/** Reads a stored rotation. One that cannot be read puts nobody on call: a step that asks it passes on to the next. */
function readRotation(stored: StoredRotation): Rotation {
  const { startAt } = stored;
  const { timezone, rotationType, startWall, rotationConfig } = isRotation(stored) ? stored : EMPTY_ROTATION;
  const { userIds, shiftHours = null } = rotationConfig as { userIds: Id<'user'>[]; shiftHours?: number };
  return { timezone, rotationType, userIds, shiftHours, startAt, startWall };
}

const DAY_MS = 86_400_000;

/** Whether it is the local date and time of a start somewhere. */
export function isWallTime(text: string, startAt: Temporal.Instant): boolean {
  try {
    const wall = Temporal.PlainDateTime.from(text, { overflow: 'reject' }).toZonedDateTime('UTC');
    return Math.abs(wall.epochMilliseconds - startAt.epochMilliseconds) <= 2 * DAY_MS;
  } catch {
    return false;
  }
}
