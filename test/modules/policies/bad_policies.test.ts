import { expect, test } from 'vitest';

import { detailedWorld } from '#test/modules/policies/detailed_world.ts';

const SMS = { channels: ['sms'] } as const;
const says = (message: RegExp) => ({ detail: expect.stringMatching(message) });
const onCall = (afterMinutes: number, more: object = {}) => ({ afterMinutes, ...SMS, useSchedule: true, ...more });

test('a cycle of policies is refused where it closes, with its way', async () => {
  const w = await detailedWorld();
  const first = await w.policy('First', [onCall(0)]);
  const second = await w.policy('Second', [onCall(0), { afterMinutes: 5, ...SMS, policyId: first }]);
  const third = await w.policy('Third', [{ afterMinutes: 5, ...SMS, policyId: second }]);
  await expect(w.replace(first, [onCall(0), { afterMinutes: 1, ...SMS, policyId: third }])).rejects.toMatchObject({
    code: 'invalid_input',
    faults: [
      {
        path: 'steps[1].policyId',
        message: 'leads back to this policy: "First", then "Third", then "Second", then "First"; choose another policy',
      },
    ],
  });
  const hours = {
    timezone: 'UTC',
    windows: [{ days: [1], from: '09:00', to: '17:00' }],
    outside: { policyId: third },
    exemptFrom: null,
  };
  await expect(w.replace(first, [onCall(0)], { hours })).rejects.toMatchObject({ faults: [{ path: 'hours.outside' }] });
  await expect(w.replace(first, [{ afterMinutes: 0, ...SMS, policyId: first }])).rejects.toMatchObject({
    faults: [{ path: 'steps[0].policyId' }],
  });
});

test('what cannot be is refused at its field', async () => {
  const w = await detailedWorld();
  const policyId = await w.policy('Policy', [onCall(0)]);
  const other = await w.staff.team();
  const empty = await w.staff.team();
  const anna = await w.person('Anna', other);
  const theirs = await w.schedule('Theirs', [anna], other);
  const refusal = (steps: readonly object[], details?: object) =>
    w.replace(policyId, steps, details).then(
      () => 'stored',
      (error: unknown) => error,
    );
  expect(await refusal([onCall(0, { scheduleIds: [theirs] })])).toMatchObject({
    code: 'invalid_input',
    faults: [{ path: 'steps[0].scheduleIds[0]', message: expect.stringContaining('"Theirs" of another team') }],
  });
  expect(await refusal([onCall(0, { scheduleIds: ['schedule_nowhere'] })])).toMatchObject({ code: 'not_found' });
  expect(await refusal([{ afterMinutes: 0, ...SMS, members: { teamId: 'team_nowhere' } }])).toMatchObject({
    code: 'not_found',
  });
  expect(await refusal([{ afterMinutes: 0, ...SMS, policyId: 'policy_nowhere' }])).toMatchObject({ code: 'not_found' });
  expect(await refusal([{ afterMinutes: 0, ...SMS, members: { teamId: empty, inTurn: true } }])).toMatchObject({
    faults: [{ path: 'steps[0].members.teamId', message: expect.stringContaining('no members') }],
  });
  expect(
    await refusal([onCall(0), { afterMinutes: 5, ...SMS, members: { teamId: other, inTurn: true } }]),
  ).toMatchObject({ faults: [{ path: 'steps[1].members' }] });
  expect(await refusal([onCall(0)], { repeat: { times: 10, pauseMinutes: 5 } })).toMatchObject({
    faults: [{ path: 'repeat.times' }],
  });
  expect(
    await refusal([onCall(0)], {
      hours: {
        timezone: 'UTC',
        windows: [{ days: [], from: '09:00', to: '17:00' }],
        outside: 'hold',
        exemptFrom: null,
      },
    }),
  ).toMatchObject({ faults: [{ path: 'hours.windows', message: expect.stringContaining('never come') }] });
  expect(
    await refusal([onCall(0)], {
      hours: {
        timezone: 'Mars/Base',
        windows: [{ days: [1], from: '09:00', to: '17:00' }],
        outside: 'hold',
        exemptFrom: null,
      },
    }),
  ).toMatchObject({ faults: [{ path: 'hours.timezone' }] });
});

test('a schedule, a team or a policy that a step names is not deleted', async () => {
  const w = await detailedWorld();
  const anna = await w.person('Anna');
  const other = await w.staff.team();
  await w.person('Bram', other);
  const scheduleId = await w.schedule('Primary', [anna]);
  const theirs = await w.policy('Theirs', [onCall(0)], {}, other);
  const policyId = await w.policy('Ours', [
    onCall(0, { scheduleIds: [scheduleId] }),
    { afterMinutes: 5, ...SMS, members: { teamId: other } },
    { afterMinutes: 9, ...SMS, policyId: theirs },
  ]);
  const message = /the escalation policy "Ours" names this/;
  expect(await w.call('delete_schedule', { scheduleId })).toMatchObject({ status: 409, body: says(message) });
  expect(await w.call('delete_team', { teamId: other })).toMatchObject({ status: 409, body: says(message) });
  expect(await w.call('delete_escalation_policy', { policyId: theirs })).toMatchObject({
    status: 409,
    body: says(message),
  });
  await w.expectOk('delete_team', { teamId: w.teamId });
  await w.expectOk('delete_team', { teamId: other });
  expect(policyId).toMatch(/^policy_/);
});

test('the action of the contract leaves what a policy says beyond it, or says what to do', async () => {
  const w = await detailedWorld();
  const anna = await w.person('Anna');
  const scheduleId = await w.schedule('Primary', [anna]);
  const repeat = { times: 3, pauseMinutes: 5 };
  const policyId = await w.policy('Ours', [onCall(0, { scheduleIds: [scheduleId] })], { repeat });
  const later = await w.expectOk('update_escalation_policy', { policyId, steps: [onCall(7)] });
  expect(later).toMatchObject({ steps: [{ afterMinutes: 7, scheduleIds: [scheduleId] }], repeat });
  expect(await w.expectOk('update_escalation_policy', { policyId, name: 'Other' })).toMatchObject({ repeat });
  expect(await w.call('update_escalation_policy', { policyId, steps: [onCall(0), onCall(1)] })).toMatchObject({
    status: 409,
    body: says(/in the console/),
  });
});

test('people are not put on a step that stands for another policy, where they would never be paged', async () => {
  const w = await detailedWorld();
  const anna = await w.person('Anna');
  const other = await w.policy('Other', [onCall(0)]);
  const policyId = await w.policy('Ours', [onCall(0), { afterMinutes: 5, ...SMS, policyId: other }]);
  const second = { afterMinutes: 10, ...SMS };
  expect(
    await w.call('update_escalation_policy', {
      policyId,
      steps: [onCall(0), { ...second, targetUserIds: [anna.userId] }],
    }),
  ).toMatchObject({ status: 409, body: says(/without people where it names another policy/) });
  expect(await w.expectOk('update_escalation_policy', { policyId, steps: [onCall(0), second] })).toMatchObject({
    steps: [{}, { afterMinutes: 10, policyId: other, targetUserIds: [] }],
  });
});
