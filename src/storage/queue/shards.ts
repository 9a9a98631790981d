import type { Temporal } from '#kernel/time.ts';

/** Number of shards of work that all processes of a role share. Stored queries compute the shard of a thing with it. */
export const SHARDS = 1_024;

/**
 * Returns the owner of a shard by rendezvous hashing: of all living members the one with the highest weight. Everybody
 * who knows the same members finds the same owner. A member that joins takes shards from the others and moves none
 * between them; the shards of one that leaves are spread over the rest. Null when nobody is alive.
 */
export function shardOwner(shard: number, members: readonly string[]): string | null {
  let owner: string | null = null;
  let highest = -1;
  for (const member of members) {
    const weight = weightOf(hashOf(member), shard);
    if (weight < highest || (weight === highest && owner !== null && owner < member)) continue;
    owner = member;
    highest = weight;
  }
  return owner;
}

/** Returns the shards of this member, in order. It counts as alive, whether or not the others know of it yet. */
export function shardsOf(member: string, members: readonly string[]): number[] {
  const alive = members.includes(member) ? members : [...members, member];
  return Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => shardOwner(shard, alive) === member);
}

/** Groups shards so that each group has at most `workMax` work, by the work of a shard; a shard is never cut. */
export function groupShards(work: ReadonlyMap<number, number>, workMax: number): number[][] {
  const groups: number[][] = [];
  let sum = Infinity;
  for (const [shard, weight] of work) {
    if (sum + weight > workMax) {
      groups.push([]);
      sum = 0;
    }
    groups.at(-1)?.push(shard);
    sum += weight;
  }
  return groups;
}

/** Time of failures after which a process gives its share away. */
const FAILING_SECONDS_MAX = 10;
/** Limit longer than any share takes from one time to the next. */
const DONE_LATELY_SECONDS = 30;

/**
 * Whether a process gives its share away because it cannot do it and others can: they may reach a store that it does
 * not reach. If all of them fail, giving away would only move the work to and fro.
 */
export function handsOverShare(
  failingSince: Temporal.Instant | null,
  othersDoneAt: readonly (Temporal.Instant | null)[],
  now: Temporal.Instant,
): boolean {
  if (failingSince === null || secondsBetween(failingSince, now) <= FAILING_SECONDS_MAX) return false;
  return othersDoneAt.some((doneAt) => doneAt !== null && secondsBetween(doneAt, now) <= DONE_LATELY_SECONDS);
}

/** Returns the absolute difference, since clocks may be set back. */
function secondsBetween(before: Temporal.Instant, other: Temporal.Instant): number {
  return Math.abs(other.epochMilliseconds - before.epochMilliseconds) / 1_000;
}

/** Hashes a text by FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** Computes a weight by Murmur's last steps, which spread every bit of the input over all of the result. */
function weightOf(hash: number, shard: number): number {
  let mixed = hash ^ Math.imul(shard + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
