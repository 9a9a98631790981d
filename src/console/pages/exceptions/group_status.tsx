import type { ExceptionOverview, GroupStatus } from '#console/api/exceptions.ts';
import { Status, type Tone } from '#console/components/status.tsx';
import { dateTimeText } from '#console/components/text/time_text.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';

const TONES: Record<GroupStatus, Tone> = { unresolved: 'red', resolved: 'green', ignored: 'gray' };

export const STATUS_NAMES: Record<GroupStatus, string> = {
  unresolved: 'Unresolved',
  resolved: 'Resolved',
  ignored: 'Ignored',
};

interface GroupStatusBadgeProps {
  readonly status: GroupStatus;
  /** Whether it is ignored only for a while. */
  readonly isSnoozed?: boolean;
}

export function GroupStatusBadge({ status, isSnoozed = false }: GroupStatusBadgeProps) {
  return <Status tone={TONES[status]}>{isSnoozed ? 'Snoozed' : STATUS_NAMES[status]}</Status>;
}

/** Returns until when an exception is snoozed: `until 5 Feb, 09:00 or 100 more events`. */
export function snoozeText({ until, events, users }: NonNullable<ExceptionOverview['snoozed']>): string {
  const ends = [
    ...(until === null ? [] : [dateTimeText(until)]),
    ...(events === null ? [] : [`${events.toLocaleString()} more ${events === 1 ? 'event' : 'events'}`]),
    ...(users === null ? [] : [`${countText(users, 'user')} of further events`]),
  ];
  return `until ${ends.join(' or ')}`;
}
