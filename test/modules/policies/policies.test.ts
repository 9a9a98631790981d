import { expect, test } from 'vitest';

import { fileWorld, type World } from '#test/kit/world.ts';

const shared = await fileWorld();

const NOBODY = 'user_00000000000000000000000000';

async function given(w: World) {
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const anna = await w.given.user({ name: 'Anna' });
  return { teamId: teamId as string, anna };
}

function pathsOf(answer: { body: { errors: { path: string }[] } }): string[] {
  return answer.body.errors.map(({ path }) => path).sort();
}

test('the steps of a policy come back as given, with what they left out filled in', async () => {
  const w = await shared.forOrganization();
  const { teamId, anna } = await given(w);
  const policy = await w.expectOk('create_escalation_policy', {
    teamId,
    name: 'Page',
    steps: [
      { afterMinutes: 15, channels: ['sms', 'call', 'sms'], targetUserIds: [anna.userId, anna.userId] },
      { afterMinutes: 0, channels: ['email'], useSchedule: true },
      { channels: ['push'], afterMinutes: Number.MAX_SAFE_INTEGER },
    ],
  });
  expect(policy).toEqual({
    policyId: expect.stringMatching(/^policy_/),
    teamId,
    name: 'Page',
    steps: [
      {
        afterMinutes: 15,
        channels: ['sms', 'call', 'sms'],
        targetUserIds: [anna.userId, anna.userId],
        useSchedule: false,
      },
      { afterMinutes: 0, channels: ['email'], targetUserIds: [], useSchedule: true },
      { afterMinutes: Number.MAX_SAFE_INTEGER, channels: ['push'], targetUserIds: [], useSchedule: false },
    ],
    createdAt: expect.any(String),
    updatedAt: policy.createdAt,
    warnings: [0, 1, 2].map((step) => expect.objectContaining({ kind: 'step_reaches_nobody', step })),
  });
  const { warnings: _told, ...stored } = policy;
  expect((await w.expectOk('list_teams')).teams[0].escalationPolicies).toEqual([stored]);
});

test('every fault of the steps is named at once, each by its path', async () => {
  const w = await shared.forOrganization();
  const answer = await w.call('create_escalation_policy', {
    teamId: 'nowhere',
    name: '',
    steps: [
      { afterMinutes: -1, channels: [] },
      { afterMinutes: 1.5, channels: ['sms', 'fax'], targetUserIds: 'x', useSchedule: 'yes', delay: 1 },
      { afterMinutes: Number.MAX_SAFE_INTEGER + 1, targetUserIds: [1] },
      'step',
      { afterMinutes: null, channels: ['sms'], targetUserIds: null },
    ],
  });
  expect(answer.status).toBe(400);
  expect(pathsOf(answer)).toEqual([
    'name',
    'steps[0].afterMinutes',
    'steps[0].channels',
    'steps[1].afterMinutes',
    'steps[1].channels[1]',
    'steps[1].delay',
    'steps[1].targetUserIds',
    'steps[1].useSchedule',
    'steps[2].afterMinutes',
    'steps[2].channels',
    'steps[2].targetUserIds[0]',
    'steps[3]',
    'steps[4].afterMinutes',
    'steps[4].targetUserIds',
  ]);
});

test('a policy begins with at least one step, and an update may take them all away', async () => {
  const w = await shared.forOrganization();
  const { teamId } = await given(w);
  expect(pathsOf(await w.call('create_escalation_policy', { teamId, name: 'Page', steps: [] }))).toEqual(['steps']);
  const { policyId } = await w.expectOk('create_escalation_policy', {
    teamId,
    name: 'Page',
    steps: [{ afterMinutes: 0, channels: ['sms'] }],
  });
  expect(await w.expectOk('update_escalation_policy', { policyId, steps: [] })).toMatchObject({ steps: [] });
});

test('targets who are not of the organization are named, each by its path, and nothing is saved', async () => {
  const w = await shared.forOrganization();
  const { teamId, anna } = await given(w);
  const other = await w.given.organization('Other');
  const steps = [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId, other.owner.userId] },
    { afterMinutes: 5, channels: ['sms'], targetUserIds: [NOBODY] },
  ];
  const answer = await w.call('create_escalation_policy', { teamId, name: 'Page', steps });
  expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(pathsOf(answer)).toEqual(['steps[0].targetUserIds[1]', 'steps[1].targetUserIds[0]']);
  expect((await w.expectOk('list_teams')).teams[0].escalationPolicies).toEqual([]);
});

