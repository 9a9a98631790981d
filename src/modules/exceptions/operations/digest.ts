import type { Static } from 'typebox';

import type { FrameView, RecentEventView } from '#modules/exceptions/operations/recent_event.ts';
import type { ExceptionGroupView } from '#modules/exceptions/operations/view.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { GROUP_STATUSES } from '#modules/exceptions/decide/group_status.ts';

type Group = Static<typeof ExceptionGroupView>;
type RecentEvent = Static<typeof RecentEventView>;
type Frame = Static<typeof FrameView>;

interface GroupWithEvents {
  readonly recentEvents: readonly RecentEvent[];
  readonly dailyCounts: readonly { readonly date: string; readonly count: number }[];
}

/** Longest message of an event that is summarized in a line. */
const LINE_TEXT_MAX = 60;
/** Number of frames that are kept if all are of libraries: the last ones still say where it broke. */
const LIBRARY_FRAMES_KEPT = 5;

/** Sorts groups: unresolved ones first, the most severe before others, then what was seen last. */
export function mostUrgentGroups(groups: readonly Group[]) {
  const rank = ({ status, severity }: Group) => GROUP_STATUSES.indexOf(status) * 100 - LEVELS.indexOf(severity);
  return groups
    .toSorted((a, b) => rank(a) - rank(b) || (a.lastSeenAt < b.lastSeenAt ? 1 : -1))
    .map(
      ({
        groupId,
        status,
        severity,
        title,
        serviceId,
        eventCount,
        userCount,
        firstSeenAt,
        lastSeenAt,
        regressedAt,
      }) => ({
        groupId,
        status,
        severity,
        title,
        serviceId,
        eventCount,
        userCount,
        firstSeenAt,
        lastSeenAt,
        ...(regressedAt === null ? {} : { regressedAt }),
      }),
    );
}

/** Returns a group with its newest event but for frames of libraries; of every other a line that sets it apart. */
export function digestOfGroup({ recentEvents, dailyCounts, ...group }: GroupWithEvents): object {
  const [newest, ...others] = recentEvents;
  return {
    ...group,
    dailyCounts: dailyCounts.map(({ date, count }) => `${date}: ${count}`),
    recentEvents: newest === undefined ? [] : [withoutLibraryFrames(newest)],
    olderEvents: others.map(inOneLine),
  };
}

function withoutLibraryFrames(event: RecentEvent) {
  return {
    ...event,
    exceptions: event.exceptions.map((exception) => ({ ...exception, ...ownFrames(exception.frames) })),
    ...ownFrames(event.frames),
  };
}

function ownFrames(frames: readonly Frame[]) {
  const inAppFrames = frames.filter(({ inApp }) => inApp);
  const shown = inAppFrames.length > 0 ? inAppFrames : frames.slice(-LIBRARY_FRAMES_KEPT);
  const left = frames.length - shown.length;
  return {
    // The code around the raising call says most; for the other frames their place is enough.
    frames: shown.map(({ inApp: _, code, ...frame }, index) => {
      return { ...frame, ...(index === shown.length - 1 ? { code } : {}) };
    }),
    ...(left === 0 ? {} : { libraryFramesLeftOut: left }),
  };
}

function inOneLine({ eventId, at, release, environment, serverName, exceptions, message, user }: RecentEvent): string {
  const raised = exceptions.at(-1);
  const text = raised === undefined ? message : [raised.type, raised.value].filter((part) => part !== null).join(': ');
  const facts = [at, eventId, release, environment, serverName, user?.id ?? null].filter((fact) => fact !== null);
  return `${facts.join(' ')} ${(text ?? '').slice(0, LINE_TEXT_MAX).toWellFormed()}`;
}
