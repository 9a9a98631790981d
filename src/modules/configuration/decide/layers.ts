import type { Fault } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { faultsOf } from '#modules/contacts/decide/parsed.ts';
import { FIRST_LAYER, type Layer, type RotationUnit } from '#modules/schedules/decide/layer.ts';
import { parseInstant, skippedWallOf } from '#modules/schedules/decide/parse_instant.ts';
import type { HoursInFile, LayerInFile } from './file_fields.ts';
import type { Ref } from './ref.ts';

export interface LayerFields {
  /** Empty for the only layer of a schedule, whose name nothing keeps. */
  readonly name: string;
  /** Length of a turn: hours of the wall clock, or months. */
  readonly length: { readonly hours: number } | { readonly months: number };
  readonly turns: readonly (readonly Ref[])[];
  readonly startsAt: string;
  /** Local time of a start that the clocks skip; null if they do not. */
  readonly startWall: string | null;
  readonly activeFrom: string | null;
  readonly endsAt: string | null;
  readonly hours: readonly WeekSpan[] | null;
  readonly holidays: { readonly calendar: Ref; readonly layer: 'on' | 'off' } | null;
}

/** Name of the only layer of a schedule in a file. */
export const ONLY_LAYER = 'Rotation';

const HOURS = { hours: 1, days: 24, weeks: 168 } as const;

function lengthOf(every: number, unit: RotationUnit): LayerFields['length'] {
  return unit === 'months' ? { months: every } : { hours: every * HOURS[unit] };
}

/** Returns the usual words for a length of turns. */
function wordsOf(length: LayerFields['length']): { every: number; unit: RotationUnit } {
  if ('months' in length) return { every: length.months, unit: 'months' };
  const { hours } = length;
  if (hours % HOURS.weeks === 0) return { every: hours / HOURS.weeks, unit: 'weeks' };
  return hours % HOURS.days === 0 ? { every: hours / HOURS.days, unit: 'days' } : { every: hours, unit: 'hours' };
}

/** Reads one layer of the file. `path` is where it stands, `zone` a time zone that exists. */
export function readLayer(
  layer: LayerInFile,
  { path, zone, isOnly }: { readonly path: string; readonly zone: string; readonly isOnly: boolean },
): { readonly layer: LayerFields; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const instant = (text: string | undefined, field: string): string | null => {
    if (text === undefined) return null;
    const parsed = parseInstant(text, zone, `${path}.${field}`);
    faults.push(...faultsOf(parsed));
    return parsed.kind === 'ok' ? toTimestamp(parsed.value) : null;
  };
  const { name, rotation, turns, startsAt, activeFrom, endsAt, hours, holidays } = layer;
  const start = instant(startsAt, 'startsAt');
  const end = instant(endsAt, 'endsAt');
  if (start !== null && end !== null && end <= start) {
    faults.push({ path: `${path}.endsAt`, message: 'must be after startsAt' });
  }
  const spans = hours === undefined ? null : spansOfHours(hours);
  if (spans?.length === 0) faults.push({ path: `${path}.hours`, message: 'never come: give at least one window' });
  return {
    faults,
    layer: {
      name: isOnly ? '' : name,
      length: lengthOf(rotation.every, rotation.unit),
      turns: turns.map(({ people }) => people),
      startsAt: start ?? startsAt,
      startWall: start === null ? null : skippedWallOf(startsAt, zone),
      activeFrom: instant(activeFrom, 'activeFrom'),
      endsAt: end,
      hours: spans,
      holidays: holidays === undefined ? null : { calendar: holidays.calendar, layer: holidays.layer },
    },
  };
}

/** References to the people and calendars that a layer names. */
export interface LayerRefs {
  readonly person: (userId: string) => Ref;
  readonly calendar: (calendarId: string) => Ref;
}

