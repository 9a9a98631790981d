import type { HoursInFile } from '#modules/configuration/decide/file_fields.ts';

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
