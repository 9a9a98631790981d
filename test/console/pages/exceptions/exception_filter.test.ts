import { expect, test } from 'vitest';

import { readEventPlace, readExceptionFilter, toGroupSearch } from '#console/pages/exceptions/exception_filter.ts';

test('the address keeps what is known and drops what is not, or is the default', () => {
  expect(
    readExceptionFilter({
      status: 'ignored',
      severity: 'fatal',
      sort: 'users',
      release: 2027.5,
      q: 'a b',
      environment: '',
      service: ['x'],
      other: 1,
    }),
  ).toEqual({ status: 'ignored', severity: 'fatal', sort: 'users', release: '2027.5', q: 'a b' });
  expect(readExceptionFilter({ status: 'unresolved', severity: 'worst', sort: 'last', q: '' })).toEqual({});
});

test('only unresolved groups are asked for unless a tab says otherwise', () => {
  expect(toGroupSearch({}, undefined)).toEqual({ status: 'unresolved' });
  expect(toGroupSearch({ status: 'all', service: 's', q: 'typed' }, 'paused')).toEqual({
    serviceId: 's',
    query: 'paused',
  });
});

test('an event or a day that cannot be one is not asked for', () => {
  const event = `1801621865922.${'a'.repeat(32)}`;
  expect(readEventPlace({ event, day: '2027-02-03' })).toEqual({ event, day: '2027-02-03' });
  expect(readEventPlace({ event: '../x', day: 'today' })).toEqual({});
});
