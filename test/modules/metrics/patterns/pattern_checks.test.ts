import { afterAll, expect, test } from 'vitest';

import { PatternChecks } from '#modules/metrics/patterns/pattern_checks.ts';
import { knownPattern } from '#modules/metrics/decide/pattern_size.ts';
import { asId } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';

const orgId = asId('org', 'one');
const checks = new PatternChecks({ clock: systemClock, secondsPerMinute: 60 });
afterAll(() => checks.close());

test('the patterns of a call are known before it is read, wherever they stand, also those that RE2 refuses', async () => {
  const input = {
    queries: [
      { metricName: 'requests{route=~"/pay/[0-9]{7}",zone!~"eu-71"}' },
      { metricName: 'cpu{host=~"(unclosed71"}' },
    ],
    name: 'no selector ~ at all',
  };
  expect(knownPattern('eu-71')).toBeUndefined();
  await checks.prepare(orgId, input);
  expect(['/pay/[0-9]{7}', 'eu-71', '(unclosed71'].map(knownPattern)).toEqual([
    expect.any(Number),
    expect.any(Number),
    expect.stringContaining('missing closing )'),
  ]);
});

test('an organization that has used up its time is refused with the limit, others are not, and what is known costs nothing', async () => {
  const few = new PatternChecks({ clock: systemClock, secondsPerMinute: 1e-9 });
  const selector = (pattern: string) => ({ metricName: `cpu{host=~"${pattern}"}` });
  await few.prepare(orgId, selector('first-72'));
  await expect(few.prepare(orgId, selector('second-72'))).rejects.toMatchObject({
    code: 'rate_limited',
    limit: 'patternSeconds',
  });
  await few.prepare(orgId, selector('first-72'));
  await few.prepare(asId('org', 'other'), selector('third-72'));
  await few.close();
});
