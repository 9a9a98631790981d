import { describe, expect, test } from 'vitest';

import { ruleOfExpression } from '#modules/moving_in/decide/other/prom_rule.ts';
import { allEqual, item, NOW, onCall, read, type Result } from '#test/modules/moving_in/answers.ts';

describe('rules of Prometheus', () => {
  const cases: readonly (readonly [string, object])[] = [
    [
      'avg_over_time(queue_depth[5m]) > 100',
      { metricName: 'queue_depth', aggregation: 'avg', windowMinutes: 5, comparator: '>', threshold: 100, losses: [] },
    ],
    [
      'sum(increase(http_requests_total{status=~"5.."}[10m])) > 50',
      {
        metricName: 'http_requests_total{status=~"5.."}',
        aggregation: 'sum',
        windowMinutes: 10,
        threshold: 50,
        losses: [],
      },
    ],
    [
      'sum(rate(errors_total[5m])) >= 0.5',
      { metricName: 'errors_total', aggregation: 'sum', windowMinutes: 5, comparator: '>=', threshold: 150 },
    ],
    [
      'sum(rate(http_requests_total{status=~"5.."}[5m])) / sum(rate(http_requests_total[5m])) * 100 > 5',
      {
        metricName: 'http_requests_total{status=~"5.."} / http_requests_total * 100',
        aggregation: 'sum',
        windowMinutes: 5,
        threshold: 5,
        losses: [],
      },
    ],
    [
      '(sum(rate(errors_total[1h])) / sum(rate(requests_total[1h]))) > (14.4 * 0.001) and (sum(rate(errors_total[5m])) / sum(rate(requests_total[5m]))) > (14.4 * 0.001)',
      {
        metricName: 'errors_total / requests_total',
        windowMinutes: 60,
        threshold: 0.0144,
        losses: [expect.stringContaining('further conditions are not kept')],
      },
    ],
    ['sum(up) < 3', { metricName: 'up', aggregation: 'last', comparator: '<', threshold: 3 }],
    ['absent(up)', { because: 'it does not compare with a number' }],
    [
      'histogram_quantile(0.95, sum(rate(x_bucket[5m])) by (le)) > 1',
      { because: 'what it measures is none that a rule measures' },
    ],
  ];
  test.each(cases)('%s', (expr, expected) => {
    expect(ruleOfExpression(expr)).toMatchObject(expected);
  });

  test('become rules of a service', () => {
    const rules = [
      { alert: 'Slow', expr: 'avg_over_time(queue_depth[5m]) > 100', for: '10m', labels: { service: 'shop' } },
      { record: 'job:x', expr: 'sum(x)' },
      { alert: 'Gone', expr: 'absent(up)' },
    ];
    const result = read('prometheus', [{ path: 'rules.yaml', value: { groups: [{ name: 'all', rules }] } }]);
    expect(result.file.rules).toMatchObject([
      { service: 'prometheus-service-shop', name: 'Slow', kind: 'metric_threshold', settings: { forMinutes: 10 } },
    ]);
    expect(result.report.read).toEqual({ rule: 2, service: 1, recording_rule: 1 });
  });
});

test('routes of Alertmanager become routes of a service, those of children first', () => {
  const configuration = {
    route: {
      receiver: 'nobody',
      routes: [
        {
          matchers: ['team="core"', 'severity=~"critical|page"'],
          receiver: 'core',
          routes: [{ match: { env: 'test' }, receiver: 'nobody' }],
        },
        { matchers: ['team!="core"'], receiver: 'core' },
        { match_re: { job: 'db-.*' }, receiver: 'core', continue: true },
      ],
    },
    receivers: [{ name: 'core', email_configs: [{ to: 'ada@example.com, bo@example.com' }] }, { name: 'nobody' }],
    inhibit_rules: [{ source_matchers: ['severity="critical"'] }],
  };
  const result = read('alertmanager', [{ path: 'alertmanager.yml', value: configuration }]);
  const routes = result.file.routes?.[0]?.routes ?? [];
  expect(
    routes.map(
      ({ conditions = [], outcome }) =>
        `${outcome} ${conditions.map(({ path, equals, matches }) => `${path} ${equals ?? matches}`).join(', ')}`,
    ),
  ).toEqual([
    'open labels.team core, labels.severity critical, labels.env test',
    'open labels.team core, labels.severity page, labels.env test',
    'page labels.team core, labels.severity critical',
    'page labels.team core, labels.severity page',
    'page labels.job db-*',
    'open ',
  ]);
  expect(item(result, 'route', '0.1')).toMatchObject({
    verdict: 'refused',
    reason: 'No condition here says team!="core".',
  });
  expect(item(result, 'inhibition', '0').verdict).toBe('refused');
});

