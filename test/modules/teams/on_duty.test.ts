import { expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { getDeliveryHealth, getPagingProblems } from '#modules/notifications/operations/get_paging_problems.ts';
import { getHome } from '#modules/home/operations/get_home.ts';
import { declareIncident } from '#modules/incidents/operations/declare_incident.ts';
import { listAssignees, reassignIncident } from '#modules/incidents/operations/reassignment.ts';
import { addEscalationPolicy } from '#modules/policies/operations/create_escalation_policy.ts';
import { searchEscalationPolicies } from '#modules/policies/operations/policies.ts';
import { createTeamSchedule } from '#modules/schedules/operations/create_schedule.ts';
import { duplicateSchedule } from '#modules/schedules/operations/schedule_layers.ts';
import { swapShifts } from '#modules/schedules/operations/swaps.ts';
import { changeRole, listMembers } from '#modules/organizations/operations/members.ts';
import { previewEscalation } from '#modules/policies/operations/simulate_escalation.ts';
import { updateOwnContact } from '#modules/contacts/operations/update_own_contact.ts';
import { confirmPhone, requestPhoneCode } from '#modules/contacts/operations/phone_numbers.ts';
import { getTeam } from '#modules/teams/operations/get_team.ts';
import type { Config } from '#entry/config.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { forgetSimulatedNumbers } from '#entry/first_run.ts';
import { storesOf } from '#modules/stores.ts';
import { simulatedAccountSid, simulatedIdsOf } from '#notify/twilio/simulated_account.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

const APP_SECRET = 'a secret that is long enough for tests';
const TWILIO = { twilioAccountSid: `AC${'0'.repeat(32)}`, twilioAuthToken: 'token', twilioFrom: '+15005550006' };

/** Vera, a viewer, is in a team; SMS and calls are set up. */
async function veraInATeam(settings: Partial<Config> = TWILIO) {
  const w = await world({ settings });
  const vera = await w.given.user({ name: 'Vera', role: 'viewer' });
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const run = (operation: AnyOperation, input: object, role: Role = 'owner', userId: Id<'user'> = w.owner.userId) =>
    runOperation(w, operation, memberCaller(w.orgId, userId, role), input);
  return { w, vera, teamId: teamId as string, run };
}

const onCall = (w: World, teamId: string, userId: string) =>
  w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    rotationConfig: { userIds: [userId] },
    startAt: '2020-01-01T00:00:00Z',
  });

test('whoever puts somebody on call who cannot answer is told so, and so are readers of the team', async () => {
  const { w, vera, teamId, run } = await veraInATeam();
  const sentence = 'Vera is paged, but the role viewer may neither acknowledge nor resolve';
  const warned = [expect.stringContaining(sentence), expect.stringContaining('Nothing reaches Vera')];
  const { scheduleId, warnings } = await onCall(w, teamId, vera.userId);
  expect(warnings).toEqual(warned);
  const rotationConfig = { userIds: [vera.userId] };
  expect((await w.expectOk('update_schedule', { scheduleId, rotationConfig })).warnings).toEqual(warned);
  const time = { startAt: w.clock.now().toString(), endAt: w.clock.now().add({ hours: 1 }).toString() };
  const override = { scheduleId, userId: vera.userId, ...time };
  expect((await w.expectOk('create_schedule_override', override)).warnings).toEqual(warned);
  const steps = [{ afterMinutes: 0, channels: ['email'], targetUserIds: [vera.userId] }];
  const policy = await w.expectOk('create_escalation_policy', { teamId, name: 'Wake', steps });
  expect(policy.warnings).toContainEqual(expect.objectContaining({ kind: 'cannot_answer', userId: vera.userId }));
  const asked = { afterMinutes: 0, channels: ['email'], useSchedule: true };
  const bySchedule = await w.expectOk('create_escalation_policy', { teamId, name: 'Whoever', steps: [asked] });
  const onDuty = { kind: 'cannot_answer', userId: vera.userId, scheduleIds: [scheduleId] };
  expect(bySchedule.warnings).toContainEqual(expect.objectContaining(onDuty));
  const { policies } = await run(searchEscalationPolicies, {});
  for (const { warnings } of policies) expect(warnings).toContainEqual(expect.objectContaining(onDuty));
  expect((await run(getTeam, { teamId })).warnings).toContainEqual(
    expect.objectContaining({ kind: 'cannot_answer', message: expect.stringContaining(sentence) }),
  );
  const simulated = await run(previewEscalation, { teamId, steps: policy.steps });
  expect(simulated.steps[0].people).toMatchObject([{ name: 'Vera', mayAnswer: false }]);
});

