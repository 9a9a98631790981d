import type { RuleHistory } from '#modules/rules/decide/replay.ts';

/** Longest gap that may be the interval of the metric; longer ones are outages, unless they are all alike. */
const GAP_MS_MAX = 15 * 60_000;
/** Share of the longest gap by which gaps that are alike differ at most. */
const ALIKE_SHARE = 0.2;
/** Least number of gaps, relative to the windows with data; fewer may be chance. */
const GAPS_SHARE = 0.05;
const GAPS_MIN = 3;

/**
 * Returns the shortest window in minutes that would hold a sample of the metric at every check, where samples come more
 * slowly than the window is long; null where they do not.
 */
export function windowForInterval(windowMinutes: number, { values, stepMs }: RuleHistory): number | null {
  const all: number[] = [];
  let measured = 0;
  let empty = 0;
  for (const value of values) {
    if (value === null) {
      empty += 1;
      continue;
    }
    if (measured > 0 && empty > 0) all.push(empty);
    measured += 1;
    empty = 0;
  }
  const longest = Math.max(...all);
  const areAlike = all.length >= GAPS_MIN && longest - Math.min(...all) <= Math.max(1, longest * ALIKE_SHARE);
  const gaps = areAlike ? all : all.filter((gap) => gap * stepMs <= GAP_MS_MAX);
  if (gaps.length < GAPS_MIN || gaps.length < measured * GAPS_SHARE) return null;
  const usual = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length * 0.9)] ?? 1;
  return windowMinutes + Math.ceil((usual * stepMs) / 60_000);
}
