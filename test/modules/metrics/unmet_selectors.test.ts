import { expect, test } from 'vitest';

import { namesAlike, nearestNames } from '#modules/metrics/unmet_selectors.ts';

const NAMES = ['http_requests_total', 'http_request_duration', 'jobs', 'jobs_failed', 'cpu'];

test('names near a misspelt one differ by a few letters, or contain it', () => {
  expect(nearestNames('http_request_total', NAMES)).toEqual(['http_requests_total']);
  expect(nearestNames('JOBS', NAMES)).toEqual(['jobs', 'jobs_failed']);
  expect(nearestNames('memory', NAMES)).toEqual([]);
  expect(nearestNames('', NAMES)).toEqual([]);
});

test('names alike share half of their letters', () => {
  expect(namesAlike('http_requests_sum', NAMES)).toEqual(['http_requests_total', 'http_request_duration']);
  expect(namesAlike('memory', NAMES)).toEqual([]);
});

test('of names without end only the beginnings are compared, since comparing takes as long as both are long', () => {
  const long = 'a'.repeat(1_000_000);
  const names = Array.from({ length: 20 }, (_, index) => `${long}${index}`);
  expect(namesAlike(`${long}b`, names)).toHaveLength(3);
  expect(nearestNames(`${long}b`, names)).toHaveLength(3);
});
