import type { InputOf } from '#console/api/actions.ts';
import { toZoneField } from '#console/pages/oncall/schedule_draft.ts';
import type { TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';

type LayersInput = Pick<InputOf<'set_schedule_layers'>, 'timezone' | 'layers' | 'keepTurns'>;
type LayerInput = LayersInput['layers'][number];

export type RotationUnit = LayerInput['rotation']['unit'];
export type WeekWindow = NonNullable<NonNullable<LayerInput['hours']>[number]>;

/** Turn of a layer; with several people, all are on call at once. */
export interface TurnDraft {
  readonly key: number;
  readonly userIds: readonly string[];
}

/** Layer as the editor holds it; times are local times of the schedule's zone. */
export interface LayerDraft {
  readonly key: number;
  /** Null for a new one. */
  readonly layerId: string | null;
  readonly name: string;
  readonly every: string;
  readonly unit: RotationUnit;
  readonly turns: readonly TurnDraft[];
  readonly startsAt: string;
  readonly endsAt: string;
  readonly hours: readonly WeekWindow[] | null;
  readonly holidays: LayerInput['holidays'];
}

/** Schedule as the editor holds it; layers are the lowest first. */
export interface LayersDraft {
  readonly name: string;
  readonly timezone: string;
  readonly layers: readonly LayerDraft[];
  /** Whether present turns stay. */
  readonly keepTurns: boolean;
}

/** Returns the layers of a schedule; one that has only its rotation has one. */
export function layersOf(schedule: Pick<ShownSchedule, 'layers' | 'rotationConfig' | 'rotationType' | 'startAt'>) {
  const { layers, rotationConfig, rotationType, startAt } = schedule;
  if (layers !== undefined) return layers;
  const { userIds, shiftHours = 0 } = rotationConfig;
  return [
    {
      layerId: 'rotation',
      name: 'Rotation',
      rotation: lengthOf(shiftHours, rotationType),
      turns: userIds.map((userId) => ({ userIds: [userId] })),
      startsAt: startAt,
      activeFrom: null,
      endsAt: null,
      hours: null,
      holidays: null,
      keptUntil: null,
    },
  ];
}

function lengthOf(hours: number, type: 'daily' | 'weekly'): { every: number; unit: RotationUnit } {
  if (hours >= 1) return { every: hours, unit: 'hours' };
  return { every: 1, unit: type === 'daily' ? 'days' : 'weeks' };
}

export function layersDraftOf(schedule: ShownSchedule): LayersDraft {
  const { name, timezone } = schedule;
  return {
    name,
    timezone,
    keepTurns: true,
    layers: layersOf(schedule).map((layer, key) => ({
      key,
      layerId: layer.layerId,
      name: layer.name,
      every: String(layer.rotation.every),
      unit: layer.rotation.unit,
      turns: layer.turns.map(({ userIds }, turn) => ({ key: turn, userIds })),
      startsAt: toZoneField(Date.parse(layer.startsAt), timezone),
      endsAt: layer.endsAt === null ? '' : toZoneField(Date.parse(layer.endsAt), timezone),
      hours: layer.hours,
      holidays: layer.holidays,
    })),
  };
}

/** Returns a draft with a layer above all others, which begins at the start of the day. */
export function withLayer(draft: LayersDraft, now: number): LayersDraft {
  const key = 1 + Math.max(...draft.layers.map((layer) => layer.key));
  const layer: LayerDraft = {
    key,
    layerId: null,
    name: `Layer ${draft.layers.length + 1}`,
    every: '1',
    unit: 'weeks',
    turns: [],
    startsAt: `${toZoneField(now, draft.timezone).slice(0, 10)}T00:00`,
    endsAt: '',
    hours: null,
    holidays: null,
  };
  return { ...draft, layers: [...draft.layers, layer] };
}

/** Replaces the fields of one layer. */
export function withChanges(draft: LayersDraft, index: number, changes: Partial<LayerDraft>): LayersDraft {
  const layer = draft.layers[index];
  return layer === undefined ? draft : { ...draft, layers: draft.layers.with(index, { ...layer, ...changes }) };
}

/** Moves a layer by one place; the rotation stays the lowest. */
export function withLayerMoved(draft: LayersDraft, index: number, by: 1 | -1): LayersDraft {
  const [moved, passed] = [draft.layers[index], draft.layers[index + by]];
  if (moved === undefined || passed === undefined || index === 0 || index + by === 0) return draft;
  return { ...draft, layers: draft.layers.with(index, passed).with(index + by, moved) };
}

/** Adds a person: a turn of their own, or to the last turn. */
export function withPersonIn(turns: readonly TurnDraft[], userId: string, together: boolean): readonly TurnDraft[] {
  const last = turns.at(-1);
  if (together && last !== undefined && !last.userIds.includes(userId)) {
    return turns.with(turns.length - 1, { ...last, userIds: [...last.userIds, userId] });
  }
  return [...turns, { key: nextKey(turns), userIds: [userId] }];
}

/** Adds a turn of nobody, in which the layers below decide. */
export function withNobody(turns: readonly TurnDraft[]): readonly TurnDraft[] {
  return [...turns, { key: nextKey(turns), userIds: [] }];
}

function nextKey(turns: readonly TurnDraft[]): number {
  return 1 + Math.max(-1, ...turns.map(({ key }) => key));
}

/** Moves a turn by one place. */
export function withTurnMoved(turns: readonly TurnDraft[], index: number, by: 1 | -1): readonly TurnDraft[] {
  const [moved, passed] = [turns[index], turns[index + by]];
  return moved === undefined || passed === undefined ? turns : turns.with(index, passed).with(index + by, moved);
}

const HALF_HOUR_MS = 30 * 60_000;
const WEEK_MS = 7 * 24 * 3_600_000;

/** Returns the window of the week that was marked with a pointer, by the wall clock of a zone. */
export function windowOf(since: number, until: number, timeZone: string): WeekWindow {
  const [start, end] = [roundToHalfHour(since), roundToHalfHour(Math.min(until, since + WEEK_MS))];
  const [from, to] = [toZoneField(start, timeZone), toZoneField(end, timeZone)];
  const isMidnight = to.slice(11) === '00:00';
  const last = isMidnight ? toZoneField(end - HALF_HOUR_MS, timeZone) : to;
  return {
    fromDay: weekdayOf(from),
    from: from.slice(11),
    toDay: weekdayOf(last),
    to: isMidnight ? '24:00' : to.slice(11),
  };
}

function roundToHalfHour(ms: number): number {
  return Math.round(ms / HALF_HOUR_MS) * HALF_HOUR_MS;
}

/** Returns the weekday of a local time, from Monday as 1. */
function weekdayOf(field: string): number {
  return ((new Date(`${field.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7) + 1;
}

/** Converts the draft to the request. The exact start of a layer is kept while its field says the same. */
export function layersInput(draft: LayersDraft, schedule: ShownSchedule): LayersInput {
  const stored = new Map(layersOf(schedule).map((layer) => [layer.layerId, layer]));
  const shown = new Map(layersDraftOf(schedule).layers.map((layer) => [layer.layerId, layer]));
  return {
    timezone: draft.timezone.trim(),
    keepTurns: draft.keepTurns,
    layers: draft.layers.map((layer): LayerInput => {
      const before = layer.layerId === null ? undefined : stored.get(layer.layerId);
      const isSameStart = shown.get(layer.layerId)?.startsAt === layer.startsAt;
      return {
        ...(layer.layerId !== null && { layerId: layer.layerId }),
        name: layer.name.trim(),
        rotation: { every: Number(layer.every), unit: layer.unit },
        turns: layer.turns.map(({ userIds }) => ({ userIds: [...userIds] })),
        startsAt: isSameStart && before !== undefined ? before.startsAt : layer.startsAt,
        endsAt: layer.endsAt === '' ? null : layer.endsAt,
        hours: layer.hours && [...layer.hours],
        holidays: layer.holidays ?? null,
      };
    }),
  };
}

const EVERY_MAX = 10_000;

/** Returns the faults of a draft by the path of the server's field; empty if there are none. */
export function layersFaults({ name, timezone, layers }: LayersDraft): Readonly<Record<string, string>> {
  const faults = layers.flatMap((layer, index) => {
    const { every, startsAt, turns, hours } = layer;
    const path = `layers[${index}]`;
    const isLength = /^\d{1,5}$/.test(every) && Number(every) >= 1 && Number(every) <= EVERY_MAX;
    const isUnmanned = index > 0 && turns.every(({ userIds }) => userIds.length === 0);
    return Object.entries({
      ...(layer.name.trim() === '' && { [`${path}.name`]: 'Enter a name.' }),
      ...(!isLength && { [`${path}.rotation`]: `Enter a whole number, from 1 to ${EVERY_MAX.toLocaleString()}.` }),
      ...(startsAt === '' && { [`${path}.startsAt`]: 'Enter a day and a time.' }),
      ...(isUnmanned && { [`${path}.turns`]: 'Add at least one person, or remove the layer.' }),
      ...(hours?.length === 0 && { [`${path}.hours`]: 'Add a time, or let the layer speak always.' }),
    });
  });
  return {
    ...(name.trim() === '' && { name: 'Enter a name.' }),
    ...(timezone.trim() === '' && { timezone: 'Choose a time zone, for example Europe/Amsterdam.' }),
    ...Object.fromEntries(faults),
  };
}

export const LAYERS_LABELS: Record<keyof LayersDraft, string> = {
  name: 'Name',
  timezone: 'Time zone',
  layers: 'Layers',
  keepTurns: 'Present turns',
};

const UNIT_NAMES: Record<RotationUnit, readonly [one: string, several: string]> = {
  hours: ['hour', 'hours'],
  days: ['day', 'days'],
  weeks: ['week', 'weeks'],
  months: ['month', 'months'],
};

/** Returns the length of a turn as text: `every week`, `every 2 months`. */
export function turnLengthText({ every, unit }: { readonly every: number; readonly unit: RotationUnit }): string {
  if (unit === 'hours' && every % 168 === 0) return turnLengthText({ every: every / 168, unit: 'weeks' });
  if (unit === 'hours' && every % 24 === 0) return turnLengthText({ every: every / 24, unit: 'days' });
  const [singular, several] = UNIT_NAMES[unit];
  return every === 1 ? `every ${singular}` : `every ${every} ${several}`;
}

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

/** Returns `Monday 09:00 to 17:00`. */
export function windowText({ fromDay, from, toDay, to }: WeekWindow): string {
  const day = WEEKDAYS[fromDay - 1] ?? '';
  return fromDay === toDay && from < to ? `${day} ${from} to ${to}` : `${day} ${from} to ${WEEKDAYS[toDay - 1]} ${to}`;
}

/** Edge of a bar that people move: beginning or end of a time of the week, or a hand-over of a layer that always speaks. */
export interface BarEdge {
  readonly kind: 'begin' | 'end' | 'hand_over';
  /** Place of the time among the hours of the layer; 0 for a hand-over. */
  readonly place: number;
  readonly at: number;
  /** Time as people read it: `Monday 09:00`. */
  readonly text: string;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;
const UNIT_MINUTES = { hours: 60, days: DAY_MINUTES, weeks: WEEK_MINUTES } as const;
/** Most edges of one layer that are shown; the fields have all. */
const EDGES_MAX = 42;

/** Returns the edges of a layer within a week. Months hand over on a date, which the form says. */
export function edgesOf(
  layer: LayerDraft,
  range: Pick<TimelineRange, 'from' | 'to'>,
  { timeZone, now }: { readonly timeZone: string; readonly now: number },
): BarEdge[] {
  if (layer.hours === null) return handOverOf(layer, range, timeZone, now);
  const first = localMinutes(range.from, timeZone);
  return layer.hours.slice(0, EDGES_MAX / 2).flatMap((window, place) =>
    (['begin', 'end'] as const).flatMap((kind): BarEdge[] => {
      const minute = minuteOf(window, kind);
      if (Number.isNaN(minute)) return [];
      const ahead = (minute - weekMinuteOf(first) + WEEK_MINUTES) % WEEK_MINUTES;
      const at = instantOf(first + ahead, timeZone);
      return at > range.to ? [] : [{ kind, place, at, text: textOf(window, kind) }];
    }),
  );
}

function handOverOf(
  { every, unit, startsAt, turns }: LayerDraft,
  range: Pick<TimelineRange, 'from' | 'to'>,
  timeZone: string,
  now: number,
): BarEdge[] {
  const start = Date.parse(`${startsAt}Z`) / MINUTE_MS;
  const length = unit === 'months' ? Number.NaN : Number(every) * UNIT_MINUTES[unit];
  if (!(length > 0) || Number.isNaN(start) || turns.length < 2) return [];
  const passed = Math.max(0, Math.ceil((localMinutes(now, timeZone) - start) / length));
  const minute = start + passed * length;
  const at = instantOf(minute, timeZone);
  const day = WEEKDAYS[Math.floor(weekMinuteOf(minute) / DAY_MINUTES)] ?? '';
  const text = `${day} ${timeText(weekMinuteOf(minute) % DAY_MINUTES)}`;
  return at < range.from || at > range.to ? [] : [{ kind: 'hand_over', place: 0, at, text }];
}

/** Returns the changes of a layer whose edge is moved; none where a time would have no length. */
export function withEdgeMoved(
  layer: LayerDraft,
  { kind, place }: Pick<BarEdge, 'kind' | 'place'>,
  byMinutes: number,
): Partial<LayerDraft> {
  if (kind === 'hand_over') {
    const moved = new Date(Date.parse(`${layer.startsAt}Z`) + byMinutes * MINUTE_MS);
    return { startsAt: moved.toISOString().slice(0, 16) };
  }
  const window = layer.hours?.[place];
  if (layer.hours === null || window === undefined) return {};
  const minute = (((minuteOf(window, kind) + byMinutes) % WEEK_MINUTES) + WEEK_MINUTES) % WEEK_MINUTES;
  if (minute === minuteOf(window, kind === 'begin' ? 'end' : 'begin') % WEEK_MINUTES) return {};
  const day = Math.floor(minute / DAY_MINUTES);
  const isEndOfDay = kind === 'end' && minute % DAY_MINUTES === 0;
  const changes =
    kind === 'begin'
      ? { fromDay: day + 1, from: timeText(minute % DAY_MINUTES) }
      : isEndOfDay
        ? { toDay: day === 0 ? 7 : day, to: '24:00' }
        : { toDay: day + 1, to: timeText(minute % DAY_MINUTES) };
  return { hours: layer.hours.with(place, { ...window, ...changes }) };
}

/** Returns the minute of the week, from Monday at midnight; NaN while the field holds no time. */
function minuteOf({ fromDay, from, toDay, to }: WeekWindow, kind: 'begin' | 'end'): number {
  const [day, time] = kind === 'begin' ? [fromDay, from] : [toDay, to];
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(time) ?? [];
  return (day - 1) * DAY_MINUTES + Number(hours) * 60 + Number(minutes);
}

function textOf({ fromDay, from, toDay, to }: WeekWindow, kind: 'begin' | 'end'): string {
  return kind === 'begin' ? `${WEEKDAYS[fromDay - 1] ?? ''} ${from}` : `${WEEKDAYS[toDay - 1] ?? ''} ${to}`;
}

const timeText = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

/** Returns the wall clock of a zone as minutes, as if it were that of UTC. */
function localMinutes(at: number, timeZone: string): number {
  return Date.parse(`${toZoneField(at, timeZone)}Z`) / MINUTE_MS;
}

/** Returns the minute of the week of a wall clock; 1970 began on a Thursday. */
function weekMinuteOf(minutes: number): number {
  return (((minutes + 3 * DAY_MINUTES) % WEEK_MINUTES) + WEEK_MINUTES) % WEEK_MINUTES;
}

/** Returns when the wall clock of a zone shows these minutes; after a skipped time where it never does. */
function instantOf(minutes: number, timeZone: string): number {
  const guess = (2 * minutes - localMinutes(minutes * MINUTE_MS, timeZone)) * MINUTE_MS;
  return guess + (minutes - localMinutes(guess, timeZone)) * MINUTE_MS;
}
