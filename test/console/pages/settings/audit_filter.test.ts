import { describe, expect, test } from 'vitest';

import { auditInput, daySpans, readAuditFilter } from '#console/pages/settings/audit_filter.ts';

test('the filter of the address keeps known texts only', () => {
  expect(readAuditFilter({ actor: 'user_1', via: '', action: 7, other: 'x', from: '2027-01-31' })).toEqual({
    actor: 'user_1',
    from: '2027-01-31',
  });
});

describe('the days of the filter', () => {
  test('reach from the start of the first to the end of the last, in the zone of the viewer', () => {
    expect(auditInput({ from: '2027-01-31', to: '2027-01-31' })).toEqual({
      from: new Date(2027, 0, 31).toISOString(),
      to: new Date(2027, 1, 1).toISOString(),
    });
  });

  test('are left out when they are not days', () => {
    expect(auditInput({ from: 'yesterday', via: 'mcp' })).toEqual({ via: 'mcp' });
  });

  test('are offered as today, yesterday and the last seven, over the ends of months', () => {
    expect(daySpans(new Date(2027, 2, 1, 23, 30))).toEqual([
      { title: 'All days', from: undefined, to: undefined },
      { title: 'Today', from: '2027-03-01', to: '2027-03-01' },
      { title: 'Yesterday', from: '2027-02-28', to: '2027-02-28' },
      { title: 'Last 7 days', from: '2027-02-23', to: '2027-03-01' },
    ]);
  });
});
