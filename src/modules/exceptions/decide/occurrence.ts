import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import type { Fix } from '#modules/exceptions/decide/fix.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import { mergePattern } from '#modules/exceptions/decide/pattern.ts';
import { type Headline, headlineOf, titleOf } from '#modules/exceptions/decide/title.ts';
import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';
import { type EventDecision, onEventForGroup, worseLevel } from '#modules/exceptions/decide/triage.ts';
import { Temporal } from '#kernel/time.ts';

/** The part of an event that goes into its group. */
export interface Occurrence {
  readonly headline: Headline;
  readonly level: Level;
  readonly at: Temporal.Instant;
  readonly receivedAt: Temporal.Instant;
  readonly release: string | null;
}

/** Stored state of a group: facts from its events, and the decisions of people. */
export interface GroupState {
  readonly title: string;
  readonly type: string | null;
  readonly culprit: string | null;
  readonly pattern: string | null;
  readonly level: Level;
  readonly status: GroupStatus;
  readonly statusChangedAt: Temporal.Instant;
  readonly resolvedInRelease: string | null;
  /** Release in which people say that it is fixed; null when they did not say. */
  readonly fix: Fix | null;
  /** Time when a new event last reopened it; null once a person has changed the status since. */
  readonly regressedAt: Temporal.Instant | null;
  readonly firstSeenAt: Temporal.Instant;
  readonly lastSeenAt: Temporal.Instant;
  /** Releases of the first and the last event that named one. */
  readonly firstRelease: string | null;
  readonly lastRelease: string | null;
}

export function toOccurrence(event: ExceptionEvent): Occurrence {
  const { level, at, receivedAt, release } = event;
  return { headline: headlineOf(event), level, at, receivedAt, release };
}

/**
 * Returns the group after one more event, and the classification of the event. The order and repetition of events do
 * not change the level or when the group was first and last seen; the pattern, and the title with it, only becomes more
 * general.
 */
export function onOccurrence(
  group: GroupState | null,
  seen: Occurrence,
): { readonly state: GroupState; readonly decision: EventDecision } {
  if (group === null) return { state: firstState(seen), decision: 'new' };
  const decision = wasResolvedAfter(group, seen) ? 'known' : onEventForGroup(group, seen);
  const remembered = remember(group, seen);
  return { state: decision === 'regression' ? reopened(remembered, seen) : remembered, decision };
}

/** Whether the group was resolved after the event: one that waited in the queue meanwhile does not reopen it. */
function wasResolvedAfter(group: GroupState, seen: Occurrence): boolean {
  return group.status === 'resolved' && isBefore(seen.receivedAt, group.statusChangedAt);
}

function firstState({ headline, level, at, receivedAt, release }: Occurrence): GroupState {
  const pattern = headline.message === null ? null : mergePattern(null, headline.message);
  return {
    title: titleOf({ ...headline, message: pattern }),
    type: headline.type,
    culprit: headline.place,
    pattern,
    level,
    status: 'unresolved',
    statusChangedAt: receivedAt,
    resolvedInRelease: null,
    fix: null,
    regressedAt: null,
    firstSeenAt: at,
    lastSeenAt: at,
    firstRelease: release,
    lastRelease: release,
  };
}

function remember(group: GroupState, seen: Occurrence): GroupState {
  const { message } = seen.headline;
  const pattern = message === null ? group.pattern : mergePattern(group.pattern, message);
  const isFirst = isBefore(seen.at, group.firstSeenAt);
  const isLast = !isBefore(seen.at, group.lastSeenAt);
  return {
    ...group,
    pattern,
    title: titleOf({ type: group.type, message: pattern, place: group.culprit }),
    level: worseLevel(group.level, seen.level),
    firstSeenAt: isFirst ? seen.at : group.firstSeenAt,
    lastSeenAt: isLast ? seen.at : group.lastSeenAt,
    firstRelease: (isFirst ? seen.release : null) ?? group.firstRelease ?? seen.release,
    lastRelease: (isLast ? seen.release : null) ?? group.lastRelease ?? seen.release,
  };
}

function reopened(group: GroupState, seen: Occurrence): GroupState {
  return {
    ...group,
    status: 'unresolved',
    statusChangedAt: seen.receivedAt,
    regressedAt: seen.receivedAt,
    resolvedInRelease: null,
    fix: null,
  };
}

function isBefore(a: Temporal.Instant, b: Temporal.Instant): boolean {
  return Temporal.Instant.compare(a, b) < 0;
}
