import { groupEvent, splittableMessage } from '#modules/exceptions/decide/grouping.ts';
import { toOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import type { SeenEvent } from '#modules/exceptions/decide/seen_events.ts';
import type { ArrivedEvent, UnreadEvent } from '#ingest/packing/pack_events.ts';
import type { NoEvent } from '#ingest/protocols/sentry/event.ts';
import { AppError } from '#kernel/errors.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/threads/run_with_time_limit.ts';
import { FairTurns } from '#kernel/threads/fair_turns.ts';

/** Time limits for reading and grouping the content of senders, and the function that groups. */
export interface Reading {
  /** Limit for a single event: ten times what the most expensive one takes. */
  readonly eventMs: number;
  readonly group: typeof groupEvent;
}

export const READING: Reading = { eventMs: 1_000, group: groupEvent };

/** Everybody's on this thread. */
const turns = new FairTurns();

/** Reads them in turns of their organization. Throws for an event that cannot be read, or not in time. */
export async function readEvents(
  reading: Reading,
  unread: readonly UnreadEvent[],
): Promise<(ArrivedEvent | NoEvent)[]> {
  return await turns.map(unread[0]?.orgId ?? '', unread, readEvent, withinTimeOf(reading));
}

/** Finds their groups in turns. */
export async function groupEvents(reading: Reading, events: readonly ArrivedEvent[]): Promise<SeenEvent[]> {
  const orgIds = new Set(events.map(({ orgId }) => orgId));
  const turnOf = orgIds.size === 1 ? [...orgIds].join('') : SHARED;
  const group = (event: ArrivedEvent): SeenEvent => toSeen(reading, event);
  return await turns.map(turnOf, events, group, withinTimeOf(reading));
}

/** The turn of a batch of several organizations. */
const SHARED = 'shared';

type WithinTime = (turn: () => void) => void;

/** Time limits by their length: work with the same limit shares turns. */
const withinTime = new Map<number, WithinTime>();

function withinTimeOf({ eventMs }: Reading): WithinTime {
  const within: WithinTime = withinTime.get(eventMs) ?? ((turn) => runWithTimeLimit(eventMs, turn));
  withinTime.set(eventMs, within);
  return within;
}

/**
 * Returns the events that cannot be read and grouped in time by themselves. Any other fault shows when they are really
 * read.
 */
export async function listSlow(reading: Reading, unread: readonly UnreadEvent[]): Promise<readonly UnreadEvent[]> {
  const inTime = await turns.map(unread[0]?.orgId ?? '', unread, (event) => isReadInTime(reading, event));
  return unread.filter((_, index) => inTime[index] === false);
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

function isReadInTime(reading: Reading, unread: UnreadEvent): boolean {
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

function toSeen({ group, eventMs }: Reading, { orgId, serviceId, event }: ArrivedEvent): SeenEvent {
  try {
    const grouping = group(event);
    const said = () => runWithTimeLimit(eventMs, () => splittableMessage(event, grouping));
    return { orgId, serviceId, grouping, occurrence: toOccurrence(event), said };
  } catch (cause) {
    throw new AppError('invalid_input', `no group can be found for event ${event.eventId}`, { cause });
  }
}
