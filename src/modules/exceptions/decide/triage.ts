import { type ExceptionEvent, reportedException } from '#modules/exceptions/decide/event.ts';
import { type Fix, isBeforeFix } from '#modules/exceptions/decide/fix.ts';
import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';
import { type Level, LEVELS } from '#modules/exceptions/decide/level.ts';
import { isOlderRelease } from '#modules/releases/decide/release.ts';

/** Whether a level reaches the `minSeverity` of a rule. */
export function isAtLeast(level: Level, minimum: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(minimum);
}

/** Returns the worse of two: a group's severity is the worst level seen. */
export function worseLevel(a: Level, b: Level): Level {
  return isAtLeast(a, b) ? a : b;
}

/** State of the group when the event came; null when the event is its first. */
export interface KnownGroup {
  readonly status: GroupStatus;
  /** The release in which someone resolved it, when that was said. */
  readonly resolvedInRelease: string | null;
  /** Release in which it is fixed, if that was said. */
  readonly fix: Fix | null;
}

/** Classification of an event. `new` and `regression` count for exception rules; `known` and `ignored` alert nobody. */
export type EventDecision = 'new' | 'regression' | 'known' | 'ignored';

/**
 * Decides the effect of an event on its group: an ignored group stays ignored; a resolved one reopens, unless the event
 * comes from a release known to be older than the one it was resolved in, or to be without the fix that was named.
 */
export function onEventForGroup(group: KnownGroup | null, event: Pick<ExceptionEvent, 'release'>): EventDecision {
  if (group === null) return 'new';
  switch (group.status) {
    case 'unresolved':
      return 'known';
    case 'ignored':
      return 'ignored';
    case 'resolved':
      return isFromBefore(group, event.release) ? 'known' : 'regression';
  }
}

function isFromBefore({ resolvedInRelease, fix }: KnownGroup, release: string | null): boolean {
  return fix === null ? isOlderRelease(release, resolvedInRelease) : isBeforeFix(fix, release);
}

export interface Trend {
  readonly direction: 'new' | 'rising' | 'steady' | 'falling' | 'quiet';
  /** Change in whole percents against the week before; null when nothing happened in it. */
  readonly changePercent: number | null;
}

const STEADY_PERCENT = 20;

/** Compares the events of the last 7 days with those of the 7 days before. A change within 20 % is steady. */
export function trendOf(thisWeek: number, weekBefore: number): Trend {
  if (thisWeek === 0) return { direction: 'quiet', changePercent: weekBefore === 0 ? null : -100 };
  if (weekBefore === 0) return { direction: 'new', changePercent: null };
  const changePercent = Math.round(((thisWeek - weekBefore) / weekBefore) * 100);
  if (Math.abs(changePercent) <= STEADY_PERCENT) return { direction: 'steady', changePercent };
  return { direction: changePercent > 0 ? 'rising' : 'falling', changePercent };
}

/** Whether the exception was handled: false if nothing in the application caught it; null if the client did not say. */
export function isHandled(event: ExceptionEvent): boolean | null {
  const answers = event.exceptions.map((exception) => exception.mechanism?.handled ?? null);
  if (answers.includes(false)) return false;
  return reportedException(event)?.mechanism?.handled ?? null;
}

/** Returns the identity that tells users apart for `users affected`: the best one the client gave, or null. */
export function userKeyOf(event: ExceptionEvent): string | null {
  const user = event.user;
  if (user === null) return null;
  const named = [user.id && `id:${user.id}`, user.email && `email:${user.email.toLowerCase()}`];
  return [...named, user.username && `username:${user.username}`, user.ip && `ip:${user.ip}`].find(Boolean) ?? null;
}