test('whoever puts somebody on call by a team, a swap or a first schedule is told so, too', async () => {
  const { w, vera, teamId, run } = await veraInATeam();
  const sentence = 'Vera is paged, but the role viewer may neither acknowledge nor resolve';
  await w.expectOk('add_team_member', { teamId, userId: vera.userId, phone: '+31612345678' });
  const step = { afterMinutes: 0, channels: ['sms'], targetUserIds: [], useSchedule: false, members: { teamId } };
  const policy = await run(addEscalationPolicy, { teamId, name: 'All of them', steps: [step] });
  expect(policy.warnings).toContainEqual(expect.objectContaining({ kind: 'cannot_answer', userId: vera.userId }));
  const walter = await w.given.user({ name: 'Walter', role: 'viewer' });
  const joined = await w.expectOk('add_team_member', { teamId, userId: walter.userId });
  expect(joined.warnings).toEqual([
    expect.stringContaining('Walter is paged'),
    expect.stringContaining('Nothing reaches Walter'),
  ]);
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  const phone = '+31612345679';
  expect((await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone })).warnings).toEqual([]);
  const other = { teamId, name: 'Other', rotationConfig: { userIds: [anna.userId] } };
  const { scheduleId } = await w.expectOk('create_schedule', { ...other, startAt: '2020-01-01T00:00:00Z' });
  const { scheduleId: hers } = await onCall(w, teamId, vera.userId);
  const copy = await run(duplicateSchedule, { scheduleId: hers, name: 'Second' });
  expect(copy.warnings).toEqual([expect.stringContaining(sentence)]);
  const window = { startAt: '2027-01-04T09:00:00.000Z', endAt: '2027-01-05T09:00:00.000Z' };
  const swapped = await run(swapShifts, {
    first: { scheduleId, userId: anna.userId, ...window },
    second: { scheduleId: hers, userId: vera.userId, ...window },
  });
  expect(swapped.warnings).toEqual([expect.stringContaining(sentence)]);
  const first = await run(createTeamSchedule, {
    teamName: 'New',
    name: 'First',
    timezone: 'UTC',
    rotationType: 'daily',
    rotationConfig: { userIds: [vera.userId] },
    startAt: '2027-01-04T09:00',
  });
  expect(first.warnings).toEqual([expect.stringContaining(sentence), expect.stringContaining('Nothing reaches Vera')]);
});

test('a number of their own reaches a member in every team that has none, in the list of members and when put on call', async () => {
  const { w, teamId, run } = await veraInATeam();
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  await w.expectOk('add_team_member', { teamId, userId: anna.userId });
  const listed = async () => (await run(listMembers, { userIds: [anna.userId] })).members[0].warnings;
  expect(await listed()).toEqual([expect.stringContaining('Nothing reaches Anna in Payments')]);
  const own = { teamId: null, phone: '+31612345678' };
  await run(updateOwnContact, own, 'responder', anna.userId);
  expect(await listed()).toEqual([]);
  expect((await onCall(w, teamId, anna.userId)).warnings).toEqual([]);
});

test('somebody who is paged as a member of a team is named when their role is lowered', async () => {
  const { w, teamId, run } = await veraInATeam();
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678' });
  const step = { afterMinutes: 0, channels: ['sms'], targetUserIds: [], useSchedule: false, members: { teamId } };
  await run(addEscalationPolicy, { teamId, name: 'All of them', steps: [step] });
  const { warnings } = await run(changeRole, { userId: anna.userId, role: 'viewer' });
  expect(warnings).toEqual([expect.stringMatching(/^Anna is paged.*"All of them"\.$/)]);
});

test('no incident is given to somebody who may not answer', async () => {
  const { w, vera, teamId, run } = await veraInATeam();
  await w.expectOk('add_team_member', { teamId, userId: vera.userId, phone: '+31612345678' });
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  const service = await w.given.service({ capabilities: ['oncall'] });
  const declared = {
    title: 'Down',
    severity: 'error',
    serviceId: service.serviceId,
    escalationPolicyId: null,
    requestKey: 'by-hand-1',
  };
  const { incidentId } = await run(declareIncident, declared);
  const { people } = await run(listAssignees, { incidentId });
  const names = people.map(({ name }: { name: string }) => name);
  expect(names).toContain(anna.name);
  expect(names).not.toContain('Vera');
  const seen = { status: 'triggered', stepCount: 0 };
  await expect(run(reassignIncident, { incidentId, to: { userId: vera.userId }, seen })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('may neither acknowledge nor resolve'),
  });
});

