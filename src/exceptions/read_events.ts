import { earlierKeysOf, groupEvent, splittableMessage } from '#core/exceptions/grouping.ts';
import { toOccurrence } from '#core/exceptions/occurrence.ts';
import type { SeenEvent } from '#core/exceptions/seen_events.ts';
import type { ArrivedEvent, UnreadEvent } from '#ingest/packing/pack_events.ts';
import type { NoEvent } from '#ingest/protocols/sentry/event.ts';
import { AppError } from '#kernel/errors.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/run_with_time_limit.ts';

/** How long the content of senders may take to read and group before it is stopped, and the function that groups. */
export interface Reading {
  /** For all events of a job, and for those of a batch of jobs: a hundred times what they normally take. */
  readonly jobMs: number;
  /** For a single event. */
  readonly eventMs: number;
  readonly group: typeof groupEvent;
}

export const READING: Reading = { jobMs: 2_000, eventMs: 500, group: groupEvent };

/** Reads all of them within the time limit of a job. Throws for an event that cannot be read. */
export function readEvents(reading: Reading, unread: readonly UnreadEvent[]): (ArrivedEvent | NoEvent)[] {
  return runWithTimeLimit(reading.jobMs, () => unread.map(readEvent));
}

/** Finds the groups of all of them within the time limit of a job; `asSent` are the same before their frames were mapped. */
export function groupEvents(
  reading: Reading,
  events: readonly ArrivedEvent[],
  asSent: readonly ArrivedEvent[],
): SeenEvent[] {
  return runWithTimeLimit(reading.jobMs, () => events.map((event, index) => toSeen(reading, event, asSent[index])));
}

export function readEvent({ eventId, read }: UnreadEvent): ArrivedEvent | NoEvent {
  try {
    return read();
  } catch (cause) {
    throw new AppError('invalid_input', `event ${eventId} cannot be read`, { cause });
  }
}

export function isEvent(read: ArrivedEvent | NoEvent): read is ArrivedEvent {
  return typeof read !== 'string';
}

/** Whether a single event is read and grouped in time. Any other fault shows when it is really read. */
export function isReadInTime(reading: Reading, unread: UnreadEvent): boolean {
  try {
    runWithTimeLimit(reading.eventMs, () => {
      const event = unread.read();
      if (isEvent(event)) toSeen(reading, event);
    });
  } catch (error) {
    return !(error instanceof TimeLimitExceeded);
  }
  return true;
}

function toSeen(
  { group, eventMs }: Reading,
  { orgId, serviceId, event }: ArrivedEvent,
  asSent?: ArrivedEvent,
): SeenEvent {
  try {
    const earlierKeys = () => runWithTimeLimit(eventMs, () => earlierKeysOf(event, asSent?.event));
    const grouping = group(event);
    const said = () => runWithTimeLimit(eventMs, () => splittableMessage(event, grouping));
    return { orgId, serviceId, grouping, occurrence: toOccurrence(event), earlierKeys, said };
  } catch (cause) {
    throw new AppError('invalid_input', `no group can be found for event ${event.eventId}`, { cause });
  }
}
