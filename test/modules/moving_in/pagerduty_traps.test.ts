import { describe, expect, test } from 'vitest';

import { allEqual, item, layer, onCall, pagerDutyUsers, read, schedule } from '#test/modules/moving_in/answers.ts';

const policy = (rules: readonly object[], fields: object = {}) => ({
  path: 'escalation_policies.json',
  value: {
    escalation_policies: [
      { id: 'PPOL', name: 'Policy', type: 'escalation_policy', escalation_rules: rules, ...fields },
    ],
    more: false,
  },
});
const step = (minutes: number, id: string, type = 'user_reference') => ({
  escalation_delay_in_minutes: minutes,
  targets: [{ id, type, summary: id }],
});

describe('PagerDuty', () => {
  test('lists layers last first', () => {
    const night = layer({
      id: 'L2',
      name: 'Night',
      users: ['UBO'],
      restrictions: [{ type: 'daily_restriction', start_time_of_day: '20:00:00', duration_seconds: 36_000 }],
    });
    const result = read('pagerduty', [pagerDutyUsers, schedule([night, layer()])]);
    expect(result.file.schedules![0]!.layers!.map(({ name }) => name)).toEqual(['Layer 1', 'Night']);
    expect(onCall(result, '2026-07-01T21:00:00Z')).toBe('Bo');
    expect(onCall(result, '2026-07-01T12:00:00Z')).toBe('Ada');
    expect(allEqual(result)).toBe(true);
  });

  test('counts turns from rotation_virtual_start, since start is when a layer was last edited', () => {
    const result = read('pagerduty', [
      pagerDutyUsers,
      schedule([layer({ users: ['UADA', 'UBO'], start: '2026-06-10T14:11:41Z' })]),
    ]);
    // 24 whole weeks after the anchor it is the first again.
    expect(onCall(result, '2026-06-22T08:00:00Z')).toBe('Ada');
    expect(onCall(result, '2026-06-22T07:59:00Z')).toBe('Bo');
    expect(allEqual(result)).toBe(true);
  });

  test('keeps a layer silent until a start that is still to come, within a turn', () => {
    const old = layer({ id: 'L0', name: 'Old', users: ['UCY'], end: '2026-07-02T12:00:00Z' });
    const next = layer({ users: ['UADA', 'UBO'], start: '2026-07-02T12:00:00Z' });
    const result = read('pagerduty', [pagerDutyUsers, schedule([next, old])]);
    expect(
      ['2026-07-02T11:59:00Z', '2026-07-02T12:00:00Z', '2026-07-06T07:59:00Z', '2026-07-06T08:00:00Z'].map((at) =>
        onCall(result, at),
      ),
    ).toEqual(['Cy', 'Bo', 'Bo', 'Ada']);
    expect(allEqual(result)).toBe(true);
  });

  test('writes equal overrides once, the last one over what lies between', () => {
    const [start, end] = ['2026-07-01T12:00:00Z', '2026-07-01T14:00:00Z'];
    const overrides = ['UBO', 'UCY', 'UBO'].map((id, index) => ({
      id: `PO${index}`,
      start,
      end,
      user: { id, type: 'user_reference', summary: id },
    }));
    const result = read('pagerduty', [pagerDutyUsers, schedule([layer()], { overrides })]);
    expect(result.file.schedules![0]!.overrides).toMatchObject([
      { person: 'pagerduty-UCY' },
      { person: 'pagerduty-UBO' },
    ]);
    expect(onCall(result, '2026-07-01T13:00:00Z')).toBe('Bo');
    expect(allEqual(result)).toBe(true);
  });

  test('leaves ended layers in the list', () => {
    const ended = layer({ id: 'LOLD', name: 'Retired', users: ['UBO'], end: '2025-01-01T00:00:00Z' });
    const result = read('pagerduty', [pagerDutyUsers, schedule([ended, layer()])]);
    expect(result.file.schedules![0]!.layers).toHaveLength(1);
    expect(item(result, 'layer', 'LOLD')).toMatchObject({
      verdict: 'exact',
      reason: expect.stringContaining('It ended at'),
    });
    expect(allEqual(result)).toBe(true);
  });

  const nineToFive = [{ type: 'daily_restriction', start_time_of_day: '09:00:00', duration_seconds: 28_800 }];
  const inChicago = layer({
    rotation_virtual_start: '2026-01-05T09:00:00-06:00',
    start: '2026-01-05T09:00:00-06:00',
    restrictions: nineToFive,
  });

  test('renders restrictions in the zone of whoever asks: the schedule that was asked for in its own zone counts', () => {
    const fromUtc = layer({
      rotation_virtual_start: '2026-01-05T15:00:00Z',
      start: '2026-01-05T15:00:00Z',
      restrictions: [{ ...nineToFive[0], start_time_of_day: '15:00:00' }],
    });
    const list = {
      path: 'schedules.json',
      value: {
        schedules: [{ id: 'PSCHED', name: 'Primary', time_zone: 'America/Chicago', schedule_layers: [fromUtc] }],
      },
    };
    const result = read('pagerduty', [pagerDutyUsers, list, schedule([inChicago], { time_zone: 'America/Chicago' })]);
    expect(result.file.schedules![0]!.layers![0]!.hours![0]).toMatchObject({ from: '09:00', to: '17:00' });
    expect(item(result, 'layer', 'L1').verdict).toBe('exact');
  });

  test('renders restrictions in the zone of whoever asks: another zone is converted, and said', () => {
    const fromUtc = layer({
      rotation_virtual_start: '2026-01-05T15:00:00Z',
      start: '2026-01-05T15:00:00Z',
      restrictions: [{ ...nineToFive[0], start_time_of_day: '15:00:00' }],
    });
    const result = read('pagerduty', [pagerDutyUsers, schedule([fromUtc], { time_zone: 'America/Chicago' })]);
    expect(result.file.schedules![0]!.layers![0]!.hours![0]).toMatchObject({ from: '09:00', to: '17:00' });
    expect(item(result, 'layer', 'L1')).toMatchObject({
      verdict: 'compiled',
      reason: expect.stringContaining('360 minutes ahead of'),
    });
  });

  test('counts delays from the step before: 5, 10, 10 become 0, 5, 15', () => {
    const result = read('pagerduty', [
      pagerDutyUsers,
      policy([step(5, 'UADA'), step(10, 'UBO'), step(10, 'UCY')], { num_loops: 2 }),
    ]);
    const [first] = result.file.policies!;
    expect(first!.steps.map(({ afterMinutes }) => afterMinutes)).toEqual([0, 5, 15]);
    expect(first!.repeat).toEqual({ times: 2, pauseMinutes: 10 });
    expect(item(result, 'policy', 'PPOL').verdict).toBe('exact');
  });

  test('says that people and schedules of a first step in round robin are all paged', () => {
    const first = { ...step(5, 'UADA'), escalation_rule_assignment_strategy: { type: 'round_robin' } };
    const result = read('pagerduty', [pagerDutyUsers, policy([first])]);
    expect(item(result, 'policy', 'PPOL')).toMatchObject({
      verdict: 'compiled',
      reason: expect.stringContaining('everybody it names is paged each time'),
    });
  });

  test('calls a service exact only when each of its incidents is of high urgency', () => {
    const rules = [
      { type: 'constant', urgency: 'high' },
      { type: 'constant', urgency: 'low' },
      { type: 'constant', urgency: 'severity_based' },
      { type: 'use_support_hours', during_support_hours: { type: 'constant', urgency: 'high' } },
    ];
    const services = rules.map((incident_urgency_rule, index) => ({
      id: `PSVC${index}`,
      name: `Service ${index}`,
      type: 'service',
      incident_urgency_rule,
    }));
    const result = read('pagerduty', [pagerDutyUsers, { path: 'services.json', value: { services, more: false } }]);
    const items = rules.map((_, index) => item(result, 'service', `PSVC${index}`));
    expect(items.map(({ verdict }) => verdict)).toEqual(['exact', 'compiled', 'compiled', 'compiled']);
    expect(items[1]!.reason).toContain('low urgency');
    expect(items[2]!.reason).toContain('severity');
    expect(items[3]!.reason).toContain('support hours');
  });

  test('calls Monday start_day_of_week 1, and Sunday 7 or 0', () => {
    const days = [1, 7, 0].map((day) => {
      const restrictions = [
        { type: 'weekly_restriction', start_day_of_week: day, start_time_of_day: '09:00:00', duration_seconds: 3_600 },
      ];
      return read('pagerduty', [pagerDutyUsers, schedule([layer({ restrictions })])]).file.schedules![0]!.layers![0]!
        .hours;
    });
    expect(days.map((hours) => hours![0]!.fromDay)).toEqual([1, 7, 7]);
  });

  test('lets restrictions cross midnight and hand-overs', () => {
    const restrictions = [
      { type: 'weekly_restriction', start_day_of_week: 7, start_time_of_day: '20:00:00', duration_seconds: 14 * 3_600 },
    ];
    const result = read('pagerduty', [pagerDutyUsers, schedule([layer({ users: ['UADA', 'UBO'], restrictions })])]);
    const times = [
      '2026-06-21T19:59:00Z',
      '2026-06-21T20:00:00Z',
      '2026-06-22T07:59:00Z',
      '2026-06-22T08:00:00Z',
      '2026-06-22T09:59:00Z',
      '2026-06-22T10:00:00Z',
    ];
    expect(times.map((at) => onCall(result, at))).toEqual(['nobody', 'Bo', 'Bo', 'Ada', 'Ada', 'nobody']);
    expect(allEqual(result)).toBe(true);
  });

  test('leaves shifts of version 3 out of the list of version 2', () => {
    const rules = [step(5, 'PSHIFTS', 'schedule_v3_reference')];
    const without = read('pagerduty', [pagerDutyUsers, policy(rules)]);
    expect(item(without, 'policy', 'PPOL')).toMatchObject({
      verdict: 'refused',
      reason: expect.stringContaining('PSHIFTS, which was not read'),
    });

    const event = {
      id: 'EVT1',
      name: 'Week days',
      start_time: { date_time: '2026-06-01T07:00:00Z', time_zone: 'Europe/Berlin' },
      end_time: { date_time: '2026-06-01T15:00:00Z', time_zone: 'Europe/Berlin' },
      effective_since: '2026-06-01T07:00:00Z',
      effective_until: null,
      recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
      assignment_strategy: {
        type: 'rotating_member_assignment_strategy',
        shifts_per_member: 5,
        members: [
          { type: 'user_member', user_id: 'UADA' },
          { type: 'user_member', user_id: 'UBO' },
        ],
      },
    };
    const shifts = {
      path: 'v3-schedules-pshifts.json',
      value: {
        schedule: {
          id: 'PSHIFTS',
          name: 'Shifts',
          time_zone: 'Europe/Berlin',
          rotations: [{ id: 'ROT1', name: 'Week days', events: [event] }],
        },
      },
    };
    const result = read('pagerduty', [pagerDutyUsers, policy(rules), shifts]);
    expect(item(result, 'policy', 'PPOL').verdict).toBe('exact');
    expect(
      ['2026-06-19T08:00:00Z', '2026-06-20T08:00:00Z', '2026-06-22T08:00:00Z', '2026-06-22T15:00:00Z'].map((at) =>
        onCall(result, at),
      ),
    ).toEqual(['Ada', 'nobody', 'Bo', 'nobody']);
    expect(allEqual(result)).toBe(true);
  });

  test('leaves single shifts of version 3 out, adds others, and ends with the rule', () => {
    const event = {
      id: 'EVT1',
      name: 'Days',
      start_time: { date_time: '2026-06-15T08:00:00Z' },
      end_time: { date_time: '2026-06-15T16:00:00Z' },
      effective_since: '2026-06-15T08:00:00Z',
      effective_until: null,
      recurrence: ['RRULE:FREQ=DAILY;COUNT=6', 'EXDATE:20260617T080000Z', 'RDATE:20260625T080000Z'],
      assignment_strategy: {
        type: 'rotating_member_assignment_strategy',
        shifts_per_member: 1,
        members: ['UADA', 'UBO'].map((user_id) => ({ type: 'user_member', user_id })),
      },
    };
    const rotations = (recurrence: readonly string[]) => [
      { id: 'ROT1', name: 'Days', events: [{ ...event, recurrence }] },
    ];
    const readWith = (recurrence: readonly string[]) =>
      read('pagerduty', [
        pagerDutyUsers,
        {
          path: 'v3-schedules-pshifts.json',
          value: { schedule: { id: 'PSHIFTS', name: 'S', time_zone: 'UTC', rotations: rotations(recurrence) } },
        },
      ]);
    const result = readWith(event.recurrence);
    const days = [15, 16, 17, 18, 20, 21, 25];
    expect(days.map((day) => onCall(result, `2026-06-${day}T09:00:00Z`))).toEqual([
      'Ada',
      'Bo',
      'nobody',
      'Ada',
      'Ada',
      'nobody',
      'Bo',
    ]);
    expect(item(result, 'schedule', 'PSHIFTS').verdict).toBe('horizon');
    const yearly = readWith(['RRULE:FREQ=YEARLY;BYSETPOS=1;BYDAY=MO']);
    expect(item(yearly, 'layer', 'EVT1')).toMatchObject({
      verdict: 'refused',
      reason: expect.stringContaining('BYSETPOS'),
    });
  });

  test('compares with final_schedule, and names the cause of each minute that differs', () => {
    const final_schedule = {
      rendered_schedule_entries: [
        { start: '2026-07-01T00:00:00Z', end: '2026-07-02T06:00:00Z', user: { id: 'UADA', type: 'user_reference' } },
        {
          start: '2026-07-02T06:00:00Z',
          end: '2026-07-02T07:30:00Z',
          user: { id: 'UGONE', type: 'user_reference', summary: 'Eve' },
        },
        { start: '2026-07-02T07:30:00Z', end: '2026-07-03T00:00:00Z', user: { id: 'UADA', type: 'user_reference' } },
      ],
    };
    const { report } = read('pagerduty', [pagerDutyUsers, schedule([layer()], { final_schedule })]);
    expect(report.proof[0]).toMatchObject({
      schedule: 'Primary',
      against: 'rendered timeline',
      minutes: 2_880,
      equal: 2_790,
    });
    expect(report.proof[0]!.differences).toEqual([
      {
        from: '2026-07-02T06:00:00.000Z',
        to: '2026-07-02T07:30:00.000Z',
        theirs: ['Eve'],
        ours: ['Ada'],
        cause: expect.stringContaining('Eve is not among the people that were read'),
      },
    ]);
    expect(report.items.find(({ kind }) => kind === 'schedule')!.verdict).toBe('compiled');
  });
});
