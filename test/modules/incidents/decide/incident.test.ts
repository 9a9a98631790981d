import { expect, test } from 'vitest';

import {
  decideAcknowledge,
  decideReopen,
  decideResolve,
  decideUnacknowledge,
  REOPEN_DAYS_MAX,
} from '#modules/incidents/decide/incident.ts';
import { durationsOf } from '#modules/incidents/decide/similar.ts';
import { at } from '#test/modules/schedules/decide/given_rotation.ts';

const RESOLVED = at('2026-03-01T09:00:00Z');

test('an incident is reopened within a week, to the status that it had', () => {
  const resolved = { status: 'resolved', acknowledgedAt: null, resolvedAt: RESOLVED } as const;
  const last = RESOLVED.add({ hours: 24 * REOPEN_DAYS_MAX });
  expect(decideReopen(resolved, last)).toEqual({ kind: 'reopen', to: 'triggered' });
  expect(decideReopen({ ...resolved, acknowledgedAt: RESOLVED }, last)).toMatchObject({ to: 'acknowledged' });
  expect(decideReopen(resolved, last.add({ milliseconds: 1 }))).toEqual({ kind: 'too_late' });
  expect(decideReopen({ ...resolved, status: 'triggered' }, last.add({ hours: 1 }))).toEqual({ kind: 'unchanged' });
});

test('an incident is acknowledged and resolved once, and never acknowledged when it is over', () => {
  const statuses = ['triggered', 'acknowledged', 'resolved'] as const;
  expect(statuses.map(decideAcknowledge)).toEqual(['change', 'unchanged', 'conflict']);
  expect(statuses.map(decideResolve)).toEqual(['change', 'change', 'unchanged']);
  expect(statuses.map(decideUnacknowledge)).toEqual(['unchanged', 'change', 'conflict']);
});

test('how long incidents usually take is a time that one of them took', () => {
  const after = (minutes: number | null) => ({
    triggeredAt: RESOLVED,
    acknowledgedAt: null,
    resolvedAt: minutes === null ? null : RESOLVED.add({ minutes }),
  });
  const durations = durationsOf([after(60), after(null), after(1), after(4), after(2)]);
  expect(durations).toEqual({ medianSecondsToAcknowledge: null, medianSecondsToResolve: 120 });
});