test('provisioning files of Grafana become rules and routes', () => {
  const rule = {
    uid: 'abc',
    title: 'Slow',
    condition: 'C',
    for: '5m',
    labels: { service: 'shop' },
    data: [
      { refId: 'A', relativeTimeRange: { from: 600, to: 0 }, model: { expr: 'queue_depth' } },
      { refId: 'B', model: { type: 'reduce', expression: 'A', reducer: 'mean' } },
      {
        refId: 'C',
        model: { type: 'threshold', expression: 'B', conditions: [{ evaluator: { type: 'gt', params: [100] } }] },
      },
    ],
  };
  const result = read('grafana', [
    {
      path: 'alerting.yaml',
      value: {
        apiVersion: 1,
        groups: [{ name: 'g', rules: [rule] }],
        contactPoints: [{ name: 'core', receivers: [{ uid: 'cp', type: 'slack' }] }],
        policies: [{ receiver: 'core', routes: [{ receiver: 'core', object_matchers: [['team', '=', 'core']] }] }],
      },
    },
  ]);
  expect(result.file.rules).toMatchObject([
    { config: { metricName: 'queue_depth', aggregation: 'avg', windowMinutes: 10, comparator: '>', threshold: 100 } },
  ]);
  expect(result.file.routes![0]!.routes).toHaveLength(2);
  expect(item(result, 'contact_point', 'cp').verdict).toBe('refused');
});

test('projects of Sentry keep public key and number', () => {
  const row = (model: string, pk: number, fields: object) => ({ model: `sentry.${model}`, pk, fields });
  const key = (pk: number, character: string, status = 0) =>
    row('projectkey', pk, { project: 7, label: `Key ${pk}`, public_key: character.repeat(32), status });
  const rows = [
    row('organization', 1, { name: 'Acme' }),
    row('user', 2, { username: 'ada@example.com', email: 'ada@example.com', name: 'Ada' }),
    row('team', 3, { name: 'Core' }),
    row('organizationmember', 4, { user: 2, role: 'owner' }),
    row('organizationmemberteam', 5, { organizationmember: 4, team: 3 }),
    row('project', 7, { name: 'shop' }),
    row('projectteam', 8, { project: 7, team: 3 }),
    key(9, 'a', 1),
    key(10, 'b'),
    key(11, 'c'),
    row('rule', 12, {
      project: 7,
      label: 'New issues',
      data: JSON.stringify({
        conditions: [{ id: 'sentry.rules.conditions.first_seen_event.FirstSeenEventCondition' }],
      }),
    }),
    row('monitor', 13, {}),
  ];
  const result = read('sentry', [{ path: 'export.json', value: rows }]);
  expect(result.file.services).toMatchObject([
    { name: 'shop', team: 'sentry-3', sentry: { publicKey: 'b'.repeat(32), projectNumber: 7 } },
  ]);
  expect(result.file.teams).toMatchObject([{ name: 'Core', members: [{ person: 'sentry-2' }] }]);
  expect(result.file.rules).toMatchObject([{ kind: 'exception', config: { minSeverity: 'error' } }]);
  expect(item(result, 'public_key', '11').verdict).toBe('refused');
  expect(item(result, 'monitor', '13').verdict).toBe('refused');
});

