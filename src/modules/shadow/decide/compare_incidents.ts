import type { Temporal } from '#kernel/time.ts';

/** An incident of one of the two sides. */
export interface ComparedIncident {
  readonly at: Temporal.Instant;
  readonly title: string;
}

/** An incident of the other tool and the one here that is about the same; either may be missing. */
export interface ComparedPair<Other extends ComparedIncident, Here extends ComparedIncident> {
  readonly other: Other | null;
  readonly here: Here | null;
}

/** Two with words in common may be so far apart; two without, so much. */
const WITHIN_MS = { alike: 30 * 60_000, unlike: 3 * 60_000 };
const ALIKE = 0.3;
const WORDS_MAX = 20;

/**
 * Puts the incidents of another tool beside those here: the most alike titles first, then the closest times, each incident
 * once. The pairs are in order of time.
 */
export function compareIncidents<Other extends ComparedIncident, Here extends ComparedIncident>(
  others: readonly Other[],
  here: readonly Here[],
): ComparedPair<Other, Here>[] {
  const words = new Map(
    [...others, ...here].map((incident) => [incident as ComparedIncident, wordsOf(incident.title)]),
  );
  const sorted = here.toSorted((a, b) => a.at.epochMilliseconds - b.at.epochMilliseconds);
  const candidates = others.flatMap((other) =>
    near(sorted, other.at.epochMilliseconds).flatMap((candidate) => {
      const apart = Math.abs(candidate.at.epochMilliseconds - other.at.epochMilliseconds);
      const alike = likeness(words.get(other), words.get(candidate));
      const within = alike >= ALIKE ? WITHIN_MS.alike : WITHIN_MS.unlike;
      return apart <= within ? [{ other, candidate, apart, alike: alike >= ALIKE ? alike : 0 }] : [];
    }),
  );
  const paired = new Map<Other, Here>();
  const taken = new Set<Here>();
  for (const { other, candidate } of candidates.toSorted((a, b) => b.alike - a.alike || a.apart - b.apart)) {
    if (paired.has(other) || taken.has(candidate)) continue;
    paired.set(other, candidate);
    taken.add(candidate);
  }
  const pairs: ComparedPair<Other, Here>[] = [
    ...others.map((other) => ({ other, here: paired.get(other) ?? null })),
    ...here.filter((incident) => !taken.has(incident)).map((incident) => ({ other: null, here: incident })),
  ];
  return pairs.toSorted((a, b) => timeOf(a) - timeOf(b));
}

const NEAR_MAX = 20;

/** Returns the incidents closest to a time, 20 before and 20 after, of those sorted by time. */
function near<Here extends ComparedIncident>(sorted: readonly Here[], atMs: number): Here[] {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.at.epochMilliseconds ?? 0) < atMs) low = middle + 1;
    else high = middle;
  }
  return sorted.slice(Math.max(0, low - NEAR_MAX), low + NEAR_MAX);
}

function timeOf({ other, here }: ComparedPair<ComparedIncident, ComparedIncident>): number {
  return (other ?? here)?.at.epochMilliseconds ?? 0;
}

function wordsOf(title: string): ReadonlySet<string> {
  return new Set((title.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []).slice(0, WORDS_MAX));
}

/** Share of the words of the shorter title that the other has too; 0 for a title without words. */
function likeness(a: ReadonlySet<string> = new Set(), b: ReadonlySet<string> = new Set()): number {
  const shorter = Math.min(a.size, b.size);
  return shorter === 0 ? 0 : [...a].filter((word) => b.has(word)).length / shorter;
}
