import type { ExceptionOverview } from '#console/api/exceptions.ts';
import { dateTimeText } from '#console/components/text/time_text.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';

/** Returns until when an exception is snoozed: `until 5 Feb, 09:00 or 100 more events`. */
export function snoozeText({ until, events, users }: NonNullable<ExceptionOverview['snoozed']>): string {
  const ends = [
    ...(until === null ? [] : [dateTimeText(until)]),
    ...(events === null ? [] : [`${events.toLocaleString()} more ${events === 1 ? 'event' : 'events'}`]),
    ...(users === null ? [] : [`${countText(users, 'user')} of further events`]),
  ];
  return `until ${ends.join(' or ')}`;
}