/** Returns the fields of a stored layer. */
export function layerFieldsOf(layer: Layer, isOnly: boolean, refs: LayerRefs): LayerFields {
  const { name, rotation, turns, startsAt, startWall = null, activeFrom = null, endsAt, hours, holidays } = layer;
  return {
    name: isOnly ? '' : name,
    length: lengthOf(rotation.every, rotation.unit),
    turns: turns.map(({ userIds }) => userIds.map((userId) => refs.person(userId))),
    startsAt: toTimestamp(startsAt),
    startWall,
    activeFrom: toTimestampOrNull(activeFrom),
    endsAt: toTimestampOrNull(endsAt),
    hours: hours && spansOfHours([...hours]),
    holidays: holidays && {
      calendar: refs.calendar(holidays.calendarId),
      layer: holidays.on === 'speaks' ? 'on' : 'off',
    },
  };
}

/** Whether the contract's rotation says all of a schedule with these layers. */
export function isPlain(layers: readonly LayerFields[]): boolean {
  const [layer] = layers;
  return (
    layers.length === 1 &&
    layer !== undefined &&
    'hours' in layer.length &&
    layer.turns.every((people) => people.length === 1) &&
    layer.activeFrom === null &&
    layer.endsAt === null &&
    layer.hours === null &&
    layer.holidays === null
  );
}

/** Returns the contract's rotation that comes nearest to these layers. */
export function rotationInput(layers: readonly LayerFields[], idOf: (ref: Ref) => string) {
  const [layer] = layers;
  // A schedule that is made without layers has a rotation of nobody.
  if (layer === undefined)
    return { rotationType: 'weekly' as const, rotationConfig: { userIds: [] }, startAt: '2020-01-06T00:00:00' };
  const hours = 'hours' in layer.length ? layer.length.hours : HOURS.weeks;
  const isUsual = hours === HOURS.days || hours === HOURS.weeks;
  return {
    rotationType: hours === HOURS.days ? ('daily' as const) : ('weekly' as const),
    rotationConfig: { userIds: layer.turns.flat().map(idOf), ...(!isUsual && { shiftHours: hours }) },
    startAt: layer.startWall ?? layer.startsAt,
  };
}

export interface LayerIds {
  readonly person: (ref: Ref) => string;
  readonly calendar: (ref: Ref) => string;
}

/** Returns the layers as `set_schedule_layers` takes them; `idOfLayer` finds one that the schedule has, by its name. */
export function layersInput(
  layers: readonly LayerFields[],
  idOfLayer: (name: string) => string | null,
  ids: LayerIds,
): object[] {
  return layers.map((layer, index) => {
    const { name, turns, startsAt, startWall, hours, holidays, activeFrom, endsAt } = layer;
    const layerId = index === 0 ? FIRST_LAYER : idOfLayer(name);
    return {
      ...(layerId !== null && { layerId }),
      name: name || ONLY_LAYER,
      rotation: wordsOf(layer.length),
      turns: turns.map((people) => ({ userIds: people.map(ids.person) })),
      startsAt: startWall ?? startsAt,
      activeFrom,
      endsAt,
      hours: hours && hoursOfSpans(hours),
      holidays: holidays && {
        calendarId: ids.calendar(holidays.calendar),
        on: holidays.layer === 'on' ? 'speaks' : 'silent',
      },
    };
  });
}

/** Returns the layers as decisions about who is on call see them. */
export function decidedLayers(layers: readonly LayerFields[], ids: LayerIds): Layer[] {
  return layers.map((layer, index) => ({
    id: index === 0 ? FIRST_LAYER : `layer ${index}`,
    name: layer.name,
    rotation: wordsOf(layer.length),
    turns: layer.turns.map((people) => ({ userIds: people.map((ref) => asId('user', ids.person(ref))) })),
    startsAt: Temporal.Instant.from(layer.startsAt),
    startWall: layer.startWall,
    activeFrom: layer.activeFrom === null ? null : Temporal.Instant.from(layer.activeFrom),
    endsAt: layer.endsAt === null ? null : Temporal.Instant.from(layer.endsAt),
    hours: layer.hours && hoursOfSpans(layer.hours),
    holidays: layer.holidays && {
      calendarId: ids.calendar(layer.holidays.calendar),
      on: layer.holidays.layer === 'on' ? 'speaks' : 'silent',
    },
  }));
}

