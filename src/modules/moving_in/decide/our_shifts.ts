import type { OverrideInFile } from '#modules/configuration/decide/file.ts';
import type { LayerInFile } from '#modules/configuration/decide/file_fields.ts';
import { instantOf, wallOf } from '#modules/moving_in/decide/raw.ts';
import { append, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import type { Layer } from '#modules/schedules/decide/layer.ts';
import { eachFinalShiftBetween } from '#modules/schedules/decide/layered_shifts.ts';
import { asId } from '#kernel/ids.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';

/** Limit on the shifts of one window: more than one a minute are none. */
const SHIFTS_MAX = 200_000;

/** Fields that decide who is on call in a schedule of the file. */
interface ShiftsInFile {
  readonly timezone: string;
  readonly layers?: readonly LayerInFile[] | undefined;
  readonly overrides?: readonly OverrideInFile[] | undefined;
}

/** Returns who is on call by a schedule of the file within `[from, to)`, tiling the window. */
export function ourShifts(schedule: ShiftsInFile, clock: ZoneClock, from: number, to: number): Stretch[] {
  const inFile = schedule.layers ?? [];
  const layerIds = new Map(inFile.map(({ name }, index) => [name, `layer${index}`]));
  const overrides = (schedule.overrides ?? []).map(({ person, startsAt, endsAt, layer }, index) => ({
    overrideId: asId('override', `override${String(index).padStart(6, '0')}`),
    layerId: layer === undefined ? null : (layerIds.get(layer) ?? null),
    userId: asId('user', person),
    startAt: fromEpochMilliseconds(momentOf(startsAt, clock)),
    endAt: fromEpochMilliseconds(momentOf(endsAt, clock)),
    createdAt: fromEpochMilliseconds(index),
  }));
  const layers = inFile.map(({ name, rotation, turns, startsAt, activeFrom, endsAt, hours }, index): Layer => ({
    id: `layer${index}`,
    name,
    rotation: { every: rotation.every, unit: rotation.unit },
    turns: turns.map(({ people }) => ({ userIds: people.map((person) => asId('user', person)) })),
    startsAt: fromEpochMilliseconds(momentOf(startsAt, clock)),
    activeFrom: activeFrom === undefined ? null : fromEpochMilliseconds(momentOf(activeFrom, clock)),
    endsAt: endsAt === undefined ? null : fromEpochMilliseconds(momentOf(endsAt, clock)),
    hours: hours ?? null,
    holidays: null,
  }));
  const layered = { timeZone: schedule.timezone, clock, layers, overrides, holidays: new Map<string, string[]>() };
  const stretches: Stretch[] = [];
  let at = from;
  const [start, end] = [fromEpochMilliseconds(from), fromEpochMilliseconds(to)];
  for (const shift of eachFinalShiftBetween(layered, start, end, () => true, SHIFTS_MAX)) {
    const since = Math.max(shift.since.epochMilliseconds, at);
    const until = Math.min(shift.until?.epochMilliseconds ?? to, to);
    if (since > at) append(stretches, { from: at, to: since, people: [] });
    if (until > since)
      append(stretches, { from: since, to: until, people: [...new Set<string>(shift.userIds)].toSorted() });
    at = Math.max(at, until);
  }
  if (at < to) append(stretches, { from: at, to, people: [] });
  return stretches;
}

/** Reads a moment of the file in milliseconds. */
export function momentOf(text: string, clock: ZoneClock): number {
  const instant = instantOf(text);
  if (instant !== null) return instant;
  const wall = wallOf(text);
  if (wall === null) throw new Error(`${text} is no moment`);
  return clock.instantOf(wall);
}
