import { describe, expect, test } from 'vitest';

import { allEqual, item, onCall, onCallSchedule, onCallUsers, read } from '#test/modules/moving_in/answers.ts';

describe('Grafana OnCall', () => {
  const weekly = {
    type: 'rolling_users',
    start: '2026-06-01T00:00:00',
    duration: 604_800,
    frequency: 'weekly',
    interval: 1,
    week_start: 'MO',
    start_rotation_from_user_index: 0,
  };

  test('lists lists of people in rolling_users', () => {
    const result = read('grafana-oncall', [
      onCallUsers,
      ...onCallSchedule([{ ...weekly, rolling_users: [['UADA', 'UBO'], ['UCY']] }]),
    ]);
    expect(['2026-06-16T00:00:00Z', '2026-06-23T00:00:00Z'].map((at) => onCall(result, at))).toEqual([
      'Ada and Bo',
      'Cy',
    ]);
    expect(allEqual(result)).toBe(true);
  });

  test('gives shifts levels, the highest of which counts', () => {
    const night = {
      type: 'recurrent_event',
      start: '2026-06-01T22:00:00',
      duration: 28_800,
      frequency: 'daily',
      interval: 1,
      level: 2,
      users: ['UDI'],
    };
    const result = read('grafana-oncall', [
      onCallUsers,
      ...onCallSchedule([{ ...weekly, level: 1, rolling_users: [['UADA'], ['UBO']] }, night]),
    ]);
    expect(
      ['2026-06-16T21:59:00Z', '2026-06-16T22:00:00Z', '2026-06-17T06:00:00Z'].map((at) => onCall(result, at)),
    ).toEqual(['Ada', 'Di', 'Ada']);
    expect(allEqual(result)).toBe(true);
  });

  test('gives shifts zones of their own', () => {
    const result = read('grafana-oncall', [
      onCallUsers,
      ...onCallSchedule([{ ...weekly, time_zone: 'Asia/Tokyo', rolling_users: [['UADA'], ['UBO']] }]),
    ]);
    expect(result.file.schedules![0]!.timezone).toBe('Asia/Tokyo');
    expect(['2026-06-21T14:59:00Z', '2026-06-21T15:00:00Z'].map((at) => onCall(result, at))).toEqual(['Ada', 'Bo']);
    expect(allEqual(result)).toBe(true);
  });

  test('counts days of an event that is daily, on some days of the week alone', () => {
    const shift = {
      type: 'recurrent_event',
      users: ['UADA'],
      start: '2026-06-15T08:00:00',
      duration: 3_600,
      frequency: 'daily',
      interval: 2,
      by_day: ['MO', 'TU', 'WE', 'TH', 'FR'],
      week_start: 'MO',
    };
    const result = read('grafana-oncall', [onCallUsers, ...onCallSchedule([shift])]);
    const days = [15, 16, 17, 18, 19, 21, 22, 23];
    expect(days.filter((day) => onCall(result, `2026-06-${day}T08:30:00Z`) === 'Ada')).toEqual([15, 17, 19, 23]);
  });

  test('writes down shifts of several zones until a date', () => {
    const day = { ...weekly, duration: 43_200, frequency: 'daily', rolling_users: [['UADA'], ['UBO']] };
    const result = read('grafana-oncall', [
      onCallUsers,
      ...onCallSchedule([
        { ...day, time_zone: 'Asia/Tokyo' },
        { ...day, level: 1, time_zone: 'America/New_York' },
      ]),
    ]);
    expect(item(result, 'schedule', 'SPRIMARY')).toMatchObject({
      verdict: 'horizon',
      reason: expect.stringContaining('because its shifts are in 2 time zones'),
    });
    expect(result.report.proof[0]!.equal).toBe(result.report.proof[0]!.minutes);
  });

  test('compares with final_shifts', () => {
    const final = {
      path: 'schedules-sprimary-final_shifts-start_date-2026-06-16andend_date-2026-06-30.json',
      value: {
        count: 3,
        next: null,
        results: [
          {
            user_pk: 'UADA',
            user_email: 'ada@example.com',
            user_username: 'Ada',
            shift_start: '2026-06-15T00:00:00Z',
            shift_end: '2026-06-22T00:00:00Z',
          },
          {
            user_pk: 'UBO',
            user_email: 'bo@example.com',
            user_username: 'Bo',
            shift_start: '2026-06-22T00:00:00Z',
            shift_end: '2026-06-29T00:00:00Z',
          },
          {
            user_pk: 'UADA',
            user_email: 'ada@example.com',
            user_username: 'Ada',
            shift_start: '2026-06-29T00:00:00Z',
            shift_end: '2026-07-06T00:00:00Z',
          },
        ],
      },
    };
    const result = read('grafana-oncall', [
      onCallUsers,
      ...onCallSchedule([{ ...weekly, rolling_users: [['UADA'], ['UBO']] }]),
      final,
    ]);
    expect(result.report.proof[0]).toMatchObject({ against: 'rendered timeline', minutes: 20_160, equal: 20_160 });
  });

  const chain = (steps: readonly object[]) => [
    { path: 'escalation_chains.json', value: { next: null, results: [{ id: 'CMAIN', name: 'Main', team_id: null }] } },
    {
      path: 'escalation_policies.json',
      value: {
        next: null,
        results: steps.map((step, position) => ({
          id: `E${position}`,
          escalation_chain_id: 'CMAIN',
          position,
          ...step,
        })),
      },
    },
  ];

  test('repeats a chain after a minute when no wait comes before the repetition, and says so', () => {
    const result = read('grafana-oncall', [
      onCallUsers,
      ...chain([
        { type: 'notify_persons', persons_to_notify: ['UADA'] },
        { type: 'wait', duration: 300 },
        { type: 'notify_persons', persons_to_notify: ['UBO'] },
        { type: 'repeat_escalation' },
      ]),
    ]);
    expect(result.file.policies![0]!.repeat).toMatchObject({ pauseMinutes: 1 });
    expect(item(result, 'policy', 'CMAIN')).toMatchObject({
      verdict: 'compiled',
      reason: expect.stringContaining('after 0 minutes there, and after 1 here'),
    });
  });

  test('says that people of a first step who take turns are all paged', () => {
    const result = read('grafana-oncall', [
      onCallUsers,
      ...chain([{ type: 'notify_person_next_each_time', persons_to_notify_next_each_time: ['UADA', 'UBO'] }]),
    ]);
    expect(item(result, 'policy', 'CMAIN')).toMatchObject({
      verdict: 'compiled',
      reason: expect.stringContaining('everybody it names is paged each time'),
    });
  });
});
