/**
 * Formats of numbers and times in the viewer's language. Each is created on first use: creating all of them at start
 * takes a phone 200 ms in which it does not respond to touch.
 */

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
