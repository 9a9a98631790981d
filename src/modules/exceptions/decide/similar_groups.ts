import type { GroupingPart } from '#modules/exceptions/decide/grouping.ts';

/** The fields of a group by which similarity is judged. */
export interface ComparedGroup {
  readonly title: string;
  readonly type: string | null;
  readonly culprit: string | null;
  readonly groupingParts: readonly GroupingPart[];
}

/** Similarity of two groups, from 0 to 1, and its reason in words. */
export interface Likeness {
  readonly score: number;
  readonly because: string;
}

const WEIGHTS = { lines: 0.5, words: 0.3, culprit: 0.2 };
/** Least score of a similar group: those that have less in common are not worth a look. */
const SCORE_MIN = 0.4;

/** Returns the groups that are like this one, the most alike first. */
export function similarTo<Group extends ComparedGroup>(
  group: ComparedGroup,
  others: readonly Group[],
  limit: number,
): (Likeness & { readonly group: Group })[] {
  return others
    .map((other) => ({ ...likenessOf(group, other), group: other }))
    .filter(({ score }) => score >= SCORE_MIN)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit);
}

function likenessOf(a: ComparedGroup, b: ComparedGroup): Likeness {
  const [linesOfA, linesOfB] = [linesOf(a), linesOf(b)];
  const isSamePlace = a.culprit !== null && a.culprit === b.culprit;
  const score =
    WEIGHTS.lines * overlap(linesOfA, linesOfB) +
    WEIGHTS.words * overlap(wordsOf(a.title), wordsOf(b.title)) +
    (isSamePlace ? WEIGHTS.culprit : 0);
  const shared = linesOfA.intersection(linesOfB).size;
  const said = [
    a.type !== null && a.type === b.type ? 'same type' : '',
    isSamePlace ? 'same place' : '',
    shared > 0 ? `${shared} of ${linesOfA.size} lines of its key` : '',
  ].filter((reason) => reason !== '');
  return { score, because: said.length === 0 ? 'similar title' : said.join(', ') };
}

function linesOf({ groupingParts }: ComparedGroup): ReadonlySet<string> {
  return new Set(groupingParts.flatMap(({ lines }) => lines));
}

function wordsOf(title: string): ReadonlySet<string> {
  return new Set(title.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
}

/** Returns the size of the intersection relative to the union. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const all = a.union(b).size;
  return all === 0 ? 0 : a.intersection(b).size / all;
}
