import { beforeEach, expect, test } from 'vitest';

import { getEscalationPolicy, searchEscalationPolicies } from '#modules/policies/operations/policies.ts';
import { previewEscalation, simulateEscalation } from '#modules/policies/operations/simulate_escalation.ts';
import { replaceEscalationPolicy } from '#modules/policies/operations/update_escalation_policy.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import type { Id } from '#kernel/ids.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

let w: World;
let userId: Id<'user'>;
let teamId: string;

beforeEach(async () => {
  w = await world();
  ({ userId } = await w.given.user({ name: 'Anna', role: 'editor' }));
  ({ teamId } = await w.expectOk('create_team', { name: 'Payments' }));
});

const run = (operation: AnyOperation, input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, userId, 'editor'), input);

const STEPS = [{ afterMinutes: 0, channels: ['push'], useSchedule: true }];

const policy = async (name: string, steps: readonly object[] = STEPS) =>
  await w.expectOk('create_escalation_policy', { teamId, name, steps });

test('policies are found page by page by name, with their team, what uses them and what is wrong', async () => {
  const [, b] = [await policy('Alpha'), await policy('beta'), await policy('Gamma')];
  const { serviceId } = await w.given.service({ name: 'checkout' });
  for (const name of ['One', 'Two', 'Three', 'Four']) {
    await w.expectOk('create_alert_rule', {
      serviceId,
      name,
      kind: 'exception',
      config: {},
      escalationPolicyId: b.policyId,
    });
  }
  const first = await run(searchEscalationPolicies, { limit: 2 });
  expect(first.policies.map(({ name }: { name: string }) => name)).toEqual(['Alpha', 'beta']);
  expect(first.policies[1]).toMatchObject({
    teamName: 'Payments',
    ruleCount: 4,
    rules: [{ name: 'Four', serviceName: 'checkout', enabled: true }, { name: 'One' }, { name: 'Three' }],
    warnings: [{ kind: 'step_reaches_nobody', policyId: b.policyId, step: 0 }],
  });
  const second = await run(searchEscalationPolicies, { limit: 2, cursor: first.nextCursor });
  expect(second).toMatchObject({ policies: [{ name: 'Gamma', ruleCount: 0, rules: [] }], nextCursor: null });
  expect([first.total, second.total]).toEqual([3, 3]);
  const narrowed = await run(searchEscalationPolicies, { text: 'BET', teamId });
  expect(narrowed).toMatchObject({ policies: [{ name: 'beta' }], total: 1 });
});

test('a policy shows whom it would page now, and a gap only where it asks a schedule', async () => {
  const asks = await policy('Asks');
  const names = await policy('Names', [{ afterMinutes: 5, channels: ['email'], targetUserIds: [userId] }]);
  await w.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig: { userIds: [] } });
  const kinds = async ({ policyId }: { policyId: string }) =>
    (await run(getEscalationPolicy, { policyId })).warnings.map(({ kind }: { kind: string }) => kind);
  expect(await kinds(asks)).toEqual(['step_reaches_nobody', 'schedule_gap']);
  expect(await kinds(names)).toEqual(['step_reaches_nobody']);
  expect(await run(getEscalationPolicy, { policyId: names.policyId })).toMatchObject({
    now: [{ step: 0, people: [{ name: 'Anna', isOnCall: false }], nobodyReached: 'channel_not_configured' }],
  });
});

test('a policy is simulated alone as with a rule that pages by it, and one or the other has to be given', async () => {
  await w.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig: { userIds: [userId] } });
  const { policyId } = await policy('Wake Anna');
  const { serviceId } = await w.given.service({ name: 'checkout' });
  const rule = { serviceId, name: 'Slow', kind: 'exception', config: {}, escalationPolicyId: policyId };
  await w.expectOk('create_alert_rule', rule);
  const at = w.clock.now().add({ hours: 400 }).toString();
  const alone = await run(simulateEscalation, { policyId, at });
  expect(alone).toMatchObject({ service: null, rules: [], simulated: { ruleId: null, policy: { policyId } } });
  expect(alone.simulated.steps).toMatchObject([{ onCall: [{ personName: 'Anna' }] }]);
  expect(alone.simulated.steps).toEqual((await run(simulateEscalation, { serviceId, at })).simulated.steps);
  await expect(run(simulateEscalation, { at })).rejects.toMatchObject({ faults: [{ path: 'serviceId' }] });
  const both = run(simulateEscalation, { serviceId, policyId });
  await expect(both).rejects.toMatchObject({ faults: [{ path: 'policyId' }] });
  await expect(run(simulateEscalation, { policyId: 'policy_0' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a draft shows whom it would page, people who have left included', async () => {
  const gone = await w.given.user({ name: 'Bram' });
  await w.context.db.sql.run('delete from memberships where user_id = $1', [gone.userId]);
  const steps = [{ afterMinutes: 0, channels: ['push'], targetUserIds: [gone.userId] }];
  expect((await run(previewEscalation, { teamId, steps })).steps).toMatchObject([
    { people: [{ name: null, channels: [{ reason: 'left_organization' }] }], nobodyReached: 'no_usable_channel' },
  ]);
});

test('a policy is replaced by what was entered, unless somebody has changed it since it was read', async () => {
  const { policyId, updatedAt } = await policy('Wake somebody');
  const body = { policyId, basedOn: updatedAt, name: 'Wake Anna', steps: STEPS };
  w.clock.advance({ seconds: 1 });
  const saved = await run(replaceEscalationPolicy, body);
  expect(saved).toMatchObject({ name: 'Wake Anna', steps: [{ useSchedule: true }] });
  expect(saved.updatedAt).not.toBe(updatedAt);

  await expect(run(replaceEscalationPolicy, { ...body, name: 'Lost' })).rejects.toMatchObject({ code: 'conflict' });
  expect((await run(getEscalationPolicy, { policyId })).name).toBe('Wake Anna');
  const audited = await w.context.db.sql.rows(
    `select before->>'name' as before, after->>'name' as after from audit_log where action = 'replace_escalation_policy'`,
  );
  expect(audited).toEqual([{ before: 'Wake somebody', after: 'Wake Anna' }]);
});
