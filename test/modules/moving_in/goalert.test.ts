import { describe, expect, test } from 'vitest';

import { allEqual, item, NOW, onCall, read, type Result } from '#test/modules/moving_in/answers.ts';

test('GoAlert counts days from Sunday, and delays until the next step', () => {
  const users = ['Ada', 'Bo'].map((name) => ({
    id: name.toLowerCase(),
    name,
    email: `${name}@example.com`,
    role: 'user',
    contactMethods: [{ id: `cm-${name}`, type: 'SMS', value: '+31612345678', name: 'Phone' }],
  }));
  const weekdays = [false, true, true, true, true, true, false];
  const data = {
    users: { nodes: users },
    rotations: {
      nodes: [
        {
          id: 'rot',
          name: 'Rotation',
          type: 'weekly',
          shiftLength: 1,
          start: '2026-01-05T08:00:00Z',
          timeZone: 'UTC',
          users: [{ id: 'ada' }, { id: 'bo' }],
        },
      ],
    },
    schedules: {
      nodes: [
        {
          id: 'sched',
          name: 'Primary',
          timeZone: 'UTC',
          targets: [
            {
              target: { id: 'rot', type: 'rotation', name: 'Rotation' },
              rules: [{ start: '08:00', end: '20:00', weekdayFilter: weekdays }],
            },
          ],
        },
      ],
    },
    escalationPolicies: {
      nodes: [
        {
          id: 'pol',
          name: 'Policy',
          repeat: 1,
          steps: [
            { delayMinutes: 5, targets: [{ id: 'sched', type: 'schedule', name: 'Primary' }] },
            { delayMinutes: 10, targets: [{ id: 'bo', type: 'user', name: 'Bo' }] },
          ],
        },
      ],
    },
    services: { nodes: [{ id: 'svc', name: 'shop', escalationPolicy: { id: 'pol' } }] },
  };
  const result = read('goalert', [{ path: 'answer.json', value: { data } }]);
  expect(
    ['2026-06-21T12:00:00Z', '2026-06-22T12:00:00Z', '2026-06-22T20:00:00Z', '2026-06-29T12:00:00Z'].map((at) =>
      onCall(result, at),
    ),
  ).toEqual(['nobody', 'Ada', 'nobody', 'Bo']);
  expect(result.file.policies).toMatchObject([
    { steps: [{ afterMinutes: 0 }, { afterMinutes: 5 }], repeat: { times: 1, pauseMinutes: 10 } },
  ]);
  expect(allEqual(result)).toBe(true);
});

test('GoAlert pages a rotation by itself, as a schedule made for it, and names channels that have no like here', () => {
  const users = ['Ada', 'Bo'].map((name) => ({ id: name.toLowerCase(), name, email: `${name}@example.com` }));
  const rotation = { id: 'rot', name: 'Weeks', type: 'weekly', shiftLength: 1, timeZone: 'Europe/Berlin' };
  const targets = [
    { id: 'rot', type: 'rotation', name: 'Weeks' },
    { id: 'C1', type: 'slackChannel', name: '#ops' },
  ];
  const data = {
    users: { nodes: users },
    rotations: { nodes: [{ ...rotation, start: '2026-06-15T08:00:00Z', activeUserIndex: 0, userIDs: ['ada', 'bo'] }] },
    escalationPolicies: { nodes: [{ id: 'pol', name: 'Policy', repeat: 0, steps: [{ delayMinutes: 5, targets }] }] },
  };
  const result = read('goalert', [{ path: 'answer.json', value: { data } }]);
  expect(result.file.schedules).toMatchObject([{ key: 'goalert-rot', timezone: 'Europe/Berlin' }]);
  expect(onCall(result, '2026-06-22T08:00:00Z')).toBe('Bo');
  expect(result.file.policies).toMatchObject([{ steps: [{ schedules: ['goalert-rot'] }] }]);
  expect(item(result, 'policy', 'pol')).toMatchObject({
    verdict: 'compiled',
    reason: 'A target of the type "slackChannel" has no like here.',
  });
  expect(allEqual(result)).toBe(true);
});

