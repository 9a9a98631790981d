const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats a duration in one or two units: `42 s`, `5 min`, `3 h 20 min`, `2 d`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return pair(seconds, HOUR, 'h', MINUTE, 'min');
  if (seconds < 14 * DAY) return pair(seconds, DAY, 'd', HOUR, 'h');
  return `${Math.floor(seconds / DAY)} d`;
}

function pair(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  const head = `${Math.floor(seconds / large)} ${largeName}`;
  return rest === 0 ? head : `${head} ${rest} ${smallName}`;
}

/** Formats the time left as `12:05`; `now` if none is left. */
export function countdownText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 0) return 'now';
  if (seconds >= DAY) return durationText(ms);
  const parts = [Math.floor(seconds / HOUR), Math.floor((seconds % HOUR) / MINUTE), seconds % MINUTE];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}

/** Returns the time since or until then; below 45 s `just now`, because seconds that change are hard to read. */
export function relativeText(at: number, now: number): string {
  const difference = at - now;
  if (Math.abs(difference) < 45_000) return 'just now';
  const text = coarseDurationText(Math.abs(difference));
  return difference < 0 ? `${text} ago` : `in ${text}`;
}

/** Formats a duration in one unit. */
export function coarseDurationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.round(seconds / MINUTE)} min`;
  if (seconds < 36 * HOUR) return `${Math.round(seconds / HOUR)} h`;
  if (seconds < 60 * DAY) return `${Math.round(seconds / DAY)} d`;
  return `${Math.round(seconds / DAY / 30)} months`;
}

const FULL = dateFormat({ dateStyle: 'full', timeStyle: 'long' });
const DATE_TIME = dateFormat({ dateStyle: 'medium', timeStyle: 'short' });
const DATE = dateFormat({ dateStyle: 'medium' });
const CLOCK = dateFormat({ timeStyle: 'medium' });

/** Formats a time, like the next functions, in the time zone of the viewer. */
export const fullText = (at: number | string): string => FULL.format(new Date(at));
export const dateTimeText = (at: number | string): string => DATE_TIME.format(new Date(at));
export const dateText = (at: number | string): string => DATE.format(new Date(at));
export const clockText = (at: number | string): string => CLOCK.format(new Date(at));

// Formats of numbers and times in the viewer's language. Each is created on first use: creating all of them at start
// takes a phone 200 ms in which it does not respond to touch.

/** Takes milliseconds since 1970 or a `Date`. Hours are those of a day of 24: nobody mistakes 3:00 for the afternoon. */
export function dateFormat(options: Intl.DateTimeFormatOptions): Pick<Intl.DateTimeFormat, 'format' | 'formatRange'> {
  let made: Intl.DateTimeFormat | undefined;
  const format = (): Intl.DateTimeFormat =>
    (made ??= new Intl.DateTimeFormat(undefined, { hourCycle: 'h23', ...options }));
  return { format: (at) => format().format(at), formatRange: (from, to) => format().formatRange(from, to) };
}

export function numberFormat(options?: Intl.NumberFormatOptions): (value: number) => string {
  let made: Intl.NumberFormat | undefined;
  return (value) => (made ??= new Intl.NumberFormat(undefined, options)).format(value);
}

/** A whole number with the separators of the viewer's language. */
export const wholeNumberText = numberFormat();
