import type { Counts } from './measure.ts';

/** The highest count allowed, and why it is what it is. The last of a list holds: a new reason is a new line. */
export interface Limit {
  readonly max: number;
  readonly why: string;
}

export type Limits = Readonly<Record<string, readonly Limit[]>>;

/** Describes what rose above its limit, or has none; empty if nothing did. */
export function findRisen(counts: Counts, limits: Limits): string[] {
  return Object.entries(counts).flatMap(([name, count]) => {
    const max = limits[name]?.at(-1)?.max ?? null;
    if (max === null) return [`${name}: ${count}, where there was no such folder; split it`];
    return count > max ? [`${name}: ${count}, at most ${max}`] : [];
  });
}

/** Returns limits that are lowered to what was counted; those of what is gone are left out. */
export function lowered(counts: Counts, limits: Limits): Limits {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => {
      const kept = limits[name];
      const last = kept?.at(-1);
      if (kept === undefined || last === undefined) return [[name, [{ max: count, why: 'first count' }]]];
      return [[name, count < last.max ? [...kept.slice(0, -1), { ...last, max: count }] : kept]];
    }),
  );
}