test('GoAlert keeps who is on call by activeUserIndex, not by the start of the rotation', () => {
  const users = ['Ada', 'Bo', 'Cy'].map((name) => ({ id: name.toLowerCase(), name, email: `${name}@example.com` }));
  const target = { id: 'rot', type: 'rotation', name: 'Rotation' };
  const rotation = { id: 'rot', name: 'Rotation', type: 'weekly', shiftLength: 1, timeZone: 'UTC' };
  const data = {
    users: { nodes: users },
    rotations: {
      nodes: [{ ...rotation, start: '2026-01-05T08:00:00Z', activeUserIndex: 2, userIDs: ['ada', 'bo', 'cy'] }],
    },
    schedules: { nodes: [{ id: 'sched', name: 'Primary', timeZone: 'UTC', targets: [{ target, rules: [] }] }] },
  };
  const result = read('goalert', [{ path: 'answer.json', value: { data } }]);
  const nowAndNext = [NOW, NOW + 7 * 86_400_000].map((at) => onCall(result, new Date(at).toISOString()));
  expect(nowAndNext).toEqual(['Cy', 'Ada']);
  expect(allEqual(result)).toBe(true);
});

describe('GoAlert overrides', () => {
  const users = ['Ada', 'Bo', 'Cy'].map((name) => ({ id: name.toLowerCase(), name, email: `${name}@example.com` }));
  const rotation = (id: string, userIDs: readonly string[], fields: object = {}): object => ({
    id,
    name: id,
    type: 'weekly',
    shiftLength: 1,
    timeZone: 'UTC',
    start: '2026-06-15T08:00:00Z',
    activeUserIndex: 0,
    userIDs,
    ...fields,
  });
  const readWith = (rotations: readonly object[], userOverrides: readonly object[], fields: object = {}): Result => {
    const targets = rotations.map((value) => ({ target: { ...value, type: 'rotation' }, rules: [] }));
    const schedules = [{ id: 'sched', name: 'Primary', timeZone: 'UTC', targets, ...fields }];
    const overrides = userOverrides.map((value, index) => ({ id: `o${index}`, target: { id: 'sched' }, ...value }));
    const data = { users, rotations, schedules, userOverrides: overrides };
    return read('goalert', [{ path: 'answer.json', value: { data } }]);
  };
  const days = (from: number, to: number): object => ({
    start: `2026-06-${from}T08:00:00Z`,
    end: `2026-06-${to}T08:00:00Z`,
  });
  const at = (result: Result, ...juneDays: number[]): string[] =>
    juneDays.map((day) => onCall(result, `2026-06-${day}T12:00:00Z`));
  const turns = rotation('rot', ['ada', 'bo']);

  test('replace a person where their turn is, by an override here', () => {
    const result = readWith([turns], [{ ...days(17, 30), removeUserID: 'bo', addUserID: 'cy' }]);
    expect(at(result, 18, 21, 22, 28, 29)).toEqual(['Ada', 'Ada', 'Cy', 'Cy', 'Ada']);
    expect(result.file.schedules![0]!.overrides).toMatchObject([
      { person: 'goalert-cy', startsAt: '2026-06-22T08:00:00', endsAt: '2026-06-29T08:00:00' },
    ]);
    expect(item(result, 'override', 'o0')).toMatchObject({
      verdict: 'compiled',
      reason: 'It is written down as an override.',
    });
    expect(allEqual(result)).toBe(true);
  });

  test('add a person beside those on call, by a layer above the others', () => {
    const result = readWith([turns], [{ ...days(20, 25), removeUserID: '', addUserID: 'cy' }]);
    expect(at(result, 19, 20, 23, 25)).toEqual(['Ada', 'Ada and Cy', 'Bo and Cy', 'Bo']);
    expect(item(result, 'override', 'o0').verdict).toBe('compiled');
    expect(allEqual(result)).toBe(true);
  });

  test('remove a person, by a pause of all layers, whose turns go on behind it', () => {
    const result = readWith([turns], [{ ...days(16, 24), removeUserID: 'ada', addUserID: '' }]);
    expect(at(result, 15, 18, 21, 22, 23, 29)).toEqual(['Ada', 'nobody', 'nobody', 'Bo', 'Bo', 'Ada']);
    expect(result.file.schedules![0]!.layers).toMatchObject([
      { startsAt: '2026-06-08T08:00:00', endsAt: '2026-06-16T08:00:00' },
      { startsAt: '2026-06-08T08:00:00', activeFrom: '2026-06-22T08:00:00' },
    ]);
    expect(allEqual(result)).toBe(true);
  });

  test('meet each other: who was added stays, whoever is removed', () => {
    const result = readWith(
      [turns],
      [
        { ...days(16, 20), addUserID: 'cy', removeUserID: '' },
        { ...days(18, 24), removeUserID: 'ada', addUserID: '' },
      ],
    );
    expect(at(result, 17, 19, 21, 22)).toEqual(['Ada and Cy', 'Cy', 'nobody', 'Bo']);
    expect(allEqual(result)).toBe(true);
  });

  test('change nothing where the person is not on call, or it is over', () => {
    const result = readWith(
      [turns],
      [
        { ...days(16, 18), removeUserID: 'bo', addUserID: 'cy' },
        { ...days(10, 12), removeUserID: 'ada', addUserID: 'cy' },
      ],
    );
    expect(['o0', 'o1'].map((id) => item(result, 'override', id).verdict)).toEqual(['exact', 'exact']);
    expect(allEqual(result)).toBe(true);
  });

  test('are refused with their names where a person, a time or the schedule was not read', () => {
    const result = readWith(
      [turns],
      [
        { ...days(16, 18), removeUserID: 'ada', addUserID: 'zoe' },
        { start: 'soon', end: 'later', removeUserID: 'ada' },
        { ...days(16, 18), removeUserID: 'ada', target: { id: 'gone', name: 'Gone' } },
      ],
    );
    expect(['o0', 'o1', 'o2'].map((id) => item(result, 'override', id))).toMatchObject([
      { verdict: 'refused', reason: expect.stringContaining('not among the people') },
      { verdict: 'refused', reason: 'Its times or its people cannot be read.' },
      { verdict: 'refused', reason: 'Its schedule was not read.' },
    ]);
  });

  test('give way to a temporary schedule, which stands in place of everything', () => {
    const shifts = [{ ...days(17, 18), userID: 'bo' }];
    const result = readWith([turns], [{ ...days(16, 19), removeUserID: 'ada', addUserID: 'cy' }], {
      temporarySchedules: [{ ...days(17, 19), shifts }],
    });
    expect(at(result, 16, 17, 18, 19)).toEqual(['Cy', 'Bo', 'nobody', 'Ada']);
    expect(item(result, 'override', 'sched 2026-06-17T08:00:00Z').verdict).toBe('compiled');
    expect(allEqual(result)).toBe(true);
  });

  test('count by the clock of the rotation, and its months', () => {
    const zones = readWith([rotation('rot', ['ada', 'bo'], { timeZone: 'Europe/Berlin' })], []);
    expect(item(zones, 'schedule', 'sched')).toMatchObject({
      verdict: 'horizon',
      reason: expect.stringContaining('another time zone'),
    });
    const months = readWith([rotation('rot', ['ada', 'bo'], { type: 'monthly' })], []);
    expect(item(months, 'schedule', 'sched').verdict).toBe('exact');
    expect(['2026-07-15T07:59:00Z', '2026-07-15T08:00:00Z'].map((time) => onCall(months, time))).toEqual(['Ada', 'Bo']);
    expect(allEqual(months)).toBe(true);
  });
});