test('an update changes what it names, and without a change nothing', async () => {
  const w = await shared.forOrganization();
  const { teamId, anna } = await given(w);
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }];
  const policy = await w.expectOk('create_escalation_policy', { teamId, name: 'Page', steps });
  const { policyId } = policy;
  w.clock.advance({ minutes: 1 });
  expect(await w.expectOk('update_escalation_policy', { policyId })).toEqual(policy);
  expect(await w.expectOk('update_escalation_policy', { policyId, name: 'Page', steps })).toEqual(policy);
  const renamed = await w.expectOk('update_escalation_policy', { policyId, name: 'Wake' });
  expect(renamed).toMatchObject({ name: 'Wake', steps: policy.steps });
  expect(renamed.updatedAt > policy.updatedAt).toBe(true);
  const entries = await w.context.db.sql.rows('select action from audit_log where target = $1 order by id', [policyId]);
  expect(entries).toEqual([{ action: 'create_escalation_policy' }, { action: 'update_escalation_policy' }]);
});

test('concurrent updates of name and steps are both kept', async () => {
  const w = await shared.forOrganization();
  const { teamId } = await given(w);
  const { policyId } = await w.expectOk('create_escalation_policy', {
    teamId,
    name: 'Page',
    steps: [{ afterMinutes: 0, channels: ['sms'] }],
  });
  await Promise.all([
    w.expectOk('update_escalation_policy', { policyId, name: 'Wake' }),
    w.expectOk('update_escalation_policy', { policyId, steps: [{ afterMinutes: 9, channels: ['call'] }] }),
  ]);
  expect((await w.expectOk('list_teams')).teams[0].escalationPolicies).toMatchObject([
    { name: 'Wake', steps: [{ afterMinutes: 9 }] },
  ]);
});

test('a policy of another organization is not there', async () => {
  const w = await shared.forOrganization();
  const { teamId } = await given(w);
  const steps = [{ afterMinutes: 0, channels: ['sms'] }];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Page', steps });
  const { orgKey: key } = await w.given.organization('Other');
  for (const action of ['update_escalation_policy', 'delete_escalation_policy']) {
    const foreign = await w.call(action, { policyId }, { key });
    const missing = await w.call(action, { policyId: 'nothing' }, { key });
    expect({ action, ...foreign }).toMatchObject({ action, status: 404, body: { errors: [{ path: 'policyId' }] } });
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
  }
  const created = await w.call('create_escalation_policy', { teamId, name: 'x', steps }, { key });
  expect(created).toMatchObject({ status: 404, body: { errors: [{ path: 'teamId' }] } });
});

test('a deleted policy tells which rules it leaves without one', async () => {
  const w = await shared.forOrganization();
  const { teamId } = await given(w);
  const steps = [{ afterMinutes: 0, channels: ['sms'] }];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Page', steps });
  const { serviceId } = await w.given.service();
  const rule = { serviceId, name: 'New errors', kind: 'exception', config: {} };
  const attached = [
    await w.expectOk('create_alert_rule', { ...rule, escalationPolicyId: policyId }),
    await w.expectOk('create_alert_rule', { ...rule, escalationPolicyId: policyId, enabled: false }),
  ];
  const free = await w.expectOk('create_alert_rule', rule);
  w.clock.advance({ minutes: 1 });
  expect(await w.expectOk('delete_escalation_policy', { policyId })).toEqual({
    deleted: true,
    policyId,
    detachedRuleIds: attached.map(({ ruleId }) => ruleId),
  });
  const { alertRules } = await w.expectOk('get_service', { serviceId });
  expect(alertRules.map((alertRule: { escalationPolicyId: unknown }) => alertRule.escalationPolicyId)).toEqual([
    null,
    null,
    null,
  ]);
  expect(alertRules[2]).toMatchObject(free);
  expect(alertRules[0].updatedAt > attached[0].updatedAt).toBe(true);
  expect((await w.call('delete_escalation_policy', { policyId })).status).toBe(404);
});

test('a rule is never left with a policy that is being deleted', async () => {
  const w = await shared.forOrganization();
  const { teamId } = await given(w);
  const { serviceId } = await w.given.service();
  const rule = await w.expectOk('create_alert_rule', { serviceId, name: 'x', kind: 'exception', config: {} });
  for (let round = 0; round < 5; round += 1) {
    const { policyId } = await w.expectOk('create_escalation_policy', {
      teamId,
      name: 'Page',
      steps: [{ afterMinutes: 0, channels: ['sms'] }],
    });
    const attach = { ruleId: rule.ruleId, escalationPolicyId: policyId };
    const [updated, deleted] = await Promise.all([
      w.call('update_alert_rule', attach),
      w.call('delete_escalation_policy', { policyId }),
    ]);
    expect(deleted.status).toBe(200);
    expect(deleted.body.result.detachedRuleIds).toEqual(updated.status === 200 ? [rule.ruleId] : []);
    expect([200, 404]).toContain(updated.status);
    expect((await w.expectOk('get_service', { serviceId })).alertRules[0].escalationPolicyId).toBeNull();
  }
});
