import type { Temporal } from '#kernel/time.ts';

/** Work that all processes of a role share is cut into this many parts. Stored queries compute the part of a thing with it. */
export const PARTS = 1_024;

/**
 * Whose a part is, by rendezvous hashing: of all who are alive the one with the highest weight. Everybody who knows the
 * same members finds the same owner. A member that comes takes parts from the others and moves none between them; the
 * parts of one that goes are spread over those that stay. Null when nobody is alive.
 */
export function ownerOf(part: number, members: readonly string[]): string | null {
  let owner: string | null = null;
  let highest = -1;
  for (const member of members) {
    const weight = weightOf(hashOf(member), part);
    if (weight < highest || (weight === highest && owner !== null && owner < member)) continue;
    owner = member;
    highest = weight;
  }
  return owner;
}

/** The parts that fall to this member, in order. It counts as alive, whether or not the others know of it yet. */
export function partsOf(member: string, members: readonly string[]): number[] {
  const alive = members.includes(member) ? members : [...members, member];
  return Array.from({ length: PARTS }, (_, part) => part).filter((part) => ownerOf(part, alive) === member);
}

/** These parts in groups of at most so much work each, by the work of a part; a part is never cut. */
export function groupParts(work: ReadonlyMap<number, number>, workMax: number): number[][] {
  const groups: number[][] = [];
  let sum = Infinity;
  for (const [part, own] of work) {
    if (sum + own > workMax) {
      groups.push([]);
      sum = 0;
    }
    groups.at(-1)?.push(part);
    sum += own;
  }
  return groups;
}

/** A process whose share has failed for so long gives it away. */
const FAILING_SECONDS_MAX = 10;
/** Longer than any share takes from one time to the next. */
const DONE_LATELY_SECONDS = 30;

/**
 * Whether a process gives its share away because it cannot do it and others can: they may reach a store that it does not
 * reach. If all of them fail, giving away would only move the work to and fro.
 */
export function handsOverShare(
  failingSince: Temporal.Instant | null,
  othersDoneAt: readonly (Temporal.Instant | null)[],
  now: Temporal.Instant,
): boolean {
  if (failingSince === null || secondsBetween(failingSince, now) <= FAILING_SECONDS_MAX) return false;
  return othersDoneAt.some((doneAt) => doneAt !== null && secondsBetween(doneAt, now) <= DONE_LATELY_SECONDS);
}

/** Whichever is earlier: clocks are set back. */
function secondsBetween(one: Temporal.Instant, other: Temporal.Instant): number {
  return Math.abs(other.epochMilliseconds - one.epochMilliseconds) / 1_000;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** Murmur's last steps, which spread every bit of the input over all of the result. */
function weightOf(hash: number, part: number): number {
  let mixed = hash ^ Math.imul(part + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
