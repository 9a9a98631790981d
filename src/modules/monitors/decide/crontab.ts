import { fault, ok, type Parsed, shown } from '#modules/contacts/decide/parsed.ts';
import { Temporal } from '#kernel/time.ts';

/** The five fields of a crontab line. */
export interface Crontab {
  /** Minutes since midnight, ascending. */
  readonly times: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** Days of the week; 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** Whether a day counts that either field names, as in cron when neither begins with `*`. */
  readonly isEitherDay: boolean;
  /** Whether the minute or the hour begins with `*`: it runs by elapsed time, in an hour that comes twice as well. */
  readonly isRepeating: boolean;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MINUTE: Field = { name: 'minute', min: 0, max: 59, names: [] };
const HOUR: Field = { name: 'hour', min: 0, max: 23, names: [] };
const DAY: Field = { name: 'day of the month', min: 1, max: 31, names: [] };
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH: Field = { name: 'month', min: 1, max: 12, names: MONTHS };
const WEEKDAY: Field = {
  name: 'weekday',
  min: 0,
  max: 7,
  names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
};

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const LENGTH_MAX = 200;

/** Parses a line of five fields with lists, ranges, steps and English names, or a nickname such as `@daily`. */
export function parseCrontab(text: string, path: string): Parsed<Crontab> {
  if (text.length > LENGTH_MAX) return fault(path, `${shown(text)} is longer than ${LENGTH_MAX} characters`);
  const line = text.trim().toLowerCase();
  const [minute, hour, day, month, weekday, ...rest] = (NICKNAMES[line] ?? line).split(/\s+/);
  if (minute === undefined || hour === undefined || day === undefined || month === undefined || weekday === undefined) {
    return fault(path, `${shown(text)} is no crontab: give five fields, for example "0 4 * * *"`);
  }
  if (rest.length > 0) {
    return fault(path, `${shown(text)} has more than five fields: crontabs with seconds are not supported`);
  }
  const minutes = valuesOf(minute, MINUTE);
  const hours = valuesOf(hour, HOUR);
  const days = valuesOf(day, DAY);
  const months = valuesOf(month, MONTH);
  const weekdays = valuesOf(weekday, WEEKDAY);
  const wrong = [minutes, hours, days, months, weekdays].find((values) => typeof values === 'string');
  if (typeof wrong === 'string') return fault(path, `${shown(text)} is no crontab: ${wrong}`);
  const listed = (values: readonly number[] | string): readonly number[] => (typeof values === 'string' ? [] : values);
  const crontab: Crontab = {
    times: listed(hours).flatMap((hour) => listed(minutes).map((other) => hour * 60 + other)),
    days: new Set(listed(days)),
    months: new Set(listed(months)),
    weekdays: new Set(listed(weekdays).map((weekday) => weekday % 7)),
    isEitherDay: !isStar(day) && !isStar(weekday),
    isRepeating: isStar(minute) || isStar(hour),
  };
  return canRun(crontab) ? ok(crontab) : fault(path, `${shown(text)} names a day that never comes`);
}

function isStar(field: string): boolean {
  return field.startsWith('*') || field === '?';
}

/** Returns the values of a field, ascending, or its fault. */
function valuesOf(text: string, field: Field): readonly number[] | string {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [range = '', stepText, ...more] = part.split('/');
    const step = stepText === undefined ? 1 : wholeNumber(stepText);
    if (more.length > 0 || step === null || step < 1) return `the step of ${shown(part)} is no number above 0`;
    const bounds = boundsOf(range, field, stepText !== undefined);
    if (bounds === null) {
      return `the ${field.name} ${shown(part)} is not between ${field.min} and ${field.max}, nor a range or list of such`;
    }
    for (let value = bounds[0]; value <= bounds[1]; value += step) values.add(inField(value, field));
  }
  return [...values].toSorted((a, b) => a - b);
}

/** Returns how many different values a field has: a weekday of 7 is Sunday again. */
function sizeOf(field: Field): number {
  return field === WEEKDAY ? 7 : field.max - field.min + 1;
}

/** Wraps a value beyond the end, as of a range such as `22-2` or `sat-sun`. */
function inField(value: number, field: Field): number {
  return value <= field.max ? value : field.min + ((value - field.min) % sizeOf(field));
}

/** Returns the bounds of a range. The second is beyond the end of the field if the range wraps. */
function boundsOf(range: string, field: Field, hasStep: boolean): readonly [number, number] | null {
  const { min, max } = field;
  // A weekday of 7 is Sunday again, so the range of all weekdays is 0 to 6.
  const last = field === WEEKDAY ? 6 : max;
  if (range === '*' || range === '?') return [min, last];
  const [fromText = '', toText, ...more] = range.split('-');
  const from = valueOf(fromText, field);
  const to = toText === undefined ? (hasStep ? last : from) : valueOf(toText, field);
  if (more.length > 0 || from === null || to === null || from < min || to < min || from > max || to > max) return null;
  return [from, from <= to ? to : from + ((to - from + sizeOf(field)) % sizeOf(field))];
}

