import { expect, test } from 'vitest';

import { type AssignmentRule, matchingRules } from '#modules/exceptions/decide/assignment.ts';
import { Temporal } from '#kernel/time.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';

const event = (filename: string, tags: Record<string, string> = {}) => {
  const made = exceptionEvent(Temporal.Instant.from('2027-02-03T02:00:00Z'), { tags });
  const [exception] = made.exceptions;
  const [frame] = exception!.frames;
  return { ...made, exceptions: [{ ...exception!, frames: [{ ...frame!, filename, absPath: null }] }] };
};

const rule = (assigneeId: string, overrides: Partial<AssignmentRule> = {}): AssignmentRule => {
  return { path: null, tag: null, assigneeId, ...overrides };
};

const PAYMENTS = rule('team_payments', { path: 'src/payment/*' });
const CUSTOMER = rule('user_ann', { tag: { key: 'customer', value: 'acme*' } });
const REST = rule('team_rest');

test.each([
  ['a path', event('src/payment/card.ts'), ['team_payments', 'team_rest']],
  ['a path with a leading dot', event('./src/payment/card.ts'), ['team_payments', 'team_rest']],
  ['a tag', event('src/app.ts', { customer: 'Acme Ltd' }), ['user_ann', 'team_rest']],
  [
    'several, in the order of the rules',
    event('src/payment/card.ts', { customer: 'acme' }),
    ['team_payments', 'user_ann', 'team_rest'],
  ],
  ['nothing in particular', event('src/app.ts', { customer: 'other' }), ['team_rest']],
  ['no inherited tag', event('src/app.ts', {}), ['team_rest']],
])('an event with %s matches the rules', (_what, sent, assignees) => {
  expect(matchingRules([PAYMENTS, CUSTOMER, REST], sent).map(({ assigneeId }) => assigneeId)).toEqual(assignees);
});

test('a rule needs both of its conditions, and says its position', () => {
  const both = rule('user_ann', { path: '*card.ts', tag: { key: 'customer', value: 'acme' } });
  expect(matchingRules([REST, both], event('src/card.ts'))).toEqual([{ assigneeId: 'team_rest', position: 1 }]);
  expect(matchingRules([both, REST], event('src/card.ts', { customer: 'acme' }))[0]).toEqual({
    assigneeId: 'user_ann',
    position: 1,
  });
});
