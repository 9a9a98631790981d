import type { Permission } from '#kernel/permissions.ts';

/** Kinds of things that the search finds, in the order in which they are shown, with the permission to see them. */
export const SEARCH_KINDS = {
  incident: 'oncall:view',
  service: 'services:view',
  person: 'oncall:view',
  team: 'oncall:view',
  schedule: 'oncall:view',
  policy: 'oncall:view',
  rule: 'oncall:view',
  group: 'exceptions:view',
  dashboard: 'dashboards:view',
} as const satisfies Readonly<Record<string, Permission>>;

export type SearchKind = keyof typeof SEARCH_KINDS;

/** Results of each kind in one answer; the others are counted. */
export const FOUND_PER_KIND = 5;

/** Limit up to which results are counted: of more, not all are looked at. */
export const FOUND_TOTAL_MAX = 500;

/** Limit on the words of a search that are looked for; further ones do not narrow it. */
const WORDS_MAX = 6;

/** Returns the words that a result has to hold, in small letters. */
export function wordsOf(text: string): string[] {
  return [
    ...new Set(
      text
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== ''),
    ),
  ].slice(0, WORDS_MAX);
}

/** Best results of a kind, best first. */
interface FoundOfKind {
  readonly items: readonly { readonly name: string }[];
}

/**
 * Sorts kinds by how well the name of their best result fits the text: it is the text, begins with it, or holds it. Kinds
 * alike in this keep their order.
 */
export function byRelevance<T extends FoundOfKind>(kinds: readonly T[], text: string): T[] {
  const wanted = text.trim().toLowerCase();
  const misfit = ({ items }: T): number =>
    Math.min(...items.map(({ name }) => misfitOf(name.toLowerCase(), wanted)), MISFIT_MAX);
  return kinds.toSorted((a, b) => misfit(a) - misfit(b));
}

const MISFIT_MAX = 2;

function misfitOf(name: string, wanted: string): number {
  if (name === wanted) return 0;
  return name.startsWith(wanted) ? 1 : MISFIT_MAX;
}

/** Returns the kinds that a caller may see. */
export function visibleKinds(permissions: { has(permission: Permission): boolean }): SearchKind[] {
  return Object.entries(SEARCH_KINDS).flatMap(([kind, permission]) =>
    permissions.has(permission) ? [kind as SearchKind] : [],
  );
}

/**
 * Whether the text as a whole matches a pattern with `*` for any text, whatever the case. Takes time in proportion to the two
 * lengths together, whatever they hold.
 */
export function matchesWildcard(text: string, pattern: string): boolean {
  const subject = text.toLowerCase();
  const [first = '', ...parts] = pattern.toLowerCase().split('*');
  const last = parts.pop();
  if (last === undefined) return subject === first;
  if (!subject.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const start = indexOfPart(subject, part, at);
    if (start === -1) return false;
    at = start + part.length;
  }
  return subject.length - last.length >= at && subject.endsWith(last);
}

/** Length of a text that `indexOf` looks for: it compares no more than so many characters at each place. */
const SHORT = 16;

/** Finds what `indexOf` finds, which compares as many characters as the product of the lengths (Knuth, Morris and Pratt). */
function indexOfPart(text: string, part: string, from: number): number {
  if (part.length <= SHORT) return text.indexOf(part, from);
  // Nearly always the beginning is not there, which takes no time.
  if (!text.includes(part.slice(0, SHORT), from)) return -1;
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = from; at < text.length; at += 1) {
    matched = extend(part, borders, matched, text[at]);
    if (matched === part.length) return at + 1 - matched;
  }
  return -1;
}

/** Returns, for each beginning of the part, the length of the longest shorter one in which it ends. */
function bordersOf(part: string): number[] {
  const borders = [0];
  for (let at = 1; at < part.length; at += 1) borders.push(extend(part, borders, borders[at - 1] ?? 0, part[at]));
  return borders;
}

/** Returns how much of the part is matched with one more character. */
function extend(part: string, borders: readonly number[], matched: number, character: string | undefined): number {
  let length = matched;
  while (length > 0 && part[length] !== character) length = borders[length - 1] ?? 0;
  return part[length] === character ? length + 1 : length;
}
