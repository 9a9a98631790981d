import { expect, test } from 'vitest';

import { judgePager, type PagerHeartbeat } from '#modules/notifications/decide/pager_health.ts';
import { Temporal } from '#kernel/time.ts';

const NOW = Temporal.Instant.from('2026-11-22T03:00:00Z');
const ago = (seconds: number): Temporal.Instant => NOW.subtract({ milliseconds: seconds * 1000 });

const WELL: PagerHeartbeat = {
  acceptedInShareAt: null,
  acceptedAt: null,
  rulesAsOf: ago(12),
  pagerSeenAt: ago(10),
  workerAliveUntil: ago(-2),
  stepDueAt: null,
  messageDueAt: null,
};

test('a pager at work has no problems, and data is as old as what rules have not seen of it', () => {
  expect(judgePager(WELL, NOW)).toEqual({
    unseenDataSeconds: 12,
    overdueStepSeconds: 0,
    overdueMessageSeconds: 0,
    pagerSilentSeconds: 10,
    workerSilentSeconds: 0,
    problems: [],
    alarms: [],
    unreadyBecause: [],
    rulesBehindBecause: [],
  });
});

test('a worker that nobody has heard of since the last one stopped is no frozen one', () => {
  expect(judgePager({ ...WELL, workerAliveUntil: null }, NOW)).toMatchObject({ workerSilentSeconds: 0, problems: [] });
});

test('a worker that is silent for seconds is told of at once, and withholds no heartbeat before ten', () => {
  const silent = (seconds: number) => judgePager({ ...WELL, workerAliveUntil: ago(seconds) }, NOW);
  expect(silent(1)).toMatchObject({ problems: [expect.stringContaining('for 1 s')], alarms: [] });
  expect(silent(10).alarms).toEqual([]);
  expect(silent(11).alarms).toHaveLength(1);
});

test('a service that floods makes its own data late, and nobody turns senders away for it', () => {
  const { problems, rulesBehindBecause } = judgePager({ ...WELL, acceptedAt: ago(31) }, NOW);
  expect(problems).toHaveLength(1);
  expect(rulesBehindBecause).toEqual([]);
  const late = judgePager({ ...WELL, acceptedAt: ago(60), acceptedInShareAt: ago(31) }, NOW);
  expect(late.rulesBehindBecause).toEqual(['data accepted 31 s ago has not reached the rules']);
});

test.each([
  ['acceptedAt', 30, 'data accepted 31 s ago has not reached the rules'],
  ['rulesAsOf', 30, 'rules were last evaluated 31 s ago'],
  ['pagerSeenAt', 30, 'no pager process has been at work for 31 s'],
  [
    'workerAliveUntil',
    0,
    'no worker process has been alive for 1 s: it is frozen or gone, and nothing that arrives opens an incident',
  ],
  ['stepDueAt', 15, 'an escalation step is overdue by 16 s'],
  ['messageDueAt', 15, 'a page is overdue by 16 s'],
] as const)('%s may be %i seconds ago and no more', (sign, seconds, problem) => {
  expect(judgePager({ ...WELL, [sign]: ago(seconds) }, NOW).problems).toEqual([]);
  expect(judgePager({ ...WELL, [sign]: ago(seconds + 1) }, NOW).problems).toEqual([problem]);
});

test('everything that is wrong is named, and what lies ahead of a clock that was set back is not late', () => {
  const long = ago(480);
  const dead = {
    acceptedAt: long,
    acceptedInShareAt: long,
    rulesAsOf: long,
    pagerSeenAt: long,
    workerAliveUntil: long,
    stepDueAt: long,
    messageDueAt: long,
  };
  expect(judgePager(dead, NOW).problems).toHaveLength(6);
  const ahead = ago(-60);
  const set = {
    acceptedAt: ahead,
    acceptedInShareAt: ahead,
    rulesAsOf: ahead,
    pagerSeenAt: ahead,
    workerAliveUntil: ahead,
    stepDueAt: ahead,
    messageDueAt: ahead,
  };
  expect(judgePager(set, NOW)).toMatchObject({ unseenDataSeconds: 0, pagerSilentSeconds: 0, problems: [] });
});
