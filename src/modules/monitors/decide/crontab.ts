import { fault, ok, type Parsed, shown } from '#modules/contacts/decide/parsed.ts';
import { Temporal } from '#kernel/time.ts';

/** The five fields of a crontab line. */
export interface Crontab {
  /** Minutes since midnight, ascending. */
  readonly times: readonly number[];
  /** Days of the month, LAST_DAY and LAST_WORKDAY. */
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** Days of the week, and those that are the nth of their month, by `nthWeekday`; 0 is Sunday. */
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
const WEEKDAY: Field = { name: 'weekday', min: 0, max: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] };

/** Days of the month beyond the numbers: `L`, and `LW` for the last one from Monday to Friday. */
const [LAST_DAY, LAST_WORKDAY] = [32, 33];
/** Stands for n of a weekday that is the last of its month: `5L`. */
const LAST = 6;

/** Value for the nth of a weekday in its month: `5#2` is the second Friday. */
const nthWeekday = (n: number, weekday: number): number => n * 10 + (weekday % 7);

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

/**
 * Parses a line of five fields with lists, ranges, steps, English names and the days `L`, `LW`, `5L` and `5#2`, or a
 * nickname such as `@daily`.
 */
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
    weekdays: new Set(listed(weekdays).map((weekday) => (weekday === WEEKDAY.max ? 0 : weekday))),
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
    const special = specialDay(part, field);
    if (special !== null) {
      values.add(special);
      continue;
    }
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

/** Returns the value of a day that is counted from an end of its month; null for any other part. */
function specialDay(part: string, field: Field): number | null {
  if (field === DAY) return part === 'l' ? LAST_DAY : part === 'lw' ? LAST_WORKDAY : null;
  const [, weekdayText = '', nth] = (field === WEEKDAY && /^(\w{1,3}?)(?:l|#([1-5]))$/.exec(part)) || [];
  const weekday = valueOf(weekdayText, field);
  if (weekday === null || weekday > field.max) return null;
  return nthWeekday(nth === undefined ? LAST : Number(nth), weekday);
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
  if (isEitherDay || days.has(LAST_DAY) || days.has(LAST_WORKDAY)) return true;
  return [...months].some((month) => Math.min(...days) <= (DAYS_OF_MONTHS[month - 1] ?? 0));
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
  const left = day.daysInMonth - day.day;
  const isDay =
    days.has(day.day) || (left === 0 && days.has(LAST_DAY)) || (days.has(LAST_WORKDAY) && isLastWorkday(day, left));
  const isWeekday =
    weekdays.has(day.dayOfWeek % 7) ||
    weekdays.has(nthWeekday(Math.ceil(day.day / 7), day.dayOfWeek)) ||
    (left < 7 && weekdays.has(nthWeekday(LAST, day.dayOfWeek)));
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
}

/** Whether no day from Monday to Friday is left in the month after this one, which is one. */
function isLastWorkday({ dayOfWeek }: Temporal.PlainDate, left: number): boolean {
  return dayOfWeek <= 5 && (left === 0 || (dayOfWeek === 5 && left <= 2));
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
