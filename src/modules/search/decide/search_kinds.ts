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
export const FOUND_TOTAL_MAX = 2_000;

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

/** Returns the kinds that a caller may see. */
export function visibleKinds(permissions: { has(permission: Permission): boolean }): SearchKind[] {
  return Object.entries(SEARCH_KINDS).flatMap(([kind, permission]) =>
    permissions.has(permission) ? [kind as SearchKind] : [],
  );
}
