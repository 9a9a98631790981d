import { expect, test } from 'vitest';

import { ask } from '#test/contract/ask.ts';
import { buildFixture, type Fixture, trigger } from '#test/contract/fixture.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const fixture = await buildFixture(w);

const LARGEST = Number.MAX_SAFE_INTEGER;

test.each<readonly [string, (fixture: Fixture) => object, readonly string[]]>([
  [
    'create_alert_rule',
    ({ serviceId }) => ({
      serviceId,
      name: ' ',
      kind: 'metric_threshold',
      config: { windowMinutes: '5', unheard_of: 1 },
    }),
    ['config.comparator', 'config.metricName', 'config.threshold', 'config.unheard_of', 'config.windowMinutes', 'name'],
  ],
  [
    'create_alert_rule',
    ({ serviceId }) => ({ serviceId, name: 5, kind: 'exception', config: { metricName: 'm', minSeverity: 'awful' } }),
    ['config.metricName', 'config.minSeverity', 'name'],
  ],
  [
    'create_alert_rule',
    ({ serviceId }) => ({
      serviceId,
      kind: 'metric_threshold',
      config: { metricName: 'm{', comparator: '=', threshold: 1 },
    }),
    ['config.comparator', 'config.metricName', 'name'],
  ],
  [
    'create_schedule',
    ({ teamId }) => ({
      teamId,
      name: '',
      timezone: 'Mars/Olympus',
      startAt: 'tomorrow',
      rotationConfig: { userIds: 'x' },
    }),
    ['name', 'rotationConfig.userIds', 'startAt', 'timezone'],
  ],
  ['update_schedule', ({ scheduleId }) => ({ scheduleId, name: '', timezone: '+02:00' }), ['name', 'timezone']],
  [
    'create_schedule_override',
    ({ userId }) => ({ userId, startAt: null, endAt: 'later', reason: 'x' }),
    ['endAt', 'reason', 'scheduleId', 'startAt'],
  ],
  [
    'query_metric',
    ({ serviceId }) => ({ serviceId, metricName: 'm{a=~"("}', windowMinutes: 0, aggregation: 'p99' }),
    ['aggregation', 'metricName', 'windowMinutes'],
  ],
  [
    'create_escalation_policy',
    ({ teamId }) => ({ teamId, name: 'x', steps: [{ afterMinutes: -1, channels: [] }, { channels: ['fax'] }, 5] }),
    ['steps[0].afterMinutes', 'steps[0].channels', 'steps[1].afterMinutes', 'steps[1].channels[0]', 'steps[2]'],
  ],
])('%s names faults of shape and of meaning in one answer', async (action, bodyOf, paths) => {
  const answer = await ask(w, action, { body: bodyOf(fixture) });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.body.errors.map(({ path }: { path: string }) => path).toSorted()).toEqual(paths);
});

test.each([-LARGEST, -1, 0, 1, LARGEST - 1, LARGEST])(
  'the integer %i is taken and comes back exactly',
  async (integer) => {
    const { memberId, scheduleId, teamId } = fixture;
    const member = await ask(w, 'update_team_member', { body: { memberId, sortOrder: integer } });
    expect(member.text).toContain(`"sortOrder":${integer},`);
    const rotationConfig = { userIds: [], shiftHours: integer };
    const schedule = await ask(w, 'update_schedule', { body: { scheduleId, rotationConfig } });
    expect(schedule.text).toContain(`"shiftHours":${integer}}`);
    const teams = await ask(w, 'list_teams');
    expect(teams.text).toContain(`"sortOrder":${integer},`);
    expect(teams.text).toContain(`"shiftHours":${integer}}`);
    expect((await ask(w, 'who_is_on_call', { body: { teamId } })).status).toBe(200);
    if (integer < 0) return;
    const steps = [{ afterMinutes: integer, channels: ['call'] }];
    const policy = await ask(w, 'create_escalation_policy', { body: { teamId, name: 'x', steps } });
    expect(policy.text).toContain(`"afterMinutes":${integer},`);
  },
);

