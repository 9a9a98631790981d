import { type Grouping, GROUPING_VERSION, type LearnableMessage } from '#modules/exceptions/decide/grouping.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import { type GroupState, type Occurrence, onOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import { type EventDecision, worseLevel } from '#modules/exceptions/decide/triage.ts';
import type { Id } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';

/** The group of a service that takes the events of all groups beyond its limit. */
export const OVERFLOW: Grouping = {
  version: GROUPING_VERSION,
  key: '0'.repeat(32),
  parts: [
    {
      strategy: 'fingerprint',
      because: 'the service exceeded its limit of new groups per minute; these are the events of the groups beyond it',
      lines: [],
    },
  ],
};

const HEADLINE = { type: null, message: 'More new exceptions than can be told apart', place: null };

/** Returns the event as the overflow group shows it: it says only that there are too many new groups. */
function overflowing(occurrence: Occurrence): Occurrence {
  return { ...occurrence, headline: HEADLINE };
}

export interface SeenEvent {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly grouping: Grouping;
  readonly occurrence: Occurrence;
  /** Returns the message if a stack groups the event; called only if a person has split a message off its group. */
  readonly said?: () => LearnableMessage | null;
}

/** Events of a batch that belong to one group, oldest first; at least one. */
export type GroupEvents = readonly [SeenEvent, ...SeenEvent[]];

/** Returns the identity of a group: a service and a grouping key. */
export function groupKeyOf(serviceId: Id<'service'>, key: string): string {
  return `${serviceId} ${key}`;
}

export function eventsByGroup(events: readonly SeenEvent[]): Map<string, GroupEvents> {
  const byGroup = new Map<string, [SeenEvent, ...SeenEvent[]]>();
  for (const event of events.toSorted((a, b) => Temporal.Instant.compare(a.occurrence.at, b.occurrence.at))) {
    const key = groupKeyOf(event.serviceId, event.grouping.key);
    const earlier = byGroup.get(key);
    if (earlier === undefined) byGroup.set(key, [event]);
    else earlier.push(event);
  }
  return byGroup;
}

/**
 * Returns the events; those of groups beyond their service's limit on new groups go to its overflow group. `begun` says
 * how many groups each service has begun within the last minute; `existing` are the keys of groups that are stored.
 */
export function withinGroupLimit(
  events: readonly SeenEvent[],
  existing: ReadonlySet<string>,
  begun: ReadonlyMap<string, number>,
  newPerMinute: number,
): readonly SeenEvent[] {
  const unknown = [...eventsByGroup(events)].filter(([key]) => !existing.has(key));
  const excess = new Set(
    [...Map.groupBy(unknown, ([, [{ serviceId }]]) => serviceId)].flatMap(([serviceId, ofService]) => {
      const room = Math.max(0, newPerMinute - (begun.get(serviceId) ?? 0));
      return ofService.slice(room).map(([key]) => key);
    }),
  );
  return events.map((event) =>
    excess.has(groupKeyOf(event.serviceId, event.grouping.key))
      ? { ...event, grouping: OVERFLOW, occurrence: overflowing(event.occurrence) }
      : event,
  );
}

/** Result of the events of a batch for one group. */
export interface GroupOutcome {
  readonly state: GroupState;
  /** Most telling of the decisions about the events. */
  readonly outcome: EventDecision;
  /** The event of that decision: the one that began the group or brought it back, else the first. */
  readonly deciding: SeenEvent;
  /** Worst level of that event and those after it. */
  readonly level: Level;
}

/** Returns those of the events that would reopen the group if they were not stored yet. */
export function listReopening(group: GroupState, events: GroupEvents): SeenEvent[] {
  if (group.status !== 'resolved') return [];
  return events.filter(({ occurrence }) => onOccurrence(group, occurrence).decision === 'regression');
}

/** Returns the group after all of these events. */
export function onOccurrences(
  group: GroupState | null,
  events: GroupEvents,
  isStored: (event: SeenEvent) => boolean = () => false,
): GroupOutcome {
  const [first, ...others] = events;
  let { state, decision: outcome } = onOccurrence(group, first.occurrence, isStored(first));
  let deciding = first;
  let { level } = first.occurrence;
  for (const event of others) {
    const { occurrence } = event;
    const after = onOccurrence(state, occurrence, isStored(event));
    state = after.state;
    level = worseLevel(level, occurrence.level);
    if (after.decision !== 'regression') continue;
    outcome = 'regression';
    deciding = event;
    ({ level } = occurrence);
  }
  return { state, outcome, deciding, level };
}

/** An event that reopens its group, unless it is stored already and was sent again. */
export interface ReopeningEvent {
  readonly groupId: Id<'group'>;
  readonly event: SeenEvent;
}

/** Thrown to end a transaction: the events are to be looked up, and the transaction is repeated. */
export class UncheckedEvents extends Error {
  readonly reopening: readonly ReopeningEvent[];

  constructor(reopening: readonly ReopeningEvent[]) {
    super('events that reopen groups have to be looked up first');
    this.reopening = reopening;
  }
}

/** Events of a batch that were looked up, and whether each is stored already. */
export class CheckedEvents {
  readonly #isStored = new Map<string, boolean>();

  set({ serviceId, occurrence }: SeenEvent, isStored: boolean): void {
    this.#isStored.set(`${serviceId} ${occurrence.eventId}`, isStored);
  }

  /** Returns whether it is stored; undefined if it was not looked up. */
  get({ serviceId, occurrence }: SeenEvent): boolean | undefined {
    return this.#isStored.get(`${serviceId} ${occurrence.eventId}`);
  }
}

type Shown = Pick<GroupState, 'title' | 'level' | 'status'>;

/** Whether a person sees it as a change of the group itself; one event more is none. */
export function isNoticeable(before: Shown, after: Shown): boolean {
  return before.title !== after.title || before.level !== after.level || before.status !== after.status;
}
