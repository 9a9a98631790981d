import { dateFormat } from '#console/components/text/time_text.ts';

/** Period that a page shows: a number of minutes until now, or between two times, in epoch milliseconds. */
export type TimeRange =
  | { readonly kind: 'last'; readonly minutes: number }
  | { readonly kind: 'between'; readonly from: number; readonly to: number };

/** Range in an address: `range=3h`, or `from` and `to`. */
export interface RangeSearch {
  readonly range?: string;
  readonly from?: number;
  readonly to?: number;
}

const HOUR = 60;
const DAY = 24 * HOUR;

export const RANGES: readonly { readonly name: string; readonly minutes: number; readonly label: string }[] = [
  { name: '15m', minutes: 15, label: 'Last 15 minutes' },
  { name: '1h', minutes: HOUR, label: 'Last hour' },
  { name: '3h', minutes: 3 * HOUR, label: 'Last 3 hours' },
  { name: '12h', minutes: 12 * HOUR, label: 'Last 12 hours' },
  { name: '1d', minutes: DAY, label: 'Last 24 hours' },
  { name: '2d', minutes: 2 * DAY, label: 'Last 2 days' },
  { name: '7d', minutes: 7 * DAY, label: 'Last 7 days' },
  { name: '30d', minutes: 30 * DAY, label: 'Last 30 days' },
];

const DEFAULT_RANGE: TimeRange = { kind: 'last', minutes: HOUR };

const MINUTE_MS = 60_000;
/** Longest range that the server answers. */
const MINUTES_MAX = 400 * DAY;

export function readRangeSearch(search: Record<string, unknown>): RangeSearch {
  const [from, to] = [Number(search['from'] ?? Number.NaN), Number(search['to'] ?? Number.NaN)];
  const isPeriod = Number.isSafeInteger(from) && Number.isSafeInteger(to) && to - from >= MINUTE_MS;
  if (isPeriod && to - from <= MINUTES_MAX * MINUTE_MS && from >= 0 && to < 8.64e15) return { from, to };
  const { range } = search;
  return typeof range === 'string' && RANGES.some(({ name }) => name === range) ? { range } : {};
}

/** Whether the range is the default, which the address leaves out. */
export function isDefault(range: TimeRange): boolean {
  return range.kind === 'last' && range.minutes === HOUR;
}

export function rangeOf({ range, from, to }: RangeSearch, fallback = DEFAULT_RANGE): TimeRange {
  if (from !== undefined && to !== undefined) return { kind: 'between', from, to };
  const preset = RANGES.find(({ name }) => name === range);
  return preset === undefined ? fallback : { kind: 'last', minutes: preset.minutes };
}

/** Returns the parameters of an address for the range; the others are undefined. */
export function searchOf(range: TimeRange): {
  range: string | undefined;
  from: number | undefined;
  to: number | undefined;
} {
  if (range.kind === 'between') return { range: undefined, from: range.from, to: range.to };
  const name = RANGES.find(({ minutes }) => minutes === range.minutes)?.name;
  return { range: name, from: undefined, to: undefined };
}

/** Returns the period that somebody dragged: at least a minute. */
export function betweenOf(from: number, to: number): TimeRange {
  const middle = (from + to) / 2;
  const half = Math.min(Math.max((to - from) / 2, MINUTE_MS / 2), (MINUTES_MAX * MINUTE_MS) / 2);
  return { kind: 'between', from: Math.floor(middle - half), to: Math.ceil(middle + half) };
}

const SHORT = dateFormat({ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' });

export function rangeText(range: TimeRange): string {
  if (range.kind === 'between') return SHORT.formatRange(range.from, range.to);
  return RANGES.find(({ minutes }) => minutes === range.minutes)?.label ?? `Last ${range.minutes} minutes`;
}