export function toLayerInFile(layer: LayerFields, writeMoment: (at: string) => string): LayerInFile {
  const { name, length, turns, startsAt, startWall, activeFrom, endsAt, hours, holidays } = layer;
  return {
    name: name || ONLY_LAYER,
    rotation: wordsOf(length),
    turns: turns.map((people) => ({ people: [...people] })),
    startsAt: startWall ?? writeMoment(startsAt),
    ...(activeFrom !== null && { activeFrom: writeMoment(activeFrom) }),
    ...(endsAt !== null && { endsAt: writeMoment(endsAt) }),
    ...(hours !== null && { hours: hoursOfSpans(hours) }),
    ...(holidays !== null && { holidays: { ...holidays } }),
  };
}

/** Part of a week in minutes from Monday 00:00, `[from, to)`. */
export interface WeekSpan {
  readonly from: number;
  readonly to: number;
}

const DAY = 1_440;
const WEEK = 7 * DAY;

/** A window of the week that begins on some days, and ends on the next day if it does not end after it begins. */
export interface DailyWindow {
  readonly days: readonly number[];
  readonly from: string;
  readonly to: string;
}

/** Returns the windows of the file as parts of one week: in order, and neither overlapping nor adjoining. */
export function spansOfHours(hours: HoursInFile): WeekSpan[] {
  return merged(
    hours.flatMap(({ fromDay, from, toDay, to }) => {
      const [start, end] = [(fromDay - 1) * DAY + minutesOf(from), (toDay - 1) * DAY + minutesOf(to)];
      return withinWeek(start, end > start ? end : end + WEEK);
    }),
  );
}

/** Returns windows that begin on days as parts of one week. */
export function spansOfDailyWindows(windows: readonly DailyWindow[]): WeekSpan[] {
  return merged(
    windows.flatMap(({ days, from, to }) =>
      days.flatMap((day) => {
        const [start, length] = [(day - 1) * DAY + minutesOf(from), minutesOf(to) - minutesOf(from)];
        return withinWeek(start, start + (length > 0 ? length : length + DAY));
      }),
    ),
  );
}

/** Returns parts of a week as windows of the file. */
export function hoursOfSpans(spans: readonly WeekSpan[]): HoursInFile {
  return spans.map(({ from, to }) => {
    const toDay = Math.ceil(to / DAY);
    return {
      fromDay: Math.floor(from / DAY) + 1,
      from: timeText(from % DAY),
      toDay,
      to: timeText(to - (toDay - 1) * DAY),
    };
  });
}

/** Returns parts of a week as windows of one day each; days with the same times share one. */
export function dailyWindowsOfSpans(spans: readonly WeekSpan[]): DailyWindow[] {
  const days = new Map<string, { days: number[]; from: string; to: string }>();
  for (const { from, to } of spans) {
    for (let day = Math.floor(from / DAY); day * DAY < to; day += 1) {
      const [start, end] = [Math.max(from, day * DAY) - day * DAY, Math.min(to, (day + 1) * DAY) - day * DAY];
      const window = { from: timeText(start), to: timeText(end) };
      const same = days.get(`${window.from} ${window.to}`);
      if (same === undefined) days.set(`${window.from} ${window.to}`, { days: [day + 1], ...window });
      else same.days.push(day + 1);
    }
  }
  return [...days.values()];
}

function withinWeek(from: number, to: number): WeekSpan[] {
  if (to <= WEEK) return [{ from, to }];
  return [
    { from, to: WEEK },
    { from: 0, to: Math.min(to - WEEK, from) },
  ];
}

function merged(spans: readonly WeekSpan[]): WeekSpan[] {
  const result: WeekSpan[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (span.to <= span.from) continue;
    if (last !== undefined && span.from <= last.to) {
      result[result.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    } else result.push(span);
  }
  return result;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function timeText(minutes: number): string {
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60];
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}
