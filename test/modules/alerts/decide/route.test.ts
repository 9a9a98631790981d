import { expect, test } from 'vitest';

import { learnGap, leaseOf, NO_REPETITION, severityOf } from '#modules/alerts/decide/alert_event.ts';
import { type AlertRoute, conditionOf, detailText, routeOf } from '#modules/alerts/decide/route.ts';
import { matchesWildcard } from '#modules/search/decide/search_kinds.ts';
import { Temporal } from '#kernel/time.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';
import fc from '#test/kit/properties.ts';

const ALERT = {
  severity: 'error',
  protocol: 'alertmanager',
  sourceName: 'am.example:9093',
  details: { labels: { team: 'payments', 'kubernetes.io/name': 'api' }, count: 3 },
};

const route = (policyId: string, ...conditions: AlertRoute['conditions']): AlertRoute => ({
  conditions,
  outcome: 'page',
  policyId,
  pagesOnRise: false,
});

test('the first route whose conditions are all true is taken, and the last one takes the rest', () => {
  const last = route('last');
  expect(routeOf([route('a', { kind: 'severity', atLeast: 'fatal' }), last], ALERT)?.policyId).toBe('last');
  expect(routeOf([route('a', { kind: 'severity', atLeast: 'warning' }), last], ALERT)?.policyId).toBe('a');
  expect(routeOf([route('a', { kind: 'source', protocol: 'pagerduty' }), last], ALERT)?.policyId).toBe('last');
  const both = route(
    'a',
    { kind: 'detail', path: 'labels.team', equals: 'payments' },
    { kind: 'detail', path: 'labels.kubernetes.io/name', matches: 'A*' },
  );
  expect(routeOf([both, last], ALERT)?.policyId).toBe('a');
  expect(routeOf([route('a', { kind: 'detail', path: 'labels.none', matches: '*' }), last], ALERT)?.policyId).toBe(
    'last',
  );
});

test('details are found at their path, numbers as text', () => {
  expect(detailText(ALERT.details, 'count')).toBe('3');
  expect(detailText(ALERT.details, 'labels')).toBeNull();
  expect(detailText(ALERT.details, '__proto__.x')).toBeNull();
});

test('a wildcard matches as a regular expression of the same meaning does', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  fc.assert(
    fc.property(text, text, (subject, pattern) => {
      const parts = pattern.split('*').map((part) => part.replaceAll(/[^a-z]/g, String.raw`\$&`));
      expect(matchesWildcard(subject, pattern)).toBe(new RegExp(`^${parts.join('.*')}$`, 's').test(subject));
    }),
  );
});

test('a part that is long, and begins again within itself, is found where it stands', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'a', 'b'), minLength: 15, maxLength: 24 });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), fc.array(part, { maxLength: 6 }), (parts, others) => {
      const subject = [...others, ...parts, ...others].join('b');
      expect(matchesWildcard(subject, `*${parts.join('*')}*`)).toBe(true);
      expect(matchesWildcard(others.join('b'), parts.join('*'))).toBe(
        new RegExp(`^${parts.join('.*')}$`, 's').test(others.join('b')),
      );
    }),
  );
});

test('whatever the pattern, the path and the alert hold, a route takes work linear in them', async () => {
  expect(await beyondLinear(import.meta.resolve('./route_workloads.ts'), 400)).toEqual([]);
});

test.each([
  ['critical', 'fatal'],
  ['ERROR', 'error'],
  ['warn', 'warning'],
  ['P1', 'fatal'],
  ['P5', 'info'],
  ['constructor', null],
  [3, null],
])('the severity %s is %s', (word, level) => {
  expect(severityOf(word)).toBe(level);
});

test('a lease is what the tool says, or what its repetitions show', () => {
  const now = Temporal.Instant.from('2027-06-01T12:00:00Z');
  const learns = { leaseMinutes: null, learns: true };
  expect(leaseOf(null, learns, NO_REPETITION, now)).toBeNull();
  const until = now.add({ minutes: 4 });
  expect(leaseOf(until, learns, NO_REPETITION, now)).toBe(until);
  const repetition = [3, 300, 14_400, 100_000].reduce(learnGap, NO_REPETITION);
  expect(repetition).toEqual({ longest: 14_400, shortest: 300 });
  expect(leaseOf(null, learns, repetition, now)?.toString()).toBe(now.add({ seconds: 15_000 }).toString());
  expect(leaseOf(until, { leaseMinutes: 30, learns: true }, repetition, now)?.toString()).toBe('2027-06-01T12:30:00Z');
});

test('a condition that lacks what its kind asks for is none, and what its kind does not know is left out', () => {
  const lacking = [
    { kind: 'severity', path: 'env' },
    { kind: 'source', name: 'nagios' },
    { kind: 'detail', equals: 'x' },
    { kind: 'detail', path: 'env' },
  ] as const;
  expect(lacking.map((sent) => conditionOf(sent))).toEqual([null, null, null, null]);
  expect(conditionOf({ kind: 'source', protocol: 'mail', path: 'env' })).toEqual({ kind: 'source', protocol: 'mail' });
  expect(conditionOf({ kind: 'detail', path: 'env', equals: '', matches: '*' })).toEqual({
    kind: 'detail',
    path: 'env',
    equals: '',
  });
  expect(conditionOf({ kind: 'detail', path: 'env', matches: 'prod*' })).toEqual({
    kind: 'detail',
    path: 'env',
    matches: 'prod*',
  });
});
