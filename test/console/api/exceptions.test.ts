import { expect, test } from 'vitest';

import { type ExceptionGroup, type GroupPages, withGroups } from '#console/api/exceptions.ts';

const COUNTS = { unresolved: 3, resolved: 0, ignored: 0 };

const group = (groupId: string, eventCount = 1): ExceptionGroup => ({ groupId, eventCount }) as ExceptionGroup;

const list = (...pages: ExceptionGroup[][]): GroupPages => ({
  pages: pages.map((groups) => ({
    groups,
    days: [],
    deploys: [],
    searchedSince: null,
    counts: COUNTS,
    nextCursor: null,
  })),
  pageParams: pages.map(() => null),
});

const idsOf = ({ pages }: GroupPages) => pages.map(({ groups }) => groups.map(({ groupId }) => groupId).join(''));

test('rows that changed stay where they are, those that no longer belong to the list leave it', () => {
  const answer = { groups: [group('b', 9)], counts: { ...COUNTS, unresolved: 2 } };
  const after = withGroups(list([group('a'), group('b')], [group('c')]), new Set(['b', 'c']), answer, {});
  expect(idsOf(after)).toEqual(['ab', '']);
  expect(after.pages[0]!.groups[1]!.eventCount).toBe(9);
  expect(after.pages.map(({ counts }) => counts.unresolved)).toEqual([2, 2]);
});

test('a new group comes first in a list by time, and waits for the next load in one by counts', () => {
  const answer = { groups: [group('n')], counts: COUNTS };
  expect(idsOf(withGroups(list([group('a')]), new Set(['n']), answer, {}))).toEqual(['na']);
  expect(idsOf(withGroups(list([group('a')]), new Set(['n']), answer, { sort: 'first' }))).toEqual(['na']);
  expect(idsOf(withGroups(list([group('a')]), new Set(['n']), answer, { sort: 'events' }))).toEqual(['a']);
});
