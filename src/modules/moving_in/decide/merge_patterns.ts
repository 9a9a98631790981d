import {
  greatestDivisor,
  HOUR_MS,
  type Pattern,
  smallestMultiple,
  turnAtWall,
  WEEK_MINUTES,
  WEEK_MS,
  type WeekSpan,
} from '#modules/moving_in/decide/pattern.ts';

export const LAYERS_MAX = 10;
export const TURNS_MAX = 1_000;
export const WINDOWS_MAX = 50;

/**
 * Merges patterns that are on call together into patterns that never hold at the same time: one for each set of them
 * that begins and ends bring together, and hours, whose turns name the people of all. Says in the form that follows
 * "because" why not.
 */
export function mergePatterns(patterns: readonly Pattern[], since: number): Pattern[] | { readonly because: string } {
  const beginOf = ({ from }: Pattern): number => Math.max(from ?? since, since);
  const endOf = ({ until }: Pattern): number => until ?? Infinity;
  const edges = [...new Set(patterns.flatMap((pattern) => [beginOf(pattern), endOf(pattern)]))].toSorted(
    (a, b) => a - b,
  );
  const merged: Pattern[] = [];
  for (const [index, from] of edges.entries()) {
    const until = edges[index + 1];
    if (until === undefined) break;
    const running = patterns.filter((pattern) => beginOf(pattern) <= from && until <= endOf(pattern));
    for (const { members, hours } of setsOf(running)) {
      const turns = mergeTurns(members);
      if ('because' in turns) return turns;
      const names = members.map(({ name }) => name).join(' + ');
      merged.push({
        name: names.slice(0, 200),
        level: members[0]?.level ?? 0,
        ...turns,
        hours,
        from: from > since ? from : null,
        until: until === Infinity ? null : until,
      });
    }
  }
  return merged;
}

interface PatternSet {
  readonly members: readonly Pattern[];
  readonly hours: readonly WeekSpan[] | null;
}

/** Returns the sets of patterns that the hours of the week bring together, each with its hours. */
function setsOf(patterns: readonly Pattern[]): PatternSet[] {
  const edges = new Set([0, WEEK_MINUTES]);
  for (const { hours } of patterns) for (const { from, to } of hours ?? []) edges.add(from).add(to);
  const ordered = [...edges].toSorted((a, b) => a - b);
  const sets = new Map<string, { members: Pattern[]; hours: WeekSpan[] }>();
  for (const [index, from] of ordered.entries()) {
    const to = ordered[index + 1];
    if (to === undefined) break;
    const members = patterns.filter(
      ({ hours }) => hours === null || hours.some((span) => span.from <= from && to <= span.to),
    );
    if (members.length === 0) continue;
    const key = members.map((pattern) => patterns.indexOf(pattern)).join(' ');
    const set = sets.get(key) ?? { members, hours: [] };
    sets.set(key, set);
    const last = set.hours.at(-1);
    if (last !== undefined && last.to === from) set.hours[set.hours.length - 1] = { from: last.from, to };
    else set.hours.push({ from, to });
  }
  return [...sets.values()].map(({ members, hours }) => {
    const [only] = hours;
    const isAlways = only !== undefined && only.from === 0 && only.to === WEEK_MINUTES;
    return { members, hours: isAlways ? null : hours };
  });
}

/** Returns turns that name the people of all patterns at each time. */
function mergeTurns(
  members: readonly Pattern[],
): Pick<Pattern, 'anchorWall' | 'length' | 'turns'> | { readonly because: string } {
  const changing = members.filter(({ turns }) => turns.length > 1);
  const [first] = changing;
  if (first === undefined) {
    const people = [...new Set(members.flatMap(({ turns }) => turns[0] ?? []))];
    return { anchorWall: members[0]?.anchorWall ?? 0, length: { ms: WEEK_MS }, turns: [people] };
  }
  if (changing.length === 1 && members.length === 1) {
    const { anchorWall, length, turns } = first;
    return { anchorWall, length, turns };
  }
  let unit = 0;
  let period = 1;
  for (const { anchorWall, length, turns } of changing) {
    if ('months' in length) return { because: 'turns of months are on call together with others' };
    unit = greatestDivisor(greatestDivisor(unit, length.ms), anchorWall - first.anchorWall);
    period = smallestMultiple(period, length.ms * turns.length);
  }
  if (unit % HOUR_MS !== 0) return { because: 'rotations that are on call together change hands within an hour' };
  const count = period / unit;
  if (count > TURNS_MAX) return { because: `rotations that are on call together repeat after ${count} turns only` };
  const turns = Array.from({ length: count }, (_, index) => {
    const wall = first.anchorWall + index * unit;
    return [...new Set(members.flatMap((pattern) => peopleAtWall(pattern, wall)))];
  });
  return { anchorWall: first.anchorWall, length: { ms: unit }, turns };
}

function peopleAtWall(pattern: Pattern, wall: number): readonly string[] {
  if (pattern.turns.length === 1) return pattern.turns[0] ?? [];
  const turn = turnAtWall(pattern, wall);
  return pattern.turns[((turn % pattern.turns.length) + pattern.turns.length) % pattern.turns.length] ?? [];
}
