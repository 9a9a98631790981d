import { expect, test } from 'vitest';

import { fireStep } from '#modules/incidents/paging/fire_step.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

interface Step {
  readonly afterMinutes: number;
  readonly state: string;
  readonly reason: string | null;
  readonly settledAt: string | null;
  readonly isBroughtForward: boolean;
  readonly people: { userId: string; status: string }[];
}

async function stepsOf(w: StaffedWorld, incidentId: string): Promise<Step[]> {
  return (await w.expectOk('get_incident', { incidentId })).escalation.steps;
}

const inShort = (steps: readonly Step[]) =>
  steps.map(({ afterMinutes, state, reason }) => [afterMinutes, state, ...(reason === null ? [] : [reason])].join(' '));

test('the steps of an incident are those at its trigger, even if the policy changes or is deleted', async () => {
  const w = await staffedWorld();
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const smsTo = ({ userId }: { userId: string }, afterMinutes: number) => {
    return { afterMinutes, channels: ['sms'], targetUserIds: [userId] } as const;
  };
  const alert = await w.staff.alert(teamId, [smsTo(anna, 0), smsTo(bram, 10)]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const steps = [smsTo(bram, 0), smsTo(bram, 1), smsTo(anna, 2)];
  await w.expectOk('update_escalation_policy', { policyId: alert.policyId, steps });
  await w.advance({ minutes: 3 });
  const shown = await w.expectOk('get_incident', { incidentId });
  expect(shown.escalation).toMatchObject({ state: 'running', nextStep: 1, stepCount: 2, teamId });
  expect(shown.escalation.steps).toEqual([
    {
      index: 0,
      ...smsTo(anna, 0),
      countsFrom: shown.triggeredAt,
      useSchedule: false,
      dueAt: shown.triggeredAt,
      waitsFor: null,
      isBroughtForward: false,
      state: 'fired',
      settledAt: shown.triggeredAt,
      reason: null,
      people: [{ userId: anna.userId, status: 'delivered', isSimulated: false }],
    },
    {
      index: 1,
      ...smsTo(bram, 10),
      countsFrom: shown.triggeredAt,
      useSchedule: false,
      dueAt: shown.escalation.nextStepAt,
      waitsFor: null,
      isBroughtForward: false,
      state: 'pending',
      settledAt: null,
      reason: null,
      people: [],
    },
  ]);
  await w.expectOk('delete_escalation_policy', { policyId: alert.policyId });
  expect(await w.expectOk('list_incidents')).toMatchObject({ incidents: [{ escalation: { stepCount: 2 } }] });
  expect(inShort(await stepsOf(w, incidentId))).toEqual(['0 fired', '10 pending']);

  await w.advance({ minutes: 3 });
  await w.expectOk('acknowledge_incident', { incidentId });
  expect(inShort(await stepsOf(w, incidentId))).toEqual(['0 fired', '10 cancelled acknowledged']);
  await w.expectOk('resolve_incident', { incidentId });
  expect(inShort(await stepsOf(w, incidentId))).toEqual(['0 fired', '10 cancelled acknowledged']);
  await w.runUntilIdle();
});

test('an incident that is resolved after a second shows only the first step as fired', async () => {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const target = { channels: ['sms'], targetUserIds: [anna.userId] } as const;
  const alert = await w.staff.alert(
    teamId,
    [0, 5, 15].map((afterMinutes) => ({ afterMinutes, ...target })),
  );
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.advance({ seconds: 1 });
  await w.expectOk('resolve_incident', { incidentId });
  expect(inShort(await stepsOf(w, incidentId))).toEqual(['0 fired', '5 cancelled resolved', '15 cancelled resolved']);
  await w.runUntilIdle();
});

test('a step that reaches nobody is shown as skipped with its reason, and the next as expedited', async () => {
  const w = await staffedWorld();
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  await w.expectOk('update_team_member', { memberId: bram.memberId, smsEnabled: false });
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], useSchedule: true },
    { afterMinutes: 30, channels: ['sms'], targetUserIds: [anna.userId, bram.userId] },
    { afterMinutes: 60, channels: ['sms'], targetUserIds: [anna.userId] },
  ]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const steps = await stepsOf(w, incidentId);
  const { triggeredAt } = await w.expectOk('get_incident', { incidentId });
  expect(inShort(steps)).toEqual(['0 skipped nobody_on_call', '30 fired', '60 pending']);
  expect(steps.map(({ isBroughtForward }) => isBroughtForward)).toEqual([false, true, false]);
  expect(steps[1]).toMatchObject({
    dueAt: triggeredAt,
    people: [
      { userId: anna.userId, status: 'delivered' },
      { userId: bram.userId, status: 'skipped' },
    ],
  });
});

test('a job that comes before its step is due pages nobody, and is told when to come again', async () => {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 10, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const incidentId = await alert.trigger();
  const dueAt = w.clock.now().add({ minutes: 10 });
  w.clock.advance({ minutes: 9, seconds: 59 });
  expect(await fireStep(w.runtime, incidentId, 0)).toEqual(dueAt);
  await w.runUntilIdle();
  expect(w.phone.messages).toEqual([]);
  await w.advance({ seconds: 1 });
  expect(w.phone.messages).toMatchObject([{ to: anna.phone }]);
});
