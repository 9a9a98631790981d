// @vitest-environment happy-dom
import { expect, test } from 'vitest';

import { ruleSentence, type RuleValues, valuesOfStart } from '#console/pages/rules/rule_values.ts';

const values = (change: Partial<RuleValues> = {}, forMinutes: string | number = 0): RuleValues => {
  const start = valuesOfStart({ metric: 'cpu{host="a is > b"}', aggregation: 'avg', comparator: '>', threshold: 80 });
  return { ...start, settings: { ...start.settings, forMinutes }, ...change };
};

test('the fields of a rule are one sentence that says how long each of its times counts', () => {
  expect(ruleSentence(values({ escalationPolicyId: 'policy_1' }, 10))).toBe(
    'Pages when the average of cpu{host="a is > b"} over 5 min is above 80 for 10 min.',
  );
  expect(ruleSentence(values({ escalationPolicyId: 'policy_1' }))).toBe(
    'Pages as soon as the average of cpu{host="a is > b"} over 5 min is above 80.',
  );
  expect(ruleSentence(values({}, 10))).toBe(
    'Opens an incident and pages nobody when the average of cpu{host="a is > b"} over 5 min is above 80 for 10 min.',
  );
  expect(ruleSentence(values({ kind: 'exception', config: { minSeverity: 'fatal' } }))).toBe(
    'Opens an incident and pages nobody when a new exception, or one that came back, is at least "fatal".',
  );
  const settings = { ...values().settings, usersOver: 20, inEnvironment: ' prod* ' };
  expect(ruleSentence(values({ kind: 'exception', config: { minSeverity: 'error' }, settings }))).toBe(
    'Opens an incident and pages nobody when an exception that is at least "error" has more than 20 users within 10 min, of the environment "prod*".',
  );
});

test('there is no sentence until the fields are complete', () => {
  expect(ruleSentence(values({ config: { ...values().config, threshold: '' } }))).toBeNull();
  expect(ruleSentence(values({ config: { ...values().config, threshold: '-' } }))).toBeNull();
});
