import { expect, test } from 'vitest';

import { meetsConditions, replayExceptions } from '#modules/rules/decide/replay_exceptions.ts';
import { EXCEPTION_RULE_DEFAULTS } from '#modules/rules/decide/kind_settings.ts';
import { parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { newId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';

const EVENT = {
  title: 'PaymentError: declined',
  environment: 'production',
  release: '2.4.0',
  tags: { customer: 'acme', constructor: 'x' },
};

test.each([
  [{}, true],
  [{ inEnvironment: 'prod*' }, true],
  [{ inEnvironment: 'staging' }, false],
  [{ inRelease: '2.*' }, true],
  [{ inRelease: '3.*' }, false],
  [{ withTag: 'customer:ACME' }, true],
  [{ withTag: 'customer:ac' }, false],
  [{ withTag: 'toString:*' }, false],
  [{ withText: 'paymenterror' }, true],
  [{ withText: 'refund' }, false],
  [{ inEnvironment: 'prod*', withTag: 'customer:other' }, false],
])('a rule with %j concerns the event: %s', (settings, isMet) => {
  expect(meetsConditions({ ...EXCEPTION_RULE_DEFAULTS, ...settings }, EVENT)).toBe(isMet);
});

test('an event that names no environment meets no condition on one, but the one for any text', () => {
  const event = { ...EVENT, environment: null };
  expect(meetsConditions({ ...EXCEPTION_RULE_DEFAULTS, inEnvironment: 'prod*' }, event)).toBe(false);
  expect(meetsConditions({ ...EXCEPTION_RULE_DEFAULTS, inEnvironment: '*' }, event)).toBe(true);
});

test('conditions are for rules on new exceptions and for those that count events; a tag has a key', () => {
  const rule = { kind: 'exception', config: { minSeverity: 'error' } } as const;
  const conditions = { inEnvironment: 'prod*', inRelease: '2.*', withTag: 'a:b', withText: 'x' };
  for (const settings of [conditions, { ...conditions, eventsOver: 5 }]) {
    expect(parseRuleSettings(rule, settings, 'settings')).toMatchObject({ kind: 'ok' });
  }
  expect(parseRuleSettings(rule, { inRelease: '2.*', withTag: 'no colon' }, 'settings')).toMatchObject({
    faults: [{ path: 'settings.withTag' }],
  });
});

test('a replay counts what began and what came back, judged by severity and conditions', () => {
  const at = Temporal.Instant.from('2027-02-03T02:00:00Z');
  const [first, second, gone] = [newId('group'), newId('group'), newId('group')];
  const occasion = { title: 'A', outcome: 'new', at, release: null } as const;
  const occasions = [
    { ...occasion, groupId: first },
    { ...occasion, groupId: second },
    { ...occasion, groupId: gone },
    { ...occasion, groupId: first, outcome: 'regression', release: '3.0' } as const,
  ];
  const { title: _, ...event } = EVENT;
  const events = new Map([
    [first, { ...event, level: 'error' } as const],
    [second, { ...event, level: 'warning' } as const],
  ]);
  const settings = { ...EXCEPTION_RULE_DEFAULTS, inRelease: '2.*' };
  expect(replayExceptions({ minSeverity: 'error', settings }, occasions, events)).toMatchObject([
    { groupId: first, outcome: 'new', severity: 'error' },
  ]);
  const own = { ...EXCEPTION_RULE_DEFAULTS, incidentSeverity: 'fatal' } as const;
  expect(replayExceptions({ minSeverity: 'warning', settings: own }, occasions, events)).toMatchObject([
    { groupId: first, severity: 'fatal' },
    { groupId: second, severity: 'fatal' },
    { groupId: first, outcome: 'regression' },
  ]);
});
