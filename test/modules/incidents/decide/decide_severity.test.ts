import { expect, test } from 'vitest';

import { decideSeverity, type SeverityStanding } from '#modules/incidents/decide/incident_limit.ts';
import { Temporal } from '#kernel/time.ts';

const NOW = Temporal.Instant.from('2027-03-10T12:00:00Z');
const standing = (over: Partial<SeverityStanding> = {}): SeverityStanding => ({
  status: 'triggered',
  severity: 'warning',
  parentId: null,
  suppressedUntil: null,
  ...over,
});

test('a raised severity may page anew while nobody has answered and nothing keeps the incident from paging', () => {
  const raised = (over: Partial<SeverityStanding> = {}) => decideSeverity(standing(over), 'fatal', NOW);
  expect(raised()).toEqual({ kind: 'change', direction: 'raised', mayPage: true });
  expect(raised({ suppressedUntil: NOW })).toMatchObject({ mayPage: true });
  expect(raised({ status: 'acknowledged' })).toMatchObject({ mayPage: false });
  expect(raised({ parentId: 'incident_1' })).toMatchObject({ mayPage: false });
  expect(raised({ suppressedUntil: NOW.add({ minutes: 1 }) })).toMatchObject({ mayPage: false });
});

test('a lower severity pages nobody, the same one changes nothing, and a resolved incident keeps its own', () => {
  expect(decideSeverity(standing(), 'info', NOW)).toEqual({ kind: 'change', direction: 'lowered', mayPage: false });
  expect(decideSeverity(standing(), 'warning', NOW)).toEqual({ kind: 'unchanged' });
  expect(decideSeverity(standing({ status: 'resolved' }), 'fatal', NOW)).toMatchObject({ kind: 'conflict' });
});
