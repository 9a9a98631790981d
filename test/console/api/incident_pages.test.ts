import { expect, test } from 'vitest';

import { type IncidentPages, withRows } from '#console/api/incidents.ts';

type Row = IncidentPages['pages'][number]['incidents'][number];

const at = (minutesAgo: number): string => new Date(Date.UTC(2027, 0, 1) - minutesAgo * 60_000).toISOString();

function row(incidentId: string, minutesAgo: number, status: Row['status'] = 'triggered', resolved = minutesAgo): Row {
  const resolvedAt = status === 'resolved' ? at(resolved) : null;
  return { incidentId, status, triggeredAt: at(minutesAgo), resolvedAt } as Row;
}

function list(nextCursor: string | null, ...pages: Row[][]): IncidentPages {
  return {
    pages: pages.map((incidents, index) => ({ incidents, nextCursor: index === pages.length - 1 ? nextCursor : 'x' })),
    pageParams: pages.map(() => null),
  };
}

const idsOf = ({ pages }: IncidentPages) => pages.map(({ incidents }) => incidents.map(({ incidentId }) => incidentId));

test('a row that has changed stands where the server would put it, and nowhere else', () => {
  const shown = list(null, [row('a', 1), row('b', 2)], [row('c', 3), row('d', 9, 'acknowledged')]);
  const acknowledged = withRows(shown, new Set(['b']), [row('b', 2, 'acknowledged')]);
  expect(idsOf(acknowledged)).toEqual([['a'], ['c', 'b', 'd']]);
  expect(idsOf(withRows(acknowledged, new Set(['e']), [row('e', 0)]))).toEqual([
    ['e', 'a'],
    ['c', 'b', 'd'],
  ]);
  const resolved = withRows(acknowledged, new Set(['a', 'c']), [
    row('a', 1, 'resolved', 0),
    row('c', 3, 'resolved', -1),
  ]);
  expect(idsOf(resolved)).toEqual([[], ['b', 'd', 'c', 'a']]);
});

test('a row that no longer belongs to the list leaves it, and an empty list takes the first', () => {
  const shown = list(null, [row('a', 1)]);
  const empty = withRows(shown, new Set(['a']), []);
  expect(idsOf(empty)).toEqual([[]]);
  expect(idsOf(withRows(empty, new Set(['a']), [row('a', 1)]))).toEqual([['a']]);
  expect(idsOf(shown)).toEqual([['a']]);
});

test('a row beyond what was loaded is left for the next page, one before its place is not', () => {
  const cursor = `triggered.${Date.parse(at(5))}.m`;
  const shown = list(cursor, [row('a', 1)]);
  expect(idsOf(withRows(shown, new Set(['z']), [row('z', 6)]))).toEqual([['a']]);
  expect(idsOf(withRows(shown, new Set(['z']), [row('z', 4)]))).toEqual([['a', 'z']]);
});
