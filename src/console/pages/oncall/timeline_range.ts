import type { TimelineView } from '#console/pages/oncall/timeline_filter.ts';

export const VIEW_NAMES: Record<TimelineView, string> = {
  week: 'Week',
  two_weeks: '2 weeks',
  month: 'Month',
  quarter: 'Quarter',
};

/** Range `[from, to)` in milliseconds, and the days in it, in the viewer's zone. */
export interface TimelineRange {
  readonly from: number;
  readonly to: number;
  readonly days: readonly TimelineDay[];
}

export interface TimelineDay {
  readonly start: number;
  readonly end: number;
}

/** Longest range whose days are marked; longer ones have room for weeks. */
const DAYS_MARKED_MAX = 35;

/** Weeks of each view: people look at what is to come, so a month does not begin with days that are over. */
const WEEKS: Record<TimelineView, number> = { week: 1, two_weeks: 2, month: 5, quarter: 13 };

/** Returns what is marked in a range: its days, or the weeks of a long one. */
export function marksOf({ days }: TimelineRange): readonly TimelineDay[] {
  if (days.length <= DAYS_MARKED_MAX) return days;
  const weeks: TimelineDay[] = [];
  for (const { start, end } of days) {
    const last = weeks.at(-1);
    if (last === undefined || new Date(start).getDay() === 1) weeks.push({ start, end });
    else weeks[weeks.length - 1] = { start: last.start, end };
  }
  return weeks;
}

/** Returns the range that begins with the week of a day, on its Monday. */
export function rangeOf(view: TimelineView, day: Date): TimelineRange {
  return daysBetween(mondayOf(day), addToRange(view, day, 1));
}

export function monthOf(day: Date): TimelineRange {
  const [year, month] = [day.getFullYear(), day.getMonth()];
  return daysBetween(localDay(year, month, 1), localDay(year, month + 1, 1));
}

/** Returns the range of so many days that begins with a day. */
export function rangeFrom(day: Date, count: number): TimelineRange {
  const [year, month, date] = [day.getFullYear(), day.getMonth(), day.getDate()];
  return daysBetween(localDay(year, month, date), localDay(year, month, date + count));
}

function daysBetween(first: Date, end: Date): TimelineRange {
  const days: TimelineDay[] = [];
  for (let start = first; start < end;) {
    const next = localDay(start.getFullYear(), start.getMonth(), start.getDate() + 1);
    // A day that the calendar of a zone skips has no length.
    if (next > start) days.push({ start: start.getTime(), end: next.getTime() });
    start = next > start ? next : localDay(start.getFullYear(), start.getMonth(), start.getDate() + 2);
  }
  return { from: first.getTime(), to: end.getTime(), days };
}

/** Returns the first day of the range, `by` ranges later. */
export function addToRange(view: TimelineView, day: Date, by: number): Date {
  const monday = mondayOf(day);
  return localDay(monday.getFullYear(), monday.getMonth(), monday.getDate() + 7 * WEEKS[view] * by);
}

function mondayOf(day: Date): Date {
  return localDay(day.getFullYear(), day.getMonth(), day.getDate() - ((day.getDay() + 6) % 7));
}

/** Returns the first instant of a day, which is not midnight where the clocks skip it. */
function localDay(year: number, month: number, date: number): Date {
  return new Date(year, month, date);
}

export function dayText(day: Date): string {
  const pad = (number: number) => String(number).padStart(2, '0');
  return `${day.getFullYear()}-${pad(day.getMonth() + 1)}-${pad(day.getDate())}`;
}

/** Parses a day; null if the text is not a day of the years 1971 to 2198, which the server accepts. */
export function findDay(text: string): Date | null {
  const [, year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || date === undefined || year < 1971 || year > 2198) return null;
  const day = localDay(year, month - 1, date);
  return day.getMonth() === month - 1 && day.getDate() === date ? day : null;
}

/** Returns the position of an instant in the range, in percent; instants outside are at its edges. */
export function placeOf(at: number, { from, to }: Pick<TimelineRange, 'from' | 'to'>): number {
  return (100 * (Math.min(Math.max(at, from), to) - from)) / (to - from);
}
