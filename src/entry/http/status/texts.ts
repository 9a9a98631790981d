import type { Temporal } from '#kernel/time.ts';
import type { Impact } from '#modules/status_pages/decide/publication.ts';

/** Sentence above a page, by the worst impact of what is open; for none, see `ALL_WELL`. */
export const HEADLINES: Readonly<Record<Impact, string>> = {
  degraded: 'Some services are degraded',
  partial_outage: 'Some services are partly out',
  outage: 'Some services are out',
};

export const ALL_WELL = 'No known problems';

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** Returns "29 Nov, 07:45 UTC". */
export function timeText(at: Temporal.Instant): string {
  return `${TIME.format(at.epochMilliseconds)} UTC`;
}

/** Returns "29 November 2026" for `2026-11-29`. */
export function dayText(day: string): string {
  return DAY.format(Date.parse(day));
}