test('somebody whose role is lowered while they are on call is named, with what pages them', async () => {
  const { w, vera, teamId, run } = await veraInATeam();
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  const unreached = [expect.stringContaining('Nothing reaches Anna')];
  expect((await onCall(w, teamId, anna.userId)).warnings).toEqual(unreached);
  const steps = [{ afterMinutes: 0, channels: ['email'], targetUserIds: [anna.userId] }];
  await w.expectOk('create_escalation_policy', { teamId, name: 'Wake', steps });
  const { warnings } = await run(changeRole, { userId: anna.userId, role: 'viewer' });
  expect(warnings).toEqual([expect.stringMatching(/^Anna is paged.*"Primary", "Wake"\.$/)]);
  expect((await run(changeRole, { userId: anna.userId, role: 'editor' })).warnings).toEqual([]);
  const unpaged = await w.given.user({ name: 'Cleo', role: 'editor' });
  expect((await run(changeRole, { userId: unpaged.userId, role: 'viewer' })).warnings).toEqual([]);
  expect(vera.name).toBe('Vera');
});

test('the first page says to somebody on call that nothing would wake them', async () => {
  const { w, teamId, run } = await veraInATeam();
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  const home = async () => (await run(getHome, {}, 'responder', anna.userId)).readiness;
  expect(await home()).toMatchObject({ answer: 'no', reasons: ['no_waking_channel'] });
  await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678' });
  await onCall(w, teamId, anna.userId);
  expect(await home()).toMatchObject({ answer: 'unproved' });
  const { teamId: other } = await w.expectOk('create_team', { name: 'Search' });
  await onCall(w, other, anna.userId);
  expect(await home()).toMatchObject({ answer: 'no' });
});

test('what goes to the phone simulator counts nowhere as a way to reach people', async () => {
  const { w, teamId, run } = await veraInATeam({ ...TWILIO, twilioAccountSid: simulatedAccountSid(APP_SECRET) });
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678' });
  await w.context.db.sql.run(
    `insert into notifications (id, org_id, kind, user_id, channel, address, status, created_at, updated_at, released_at)
     values ('notification_1', $1, 'test', $2, 'sms', '+31612345678', 'delivered', now(), now(), now())`,
    [w.orgId, anna.userId],
  );
  const simulated = { via: 'simulator', state: 'simulated' };
  expect((await run(getDeliveryHealth, {})).channels).toMatchObject([simulated, simulated, {}, {}]);
  expect((await run(getPagingProblems, {})).simulated).toEqual(['sms', 'call']);
  const { members } = await run(getTeam, { teamId });
  expect(members[0].readiness).toMatchObject({ answer: 'unproved', reasons: ['simulated'] });
  expect((await run(getHome, {}, 'responder', anna.userId)).setup.hasSentMessage).toBe(false);
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId], useSchedule: false }];
  const { steps: previewed } = await run(previewEscalation, { teamId, steps });
  expect(previewed[0].people[0].channels).toMatchObject([{ channel: 'sms', outcome: 'notify', isSimulated: true }]);
});

test('what went to the phone simulator proves nothing once a provider is set up', async () => {
  const { w, teamId, run } = await veraInATeam(TWILIO);
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678' });
  const facts = async () => {
    const { members } = await run(getTeam, { teamId });
    const { channels } = await run(getDeliveryHealth, {});
    return {
      isNeverProved: members[0].readiness.reasons.includes('never_proved'),
      sms: channels[0].state,
      hasSentMessage: (await run(getHome, {}, 'responder', anna.userId)).setup.hasSentMessage,
    };
  };
  const arrive = async (id: string, providerId: string) =>
    await w.context.db.sql.run(
      `insert into notifications
         (id, org_id, kind, user_id, channel, address, status, provider_id, answered_at, created_at, updated_at, released_at)
       values ($1, $2, 'test', $3, 'sms', '+31612345678', 'delivered', $4, now(), now(), now(), now())`,
      [id, w.orgId, anna.userId, providerId],
    );
  await arrive('notification_1', simulatedIdsOf(APP_SECRET).replace('__', 'SM').replace('%', '0'.repeat(20)));
  expect(await facts()).toEqual({ isNeverProved: true, sms: 'unused', hasSentMessage: false });
  await arrive('notification_2', `SM${'0'.repeat(32)}`);
  expect(await facts()).toEqual({ isNeverProved: false, sms: 'works', hasSentMessage: true });
});

