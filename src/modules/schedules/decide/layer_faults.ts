import type { Fault } from '#kernel/errors.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';
import { type Layer, minutesOf } from './layer.ts';
import { finalShiftsBetween } from './layered_shifts.ts';

/** Days ahead within which a layer must name somebody. */
const DAYS_AHEAD = 400;

/** Returns the faults of layers, each with the path of its field and what to do about it. */
export function faultsOfLayers(
  layers: readonly Layer[],
  timeZone: string,
  clock: ZoneClock,
  now: Temporal.Instant,
): Fault[] {
  return layers.flatMap((layer, index) => {
    const path = `layers[${index}]`;
    const faults = [...turnFaults(layer, index, path), ...timeFaults(layer, path)];
    if (faults.length > 0 || layer.turns.every(({ userIds }) => userIds.length === 0)) return faults;
    return neverSpeaks(layer, timeZone, clock, now)
      ? [
          {
            path: `${path}.hours`,
            message: `never meet a turn of somebody in the next ${DAYS_AHEAD} days: change the hours, the length or the order of the turns`,
          },
        ]
      : [];
  });
}

/** The rotation may have nobody yet; another layer with nobody has no use. */
function turnFaults({ name, turns }: Layer, index: number, path: string): Fault[] {
  if (index === 0 || turns.some(({ userIds }) => userIds.length > 0)) return [];
  return [{ path: `${path}.turns`, message: `must name somebody: add a person, or remove the layer "${name}"` }];
}

function timeFaults({ startsAt, endsAt, hours }: Layer, path: string): Fault[] {
  const faults: Fault[] = [];
  if (endsAt !== null && isAtOrBefore(endsAt, startsAt)) {
    faults.push({ path: `${path}.endsAt`, message: 'must be after the start of the layer; null: it never ends' });
  }
  if (hours?.length === 0) {
    faults.push({ path: `${path}.hours`, message: 'must have a window, or be null, which is always' });
  }
  for (const [index, { from, to }] of (hours ?? []).entries()) {
    for (const [field, time] of [['from', from] as const, ['to', to] as const]) {
      if (minutesOf(time) !== null) continue;
      faults.push({ path: `${path}.hours[${index}].${field}`, message: 'must be a time such as 09:00, up to 24:00' });
    }
  }
  return faults;
}

/** Whether its hours and its turns never meet. Calendars of holidays change, so they are left aside. */
function neverSpeaks(layer: Layer, timeZone: string, clock: ZoneClock, now: Temporal.Instant): boolean {
  const { startsAt, activeFrom, endsAt } = layer;
  const starts = [now, startsAt, ...(activeFrom ? [activeFrom] : [])];
  const from = starts.reduce((last, instant) => (isAtOrBefore(last, instant) ? instant : last));
  if (endsAt !== null && isAtOrBefore(endsAt, from)) return false;
  const alone = {
    timeZone,
    clock,
    layers: [{ ...layer, holidays: null, endsAt: null }],
    overrides: [],
    holidays: new Map(),
  };
  const to = from.add({ hours: DAYS_AHEAD * 24 });
  return finalShiftsBetween(alone, from, to, () => true, 1).length === 0;
}
