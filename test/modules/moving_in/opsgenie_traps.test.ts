import { describe, expect, test } from 'vitest';

import {
  allEqual,
  item,
  onCall,
  opsgenieSchedule,
  opsgenieUsers,
  read,
  rotation,
} from '#test/modules/moving_in/answers.ts';

describe('Opsgenie', () => {
  test('counts delays from the beginning', () => {
    const rule = (minutes: number, id: string) => ({
      condition: 'if-not-acked',
      notifyType: 'default',
      delay: { timeAmount: minutes, timeUnit: 'minutes' },
      recipient: { type: 'user', id },
    });
    const escalation = {
      path: 'v2-escalations.json',
      value: { data: [{ id: 'esc', name: 'Escalation', rules: [rule(0, 'ada'), rule(5, 'bo'), rule(15, 'cy')] }] },
    };
    const result = read('opsgenie', [opsgenieUsers, escalation]);
    expect(result.file.policies![0]!.steps.map(({ afterMinutes }) => afterMinutes)).toEqual([0, 5, 15]);
  });

  test('pages a schedule of another team, and whatever one step cannot name, by steps of their own', () => {
    const teams = ['day', 'night'].map((id) => ({
      path: `v2-teams-${id}.json`,
      value: { data: { id, name: id, members: [{ user: { id: 'bo' } }] } },
    }));
    const nights = opsgenieSchedule([rotation({ participants: [{ type: 'user', id: 'bo' }] })]);
    Object.assign((nights.value as { data: object }).data, { ownerTeam: { id: 'night', name: 'night' } });
    const to = (type: string, id: string) => ({ delay: { timeAmount: 0 }, recipient: { type, id } });
    const id = 'ogsched';
    const rules = [to('schedule', id), to('user', 'ada'), to('team', 'day'), to('team', 'night')];
    const escalation = {
      path: 'v2-escalations.json',
      value: { data: [{ id: 'esc', name: 'Escalation', ownerTeam: { id: 'day', name: 'day' }, rules }] },
    };
    const result = read('opsgenie', [opsgenieUsers, ...teams, nights, escalation]);
    const [standIn, policy] = result.file.policies!.toSorted((a, b) => b.key.length - a.key.length);
    expect(standIn).toMatchObject({ team: 'opsgenie-night', steps: [{ schedules: [`opsgenie-${id}`] }] });
    expect(policy).toMatchObject({
      team: 'opsgenie-day',
      steps: [
        { afterMinutes: 0, people: ['opsgenie-ada'], teams: ['opsgenie-day'] },
        { afterMinutes: 0, teams: ['opsgenie-night'] },
        { afterMinutes: 0, policy: standIn!.key },
      ],
    });
    expect(item(result, 'policy', 'esc')).toMatchObject({ verdict: 'compiled' });
  });

  test('lets participants be teams, escalations or nobody, and repeat', () => {
    const team = {
      path: 'v2-teams-night.json',
      value: { data: { id: 'night', name: 'Night', members: [{ user: { id: 'bo' } }, { user: { id: 'cy' } }] } },
    };
    const escalation = {
      path: 'v2-escalations.json',
      value: {
        data: [
          {
            id: 'esc',
            name: 'Escalation',
            rules: [{ delay: { timeAmount: 0 }, recipient: { type: 'user', id: 'di' } }],
          },
        ],
      },
    };
    const participants = [
      { type: 'user', id: 'ada' },
      { type: 'team', id: 'night', name: 'Night' },
      { type: 'none' },
      { type: 'escalation', id: 'esc' },
      { type: 'user', id: 'ada' },
    ];
    const result = read('opsgenie', [
      opsgenieUsers,
      team,
      escalation,
      opsgenieSchedule([rotation({ type: 'daily', participants })]),
    ]);
    const days = ['22', '23', '24', '25', '26'].map((day) => onCall(result, `2026-06-${day}T12:00:00Z`));
    // 168 days after the start, three turns into the round of five.
    expect(days).toEqual(['Di', 'Ada', 'Ada', 'Bo and Cy', 'nobody']);
    expect(item(result, 'rotation', 'rot1')).toMatchObject({
      verdict: 'frozen',
      reason: expect.stringContaining('The team Night stands for its members as of today.'),
    });
    expect(allEqual(result)).toBe(true);
  });

  test('has its rotations on call together, not one over the other', () => {
    const restriction = { type: 'time-of-day', restriction: { startHour: 22, startMin: 0, endHour: 6, endMin: 0 } };
    const second = rotation({
      id: 'rot2',
      name: 'Rot2',
      type: 'daily',
      participants: [
        { type: 'user', id: 'bo' },
        { type: 'user', id: 'cy' },
      ],
      timeRestriction: restriction,
    });
    const result = read('opsgenie', [opsgenieUsers, opsgenieSchedule([rotation(), second])]);
    expect(
      ['2026-06-21T21:59:00Z', '2026-06-21T22:00:00Z', '2026-06-22T22:00:00Z', '2026-06-22T06:00:00Z'].map((at) =>
        onCall(result, at),
      ),
    ).toEqual(['Ada', 'Ada and Cy', 'Ada and Bo', 'Ada']);
    expect(allEqual(result)).toBe(true);
  });

  const twoWeeks = rotation({
    participants: [
      { type: 'user', id: 'ada' },
      { type: 'user', id: 'bo' },
    ],
  });

  test('writes startDate in UTC and means the wall clock of the zone of the schedule', () => {
    const result = read('opsgenie', [opsgenieUsers, opsgenieSchedule([twoWeeks], 'America/New_York')]);
    // 08:00 UTC was 03:00 in New York; in summer that is 07:00 UTC.
    expect(['2026-06-22T06:59:00Z', '2026-06-22T07:00:00Z'].map((at) => onCall(result, at))).toEqual(['Bo', 'Ada']);
    expect(allEqual(result)).toBe(true);
  });

  test('compares with its timeline, which decides what startDate means where both could be', () => {
    const periods = [
      {
        startDate: '2026-06-15T12:00:00Z',
        endDate: '2026-06-22T12:00:00Z',
        type: 'default',
        recipient: { id: 'bo', type: 'user', name: 'bo@example.com' },
      },
      {
        startDate: '2026-06-22T12:00:00Z',
        endDate: '2026-06-29T12:00:00Z',
        type: 'default',
        recipient: { id: 'ada', type: 'user', name: 'ada@example.com' },
      },
    ];
    const timeline = {
      path: 'v2-schedules-ogsched-timeline.json',
      value: {
        data: {
          _parent: { id: 'ogsched' },
          startDate: '2026-06-15T12:00:00Z',
          endDate: '2026-06-29T12:00:00Z',
          finalTimeline: { rotations: [{ id: 'rot1', periods }] },
        },
      },
    };
    const result = read('opsgenie', [opsgenieUsers, opsgenieSchedule([twoWeeks], 'America/New_York'), timeline]);
    expect(result.report.proof[0]).toMatchObject({ against: 'rendered timeline', minutes: 20_160, equal: 20_160 });
    expect(item(result, 'schedule', 'ogsched')).toMatchObject({
      verdict: 'compiled',
      reason: expect.stringContaining('wall clock'),
    });
  });

  test('replaces all rotations by an override, or those it names', () => {
    const all = {
      alias: 'o1',
      user: { type: 'user', id: 'cy' },
      startDate: '2026-06-20T08:00:00Z',
      endDate: '2026-06-20T20:00:00Z',
      rotations: [],
    };
    const one = {
      alias: 'o2',
      user: { type: 'user', id: 'di' },
      startDate: '2026-06-21T08:00:00Z',
      endDate: '2026-06-21T20:00:00Z',
      rotations: [{ id: 'rot2' }],
    };
    const overrides = { path: 'v2-schedules-ogsched-overrides.json', value: { data: [all, one] } };
    const second = rotation({ id: 'rot2', name: 'Rot2', participants: [{ type: 'user', id: 'bo' }] });
    const result = read('opsgenie', [opsgenieUsers, opsgenieSchedule([rotation(), second]), overrides]);
    expect(
      ['2026-06-20T12:00:00Z', '2026-06-21T12:00:00Z', '2026-06-21T20:00:00Z'].map((at) => onCall(result, at)),
    ).toEqual(['Cy', 'Ada and Di', 'Ada and Bo']);
    expect(allEqual(result)).toBe(true);
  });

  test('is read from the folder that its configuration backup writes', () => {
    const documents = [
      ...(opsgenieUsers.value as { data: { username: string }[] }).data.map((user) => ({
        path: `users/${user.username}.json`,
        value: {
          user,
          notificationRuleList: [
            { id: `rule-${user.username}`, name: 'New alert', actionType: 'create-alert', steps: [] },
          ],
        },
      })),
      {
        path: 'schedules/primary-ogsched.json',
        value: {
          schedule: (opsgenieSchedule([rotation()]).value as { data: object }).data,
          scheduleOverrideList: [
            {
              alias: 'o1',
              user: { type: 'user', username: 'bo@example.com' },
              startDate: '2026-06-20T08:00:00Z',
              endDate: '2026-06-20T20:00:00Z',
            },
          ],
        },
      },
    ];
    const result = read('opsgenie', documents);
    expect(result.report.read).toEqual({ user: 4, contact_rule: 4, schedule: 1, rotation: 1, override: 1 });
    expect(onCall(result, '2026-06-20T12:00:00Z')).toBe('Bo');
  });
});