test('a number that was confirmed at the phone simulator is to be confirmed again once a provider is set up', async () => {
  const { w, teamId, run } = await veraInATeam(TWILIO);
  const [real, simulated] = [
    `SM${'0'.repeat(32)}`,
    simulatedIdsOf(APP_SECRET).replace('__', 'SM').replace('%', '0'.repeat(20)),
  ];
  const confirmed = async (name: string, phone: string, providerId: string) => {
    const { userId } = await w.given.user({ name, role: 'responder' });
    await w.expectOk('add_team_member', { teamId, userId, phone });
    const { notificationId } = await run(requestPhoneCode, { phone }, 'responder', userId);
    await w.context.db.sql.run('update notifications set provider_id = $1 where id = $2', [providerId, notificationId]);
    const code = await storesOf(w.context.db.session()).phoneNumbers.findCodeOf(notificationId);
    expect((await run(confirmPhone, { phone, code }, 'responder', userId)).confirmed).toBe(true);
    return userId;
  };
  const anna = await confirmed('Anna', '+31612345678', simulated);
  const bram = await confirmed('Bram', '+31687654321', real);
  const unconfirmed = async () => {
    const { members } = await run(getTeam, { teamId });
    const reasons = new Map<string, string[]>(
      members.map((m: { userId: string; readiness: { reasons: string[] } }) => [m.userId, m.readiness.reasons]),
    );
    return [anna, bram].map((userId) => reasons.get(userId)?.includes('number_not_confirmed'));
  };
  expect(await unconfirmed()).toEqual([false, false]);
  await forgetSimulatedNumbers({
    ...w.context,
    actions: { ...w.context.actions, installation: { ...w.context.actions.installation, phoneProvider: 'simulator' } },
  });
  const config = { ...w.context.config, twilioAccountSid: undefined };
  await forgetSimulatedNumbers({ ...w.context, config });
  expect(await unconfirmed()).toEqual([false, false]);
  await forgetSimulatedNumbers(w.context);
  expect(await unconfirmed()).toEqual([true, false]);
  const again = await run(requestPhoneCode, { phone: '+31612345678' }, 'responder', anna);
  expect(again.notificationId).toMatch(/^notification_/);
});

test('readiness walks through steps that name schedules, who is next, other teams and policies of other teams', async () => {
  const { w, teamId, run } = await veraInATeam();
  const { teamId: others } = await w.expectOk('create_team', { name: 'Storage' });
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678' });
  const dirk = await w.given.user({ name: 'Dirk', role: 'responder' });
  await w.expectOk('add_team_member', { teamId: others, userId: dirk.userId });
  const { scheduleId: primary } = await onCall(w, teamId, anna.userId);
  const later = { name: 'Later', rotationConfig: { userIds: [anna.userId] }, startAt: '2099-01-01T00:00:00Z' };
  const { scheduleId: secondary } = await w.expectOk('create_schedule', { ...later, teamId });
  await w.expectOk('create_schedule', { ...later, teamId: others });
  const sms = { channels: ['sms'] };
  const asked = { ...sms, useSchedule: true };
  const theirs = await run(addEscalationPolicy, {
    teamId: others,
    name: 'Storage at night',
    steps: [
      { afterMinutes: 0, ...asked },
      { afterMinutes: 5, ...sms, members: { teamId: others } },
    ],
  });
  const named = await run(addEscalationPolicy, {
    teamId,
    name: 'To Storage',
    steps: [{ afterMinutes: 0, ...sms, policyId: theirs.policyId }],
  });
  const policy = await run(addEscalationPolicy, {
    teamId,
    name: 'Checkout',
    steps: [
      { afterMinutes: 0, ...asked, scheduleIds: [primary] },
      { afterMinutes: 5, ...asked, scheduleIds: [secondary] },
      { afterMinutes: 10, ...asked, scheduleIds: [primary], turn: 'next' },
      { afterMinutes: 15, ...sms, members: { teamId: others } },
      { afterMinutes: 20, ...sms, policyId: named.policyId },
    ],
  });
  const unusable = 'every channel is off or has no address';
  const [nobody, off] = ['nobody is on call', unusable].map((reason) => expect.stringContaining(reason));
  const ofPolicy = [
    { policyId: policy.policyId, step: 1, message: nobody },
    { policyId: policy.policyId, step: 2, message: nobody },
    { policyId: policy.policyId, step: 3, message: off },
    { policyId: theirs.policyId, step: 0, message: expect.stringContaining('The policy "Checkout" goes there.') },
    { policyId: theirs.policyId, step: 1, message: expect.stringContaining('The policy "Checkout" goes there.') },
  ].map((warning) => ({ kind: 'step_reaches_nobody', ...warning }));
  expect(policy.warnings).toEqual(ofPolicy);
  const { warnings } = await run(getTeam, { teamId });
  expect(warnings).toEqual(expect.arrayContaining(ofPolicy));
  expect(warnings).toContainEqual(
    expect.objectContaining({ kind: 'schedule_gap', message: expect.stringMatching(/"Later" .* goes there\.$/) }),
  );
  expect(warnings).toContainEqual(expect.objectContaining({ kind: 'member_unreachable', userId: dirk.userId }));
});
