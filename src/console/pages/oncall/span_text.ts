type Zone = string | undefined;

const FORMATS = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: Zone, hasYear: boolean): Intl.DateTimeFormat {
  const key = `${zone ?? ''} ${hasYear}`;
  const format =
    FORMATS.get(key) ??
    new Intl.DateTimeFormat(undefined, {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      hourCycle: 'h23',
      minute: '2-digit',
      ...(hasYear && { year: 'numeric' }),
      timeZone: zone,
    });
  FORMATS.set(key, format);
  return format;
}

const isOtherYear = (at: number): boolean => new Date(at).getFullYear() !== new Date().getFullYear();

/** Formats weekday, day and time, with the year if it is not this one, in the viewer's zone unless another is named. */
export function momentText(at: number, zone?: string): string {
  return formatOf(zone, isOtherYear(at)).format(at);
}

/** Returns a span as text; `until` is null if it never ends. */
export function spanText(since: number, until: number | null, zone?: string): string {
  if (until === null) return `from ${momentText(since, zone)}, without end`;
  return formatOf(zone, isOtherYear(since) || isOtherYear(until)).formatRange(since, until);
}

/** Whether people in this zone would write these times differently than the viewer. */
export function isOtherTime(zone: string, since: number, until: number | null): boolean {
  return spanText(since, until) !== spanText(since, until, zone);
}

export const viewerZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;