function valueOf(text: string, { min, names }: Field): number | null {
  const named = names.indexOf(text);
  return named === -1 ? wholeNumber(text) : named + min;
}

function wholeNumber(text: string): number | null {
  return /^\d{1,4}$/.test(text) ? Number(text) : null;
}

const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Whether it can ever run: a weekday comes in each month, but a day of the month may be one that no month named has.
 */
function canRun({ days, months, isEitherDay }: Crontab): boolean {
  return isEitherDay || [...months].some((month) => Math.min(...days) <= (DAYS_OF_MONTHS[month - 1] ?? 0));
}

/** Limit on the years searched: February 29 may be a given weekday after 40 years, over a century without leap day. */
const YEARS_MAX = 41;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/**
 * Returns the first run after an instant, as cron has it: a time of day that the clocks skip runs when they have been
 * put forward, and one that comes twice runs the first time, unless the line runs by elapsed time. Null when none comes
 * in 41 years.
 */
export function nextRun(crontab: Crontab, zone: string, after: Temporal.Instant): Temporal.Instant | null {
  let day = after.toZonedDateTimeISO(zone).toPlainDate();
  const lastYear = day.year + YEARS_MAX;
  while (day.year <= lastYear) {
    if (!crontab.months.has(day.month)) {
      day = day.with({ day: 1 }).add({ months: 1 });
      continue;
    }
    const runMs = isOnDay(crontab, day) ? firstOfDay(crontab, zone, day, after.epochMilliseconds) : null;
    if (runMs !== null) return Temporal.Instant.fromEpochMilliseconds(runMs);
    day = day.add({ days: 1 });
  }
  return null;
}

function isOnDay({ days, weekdays, isEitherDay }: Crontab, day: Temporal.PlainDate): boolean {
  const [isDay, isWeekday] = [days.has(day.day), weekdays.has(day.dayOfWeek % 7)];
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
}

/** A part of a day in which the clocks are not changed. */
interface Stretch {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
}

function firstOfDay(
  { times, isRepeating }: Crontab,
  zone: string,
  day: Temporal.PlainDate,
  afterMs: number,
): number | null {
  const midnightMs = Temporal.Instant.from(`${day.toString()}T00:00Z`).epochMilliseconds;
  const stretches = stretchesOf(day, zone);
  let first: number | null = null;
  for (const time of times) {
    const localMs = midnightMs + time * MINUTE_MS;
    for (const runMs of runsAt(localMs, stretches, isRepeating)) {
      if (runMs > afterMs && (first === null || runMs < first)) first = runMs;
    }
    if (first !== null && stretches.length === 1) return first;
  }
  return first;
}

/** Returns the instants at which a time of day comes: none, one or two. */
function runsAt(localMs: number, stretches: readonly Stretch[], isRepeating: boolean): readonly number[] {
  const runs = stretches
    .filter(({ fromMs, untilMs, offsetMs }) => localMs - offsetMs >= fromMs && localMs - offsetMs < untilMs)
    .map(({ offsetMs }) => localMs - offsetMs);
  if (isRepeating) return runs;
  if (runs.length > 0) return runs.slice(0, 1);
  const later = stretches.find(({ fromMs, offsetMs }) => fromMs + offsetMs > localMs);
  const last = stretches.at(-1);
  return later === undefined ? (last === undefined ? [] : [last.untilMs]) : [later.fromMs];
}

function stretchesOf(day: Temporal.PlainDate, zone: string): readonly Stretch[] {
  const [begin, end] = [day.toZonedDateTime(zone), day.add({ days: 1 }).toZonedDateTime(zone)];
  const [fromMs, endMs] = [begin.epochMilliseconds, end.epochMilliseconds];
  const offsetMs = begin.offsetNanoseconds / 1e6;
  if (endMs - fromMs === DAY_MS && begin.offsetNanoseconds === end.offsetNanoseconds) {
    return [{ fromMs, untilMs: endMs, offsetMs }];
  }
  const stretches: Stretch[] = [];
  for (let at = begin; at.epochMilliseconds < endMs;) {
    const next = at.getTimeZoneTransition('next');
    const until = next === null || next.epochMilliseconds >= endMs ? end : next;
    stretches.push({
      fromMs: at.epochMilliseconds,
      untilMs: until.epochMilliseconds,
      offsetMs: at.offsetNanoseconds / 1e6,
    });
    at = until;
  }
  return stretches;
}
