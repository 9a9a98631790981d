import { describe, expect, test } from 'vitest';

import { ruleOfExpression } from '#modules/moving_in/decide/other/prom_rule.ts';
import { item, onCall, read } from '#test/modules/moving_in/answers.ts';

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
      {
        alert: 'Slow',
        expr: 'avg_over_time(queue_depth[5m]) > 100',
        for: '10m',
        keep_firing_for: '15m',
        labels: { service: 'shop' },
      },
      { record: 'job:x', expr: 'sum(x)' },
      { alert: 'Gone', expr: 'absent(up)' },
    ];
    const result = read('prometheus', [{ path: 'rules.yaml', value: { groups: [{ name: 'all', rules }] } }]);
    expect(result.file.rules).toMatchObject([
      {
        service: 'prometheus-service-shop',
        name: 'Slow',
        kind: 'metric_threshold',
        settings: { forMinutes: 10, recoveryMinutes: 15 },
      },
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
    {
      name: 'shop',
      team: 'sentry-3',
      sentry: { publicKey: 'b'.repeat(32), projectNumber: 7, furtherKeys: ['c'.repeat(32)] },
    },
  ]);
  expect(result.file.teams).toMatchObject([{ name: 'Core', members: [{ person: 'sentry-2' }] }]);
  expect(result.file.rules).toMatchObject([{ kind: 'exception', config: { minSeverity: 'error' } }]);
  expect(item(result, 'public_key', '11').verdict).toBe('exact');
  expect(item(result, 'public_key', '9')).toMatchObject({
    verdict: 'refused',
    reason: 'It is switched off there, or is no public key.',
  });
  expect(item(result, 'monitor', '13').verdict).toBe('refused');
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

test('Splunk On-Call has a schedule for each rotation of a policy, and people who stand in for others', () => {
  const users = ['ada', 'bo', 'cy'].map((username) => ({
    username,
    firstName: username.toUpperCase(),
    lastName: '',
    email: `${username}@example.com`,
  }));
  const rolls = (username: string): object[] => [
    { start: '2026-06-15T00:00:00Z', end: '2026-07-15T00:00:00Z', onCallUser: { username } },
  ];
  const policy = { name: 'Wake', slug: 'pol-1' };
  const result = read('splunk-on-call', [
    { path: 'users.json', value: { users } },
    { path: 'team.json', value: [{ name: 'Core', slug: 'team-core', memberCount: 3 }] },
    {
      path: 'team-core-oncall-schedule.json',
      value: {
        team: { slug: 'team-core', name: 'Core' },
        schedules: [
          {
            policy,
            schedule: [
              { onCallType: 'rotation_group', rotationName: 'Primary', rolls: rolls('ada') },
              { onCallType: 'rotation_group', rotationName: 'Secondary', rolls: rolls('bo') },
              { onCallType: 'user', onCallUser: { username: 'cy' } },
            ],
            overrides: [
              {
                origOnCallUser: { username: 'ada' },
                overrideOnCallUser: { username: 'cy' },
                start: '2026-06-20T00:00:00Z',
                end: '2026-06-21T00:00:00Z',
                policy,
              },
            ],
          },
        ],
      },
    },
    { path: 'policies.json', value: { policies: [{ policy, team: { slug: 'team-core' } }] } },
    {
      path: 'pol-1.json',
      value: {
        ...policy,
        steps: [
          {
            timeout: 0,
            entries: [{ executionType: 'rotation_group', rotationGroup: { slug: 'rtg-1', label: 'Primary' } }],
          },
          { timeout: 5, entries: [{ executionType: 'rotation_group_next', rotationGroup: { label: 'Secondary' } }] },
          { timeout: 5, entries: [{ executionType: 'webhook', webhook: { slug: 'w' } }] },
        ],
      },
    },
  ]);
  const days = ['2026-06-19', '2026-06-20', '2026-06-21'];
  expect(days.map((day) => onCall(result, `${day}T12:00:00Z`))).toEqual(['ADA', 'CY', 'ADA']);
  expect(days.map((day) => onCall(result, `${day}T12:00:00Z`, 1))).toEqual(['BO', 'BO', 'BO']);
  const [primary, secondary] = result.file.schedules!.map(({ key }) => key);
  expect(result.file.policies).toMatchObject([
    {
      steps: [
        { afterMinutes: 0, schedules: [primary] },
        { afterMinutes: 5, next: [secondary] },
      ],
    },
  ]);
  expect(item(result, 'policy', 'pol-1').reason).toContain('"webhook" has no like here');
  expect(item(result, 'override', 'pol-1 2026-06-20T00:00:00Z ada').verdict).toBe('horizon');
  expect(
    result.report.proof.every(({ minutes, equal, against }) => against !== 'rendered timeline' || minutes === equal),
  ).toBe(true);
});
