import { describe, expect, test } from 'vitest';

import type { Responder, StaffedWorld } from '#test/kit/staffed_world.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';

/** Anna is paged at once; after 15 minutes the person on call, who is Bram; after 30 minutes Anna again. */
async function openTeamIncident() {
  const w = await staffedWorld();
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  // Whether a page arrived is no question here.
  for (const { phone } of [anna, bram]) w.phone.addFault({ kind: 'callback_lost', number: phone });
  await w.expectOk('create_schedule', {
    teamId,
    name: 'Nights',
    timezone: 'Europe/Brussels',
    rotationType: 'weekly',
    rotationConfig: { userIds: [bram.userId] },
  });
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['sms'], useSchedule: true },
    { afterMinutes: 30, channels: ['sms'], targetUserIds: [anna.userId] },
  ]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  return { w, teamId, anna, bram, alert, incidentId };
}

const pages = (w: StaffedWorld, { phone }: Responder) =>
  w.phone.messages.filter(({ to, body }) => to === phone && body.includes('Reply ACK')).length;

const story = async (w: StaffedWorld, incidentId: string): Promise<string[]> => {
  const { timeline } = await w.expectOk('get_incident', { incidentId });
  return timeline.map(({ text }: { text: string }) => text);
};

describe('a policy that is deleted or changed', () => {
  test.each([
    [
      'deleted',
      (w: StaffedWorld, policyId: string) => w.expectOk('delete_escalation_policy', { policyId }),
      'Nobody is paged: its rule has no escalation policy.',
    ],
    [
      'emptied',
      (w: StaffedWorld, policyId: string) => w.expectOk('update_escalation_policy', { policyId, steps: [] }),
      'Nobody is paged: its escalation policy has no steps.',
    ],
  ])(
    '(%s) lets the open incident go on, and the next one says that it pages nobody',
    async (_how, change, sentence) => {
      const { w, anna, bram, alert, incidentId } = await openTeamIncident();
      await change(w, alert.policyId);
      await w.advance({ minutes: 15 });
      await w.advance({ minutes: 15 });
      expect([pages(w, anna), pages(w, bram)]).toEqual([2, 1]);
      await w.expectOk('resolve_incident', { incidentId });
      const next = await alert.trigger();
      await w.advance({ hours: 1 });
      expect((await story(w, next)).slice(1)).toEqual([sentence]);
      expect(await w.expectOk('get_incident', { incidentId: next })).toMatchObject({
        status: 'triggered',
        escalation: { state: 'none', nextStep: null },
        notifications: [],
      });
      expect([pages(w, anna), pages(w, bram)]).toEqual([2, 1]);
    },
  );
});

describe('a team that is deleted', () => {
  test('stops nothing silently: each step of its open incident records that it reaches nobody', async () => {
    const { w, teamId, anna, bram, incidentId } = await openTeamIncident();
    await w.expectOk('delete_team', { teamId });
    await w.advance({ minutes: 15 });
    expect([pages(w, anna), pages(w, bram)]).toEqual([1, 0]);
    expect((await story(w, incidentId)).slice(-2)).toEqual([
      'Step 2 reached nobody: nobody is on call; the next step fires at once.',
      'Step 3 reached nobody: every channel is off or has no address; no step is left. Not Anna by SMS (has no address for it).',
    ]);
    expect(await w.expectOk('get_incident', { incidentId })).toMatchObject({
      status: 'triggered',
      escalation: { state: 'finished' },
    });
  });
});

describe('a person who leaves', () => {
  test('the organization is skipped, and the timeline says why', async () => {
    const { w, anna, bram, incidentId } = await openTeamIncident();
    await w.context.db.sql.run('delete from memberships where user_id = $1', [bram.userId]);
    await w.advance({ minutes: 15 });
    expect([pages(w, anna), pages(w, bram)]).toEqual([2, 0]);
    expect(await story(w, incidentId)).toContain(
      'Step 2 reached nobody: nobody is on call; the next step fires at once.',
    );
  });

  test('or starts a shift while an incident is open is paged if they are on call when the step fires', async () => {
    const { w, teamId, anna, bram } = await openTeamIncident();
    const cleo = await w.staff.responder(teamId, 'Cleo');
    const { teams } = await w.expectOk('list_teams');
    const [{ schedules }] = teams;
    const startAt = w.clock.now().add({ minutes: 10 });
    await w.expectOk('create_schedule_override', {
      scheduleId: schedules[0].scheduleId,
      userId: cleo.userId,
      startAt: startAt.epochMilliseconds,
      endAt: startAt.add({ hours: 1 }).epochMilliseconds,
    });
    await w.advance({ minutes: 15 });
    expect([pages(w, anna), pages(w, bram), pages(w, cleo)]).toEqual([1, 0, 1]);
  });
});