test('an iCal feed is written down until a date', () => {
  const feed = [
    'BEGIN:VCALENDAR',
    'X-WR-CALNAME:On call',
    'X-WR-TIMEZONE:Europe/Berlin',
    'BEGIN:VEVENT',
    'UID:1',
    'SUMMARY:Ada',
    'ATTENDEE;CN=Ada:mailto:ada@example.com',
    'DTSTART;TZID=Europe/Berlin:20260601T080000',
    'DTEND;TZID=Europe/Berlin:20260601T200000',
    'RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR',
    'EXDATE;TZID=Europe/Berlin:20260618T080000',
    'END:VEVENT',
    'BEGIN:VEVENT',
    'UID:2',
    'SUMMARY:Somebody',
    'DTSTART:20260620T080000Z',
    'DTEND:20260620T200000Z',
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\r\n');
  const result = read('ical', [{ path: 'feed.ics', value: feed }]);
  expect(
    ['2026-06-17T06:00:00Z', '2026-06-17T18:00:00Z', '2026-06-18T06:00:00Z'].map((at) => onCall(result, at)),
  ).toEqual(['Ada', 'nobody', 'nobody']);
  expect(item(result, 'schedule', 'feed.ics').verdict).toBe('horizon');
  expect(item(result, 'event', '2')).toMatchObject({
    verdict: 'refused',
    reason: 'It names nobody by a mail address.',
  });
});

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

test('Splunk On-Call and Better Stack say who is on call, and not by which turns', () => {
  const splunk = read('splunk-on-call', [
    {
      path: 'users.json',
      value: { users: [{ username: 'ada', firstName: 'Ada', lastName: '', email: 'ada@example.com' }] },
    },
    { path: 'team.json', value: [{ name: 'Core', slug: 'team-core', memberCount: 1 }] },
    {
      path: 'team-core-oncall-schedule.json',
      value: {
        team: { slug: 'team-core', name: 'Core' },
        schedules: [
          {
            policy: { name: 'Primary', slug: 'pol-1' },
            schedule: [
              {
                rolls: [
                  { start: '2026-06-15T00:00:00Z', end: '2026-07-15T00:00:00Z', onCallUser: { username: 'ada' } },
                ],
              },
            ],
          },
        ],
      },
    },
  ]);
  expect(onCall(splunk, '2026-07-01T00:00:00Z')).toBe('Ada');
  expect(item(splunk, 'schedule', 'pol-1').verdict).toBe('horizon');
  const better = read('better-stack', [
    {
      path: 'members.json',
      value: {
        data: [
          { id: '1', type: 'team_member', attributes: { email: 'ada@example.com', first_name: 'Ada', last_name: 'A' } },
        ],
      },
    },
    {
      path: 'calendars.json',
      value: { data: [{ id: '77', type: 'on_call_calendar', attributes: { name: 'Primary' } }] },
    },
    {
      path: 'on-calls-77-events.json',
      value: [{ starts_at: '2026-06-15T00:00:00Z', ends_at: '2026-07-15T00:00:00Z', users: ['ada@example.com'] }],
    },
    {
      path: 'policies.json',
      value: {
        data: [
          {
            id: '5',
            type: 'policy',
            attributes: {
              name: 'Policy',
              repeat_count: 2,
              repeat_delay: 60,
              steps: [
                { wait_before: 0, step_members: [{ type: 'current_on_call', id: '77' }] },
                { wait_before: 300, step_members: [{ type: 'user', id: '1' }] },
              ],
            },
          },
        ],
      },
    },
  ]);
  expect(onCall(better, '2026-07-01T00:00:00Z')).toBe('Ada A');
  expect(better.file.policies).toMatchObject([
    { steps: [{ afterMinutes: 0 }, { afterMinutes: 5 }], repeat: { times: 2, pauseMinutes: 1 } },
  ]);
});
