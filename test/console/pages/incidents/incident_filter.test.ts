import { describe, expect, test } from 'vitest';

import { countOfTab, INCIDENT_TABS, isInTab, readIncidentFilter } from '#console/pages/incidents/incident_filter.ts';

describe('the filter of the address', () => {
  test('is read as it was written', () => {
    const filter = { status: 'resolved', service: 'service_1', severity: 'error', q: 'disk' };
    expect(readIncidentFilter(filter)).toEqual(filter);
  });

  test('leaves out what is unknown, empty or the default', () => {
    expect(readIncidentFilter({ status: 'open', service: '', severity: 'awful', q: '', other: 1 })).toEqual({});
    expect(readIncidentFilter({ status: 'closed', service: 7 })).toEqual({});
  });

  test('takes a number as text to search for', () => {
    expect(readIncidentFilter({ q: 42 })).toEqual({ q: '42' });
  });
});

test('every status is in its own tab, and open or resolved', () => {
  const tabsOf = (status: 'triggered' | 'acknowledged' | 'resolved') =>
    INCIDENT_TABS.filter((tab) => isInTab({ status }, tab));
  expect(tabsOf('triggered')).toEqual(['open', 'triggered', 'all']);
  expect(tabsOf('acknowledged')).toEqual(['open', 'acknowledged', 'all']);
  expect(tabsOf('resolved')).toEqual(['resolved', 'all']);
});

test('the tab of open incidents counts triggered and acknowledged ones', () => {
  const counts = { triggered: 3, acknowledged: 2, resolved: 100 };
  const tabs = ['open', 'triggered', 'acknowledged', 'resolved'] as const;
  expect(tabs.map((tab) => countOfTab(counts, tab))).toEqual([5, 3, 2, 100]);
});