test.each(['9007199254740992', '-9007199254740992', '9007199254740993', '1e16', '1e400', '-1e400', '0.5'])(
  'the number %s is no integer of the contract',
  async (number) => {
    const { memberId, scheduleId, teamId } = fixture;
    const bodies = {
      update_team_member: `{"memberId":"${memberId}","sortOrder":${number}}`,
      update_schedule: `{"scheduleId":"${scheduleId}","rotationConfig":{"userIds":[],"shiftHours":${number}}}`,
      create_escalation_policy: `{"teamId":"${teamId}","name":"x","steps":[{"afterMinutes":${number},"channels":["sms"]}]}`,
    };
    for (const [action, body] of Object.entries(bodies)) {
      const answer = await ask(w, action, { body });
      expect(answer.status, answer.text).toBe(400);
      expect(answer.body.errors).toHaveLength(1);
    }
  },
);

test('an integer may be written with a fraction of zero or an exponent', async () => {
  const { memberId } = fixture;
  for (const written of ['5.0', '0.5e1', '5e0']) {
    const answer = await ask(w, 'update_team_member', { body: `{"memberId":"${memberId}","sortOrder":${written}}` });
    expect(answer.text).toContain('"sortOrder":5,');
  }
});

test('the bounds of retention and of a window are within', async () => {
  const { serviceId } = fixture;
  for (const retentionDays of [1, 400]) {
    const body = { serviceId, capability: 'metrics', retentionDays };
    expect((await ask(w, 'set_retention', { body })).body.result.retentionDays.metrics).toBe(retentionDays);
  }
  for (const windowMinutes of [1, 10_080]) {
    const body = { serviceId, metricName: 'm', windowMinutes };
    expect((await ask(w, 'query_metric', { body })).body.result.windowMinutes).toBe(windowMinutes);
  }
  const defaults = (await ask(w, 'query_metric', { body: { serviceId, metricName: 'm' } })).body.result;
  expect(defaults).toMatchObject({ windowMinutes: 60, aggregation: 'avg' });
});

test('null clears what may be null, and what is absent stays', async () => {
  const { serviceId, ruleId, memberId } = fixture;
  const fields = { environment: 'a', scmOwner: 'b', scmRepo: 'c' };
  await ask(w, 'update_service', { body: { serviceId, ...fields } });
  const cleared = await ask(w, 'update_service', { body: { serviceId, scmOwner: null } });
  expect(cleared.body.result).toMatchObject({ ...fields, scmOwner: null });
  const rule = await ask(w, 'update_alert_rule', { body: { ruleId, escalationPolicyId: null } });
  expect(rule.body.result).toMatchObject({ escalationPolicyId: null, name: 'Checkout is slow', enabled: true });
  const member = await ask(w, 'update_team_member', { body: { memberId, phone: null } });
  expect(member.body.result).toMatchObject({ phone: null, smsEnabled: true });
});

test('every user that is nobody of the organization is named, each with its place', async () => {
  const { teamId, userId } = fixture;
  const steps = [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [userId, 'nobody'] },
    { afterMinutes: 1, channels: ['sms'], targetUserIds: ['nobody either'] },
  ];
  const answer = await ask(w, 'create_escalation_policy', { body: { teamId, name: 'x', steps } });
  expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
  const paths = answer.body.errors.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(['steps[0].targetUserIds[1]', 'steps[1].targetUserIds[0]']);
});

test('incidents move as the contract says, and settling twice changes nothing', async () => {
  await ask(w, 'resolve_incident', { body: { incidentId: fixture.incidentId } });
  const incidentId = await trigger(w, fixture.ruleId);
  const settle = async (action: string) => (await ask(w, action, { body: { incidentId } })).body.result;
  const acknowledged = await settle('acknowledge_incident');
  expect(acknowledged).toMatchObject({ status: 'acknowledged', acknowledgedBy: { via: 'rest' }, resolvedAt: null });
  w.clock.advance({ seconds: 1 });
  expect(await settle('acknowledge_incident')).toEqual(acknowledged);
  const resolved = await settle('resolve_incident');
  expect(resolved).toMatchObject({ status: 'resolved', acknowledgedAt: acknowledged.acknowledgedAt });
  w.clock.advance({ seconds: 1 });
  expect(await settle('resolve_incident')).toEqual(resolved);
  const late = await ask(w, 'acknowledge_incident', { body: { incidentId } });
  expect(late).toMatchObject({ status: 409, body: { code: 'conflict' } });
});
