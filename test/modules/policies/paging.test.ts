import { describe, expect, test } from 'vitest';

import { escalateIncident } from '#modules/incidents/operations/escalate_incident.ts';
import { fireStep } from '#modules/incidents/paging/fire_step.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { detailedWorld } from '#test/modules/policies/detailed_world.ts';

const SMS = { channels: ['sms'] } as const;
const onCall = (afterMinutes: number, more: object = {}) => ({ afterMinutes, ...SMS, useSchedule: true, ...more });
const named = (afterMinutes: number, userId: string, more: object = {}) => {
  return { afterMinutes, ...SMS, targetUserIds: [userId], ...more };
};

describe('a step that names schedules', () => {
  test('pages the primary first, and the secondary ten minutes later', async () => {
    const w = await detailedWorld();
    const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
    const [primary, secondary] = [await w.schedule('Primary', [anna]), await w.schedule('Secondary', [bram])];
    const alert = await w.alertBy([
      onCall(0, { scheduleIds: [primary] }),
      onCall(10, { scheduleIds: [secondary] }),
      onCall(20),
    ]);
    await alert.trigger();
    await w.runUntilIdle();
    expect(w.paged()).toEqual(['Anna']);
    await w.advance({ minutes: 10 });
    expect(w.paged()).toEqual(['Anna', 'Bram']);
    await w.advance({ minutes: 10 });
    expect(w.paged().slice(2).toSorted()).toEqual(['Anna', 'Bram']);
  });

  test('pages the next on call: whose turn follows', async () => {
    const w = await detailedWorld();
    const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
    await w.schedule('Primary', [anna, bram]);
    const alert = await w.alertBy([onCall(0), onCall(5, { turn: 'next' })]);
    await alert.trigger();
    await w.runUntilIdle();
    await w.advance({ minutes: 5 });
    expect(w.paged()).toEqual(['Anna', 'Bram']);
  });
});

describe('a step for a team or another policy', () => {
  test('pages the whole team, and goes to the policy of another team, whose people and schedules count', async () => {
    const w = await detailedWorld();
    const anna = await w.person('Anna');
    const others = await w.staff.team();
    const cleo = await w.person('Cleo', others);
    await w.person('Dirk', others);
    await w.schedule('Theirs', [cleo], others);
    const theirs = await w.policy(
      'Theirs',
      [onCall(0), { afterMinutes: 5, ...SMS, members: { teamId: others } }],
      {},
      others,
    );
    const alert = await w.alertBy([named(0, anna.userId), { afterMinutes: 10, ...SMS, policyId: theirs }]);
    const incidentId = await alert.trigger();
    await w.advance({ minutes: 10 });
    expect(w.paged()).toEqual(['Anna', 'Cleo']);
    await w.advance({ minutes: 5 });
    expect(w.paged().toSorted()).toEqual(['Anna', 'Cleo', 'Cleo', 'Dirk']);
    const { escalation } = await w.expectOk('get_incident', { incidentId });
    expect(escalation.steps).toMatchObject([
      { afterMinutes: 0 },
      { afterMinutes: 10, ofPolicyId: theirs, useSchedule: true },
      { afterMinutes: 15, ofPolicyId: theirs, members: { teamId: others } },
    ]);
  });
});

test('a number of one’s own counts in every team that has none, and one of the team comes first', async () => {
  const w = await detailedWorld();
  const anna = await w.person('Anna');
  const alert = await w.alertBy([named(0, anna.userId)]);
  const page = async () => {
    const before = w.phone.messages.length;
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    await w.expectOk('resolve_incident', { incidentId });
    return w.phone.messages.slice(before).map(({ to }) => to);
  };
  const own = '+31600000099';
  await w.context.db.sql.run('update memberships set phone = $2 where user_id = $1', [anna.userId, own]);
  expect(await page()).toEqual([anna.phone]);
  await w.runUntilIdle();
  await w.expectOk('update_team_member', { memberId: anna.memberId, phone: null });
  await w.runUntilIdle();
  expect(await page()).toEqual([own]);
});

describe('repetition', () => {
  test('begins the steps again after the pause, as often as the policy says, each round once', async () => {
    const w = await detailedWorld();
    const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
    const steps = [named(0, anna.userId), named(5, bram.userId)];
    const alert = await w.alertBy(steps, { repeat: { times: 2, pauseMinutes: 10 } });
    const incidentId = await alert.trigger();
    await w.advance({ minutes: 5 });
    // A doubled job, and four processes that fire the last step at once.
    await Promise.all([0, 1, 1, 1].map(async (step) => await fireStep(w.runtime, incidentId, step)));
    await w.runUntilIdle();
    expect(w.paged()).toEqual(['Anna', 'Bram']);
    await w.advance({ minutes: 9 });
    expect(w.paged()).toEqual(['Anna', 'Bram']);
    await w.advance({ minutes: 1 });
    expect(w.paged()).toEqual(['Anna', 'Bram', 'Anna']);
    for (const minutes of [5, 10, 5, 40]) await w.advance({ minutes });
    expect(w.paged()).toEqual(['Anna', 'Bram', 'Anna', 'Bram', 'Anna', 'Bram']);
    expect(await w.texts(incidentId)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Nobody has answered: the steps begin again at .*1st of 2 times\.$/),
      ]),
    );
  });

  test('stops with an acknowledgement, and starts anew when that is undone', async () => {
    const w = await detailedWorld();
    const anna = await w.person('Anna');
    const alert = await w.alertBy([named(0, anna.userId)], { repeat: { times: 9, pauseMinutes: 10 } });
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    await w.expectOk('acknowledge_incident', { incidentId });
    await w.advance({ minutes: 60 });
    expect(w.paged()).toEqual(['Anna', 'Anna']);
    expect(w.phone.messages.at(-1)?.body).toContain('acknowledged');
  });
});

describe('hours', () => {
  const office = {
    timezone: 'Europe/Amsterdam',
    windows: [{ days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00' }],
    outside: 'hold',
    exemptFrom: 'fatal',
  };
  const world = async (at: string) => {
    const w = await detailedWorld({ at });
    return { w, anna: await w.person('Anna'), bram: await w.person('Bram') };
  };

  test('hold the pages until they begin, over a change of clocks, and minutes count within them alone', async () => {
    // Friday evening before the clocks go forward.
    const { w, anna, bram } = await world('2027-03-26T15:55:00Z');
    const alert = await w.alertBy([named(0, anna.userId), named(10, bram.userId)], { hours: office });
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    expect(w.paged()).toEqual(['Anna']);
    expect((await w.expectOk('get_incident', { incidentId })).escalation.nextStepAt).toBe('2027-03-29T07:05:00.000Z');
    w.clock.set('2027-03-29T07:04:59Z');
    await w.runUntilIdle();
    expect(w.paged()).toEqual(['Anna']);
    await w.advance({ seconds: 1 });
    expect(w.paged()).toEqual(['Anna', 'Bram']);
  });

  test('an incident that is held pages nobody when it is acknowledged or resolved meanwhile', async () => {
    const { w, anna } = await world('2027-03-26T20:00:00Z');
    const alert = await w.alertBy([named(0, anna.userId)], { hours: office });
    const first = await alert.trigger();
    await w.runUntilIdle();
    expect(await w.expectOk('get_incident', { incidentId: first })).toMatchObject({
      escalation: { waitsFor: 'hours', nextStepAt: '2027-03-29T07:00:00.000Z' },
    });
    expect(await w.texts(first)).toContain('Outside the hours of its policy: step 1 waits until 2027-03-29 07:00 UTC.');
    await w.expectOk('acknowledge_incident', { incidentId: first });
    await w.expectOk('resolve_incident', { incidentId: first });
    const second = await alert.trigger();
    await w.expectOk('resolve_incident', { incidentId: second });
    w.clock.set('2027-03-29T08:00:00Z');
    await w.runUntilIdle();
    expect(w.paged()).toEqual([]);
  });

  test('a person who asks for a step is not kept waiting, and what follows it waits again', async () => {
    const { w, anna, bram } = await world('2027-03-26T20:00:00Z');
    const steps = [onCall(0), named(5, anna.userId), named(10, bram.userId)];
    const alert = await w.alertBy(steps, { hours: office });
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    await w.advance({ minutes: 30 });
    expect(w.paged()).toEqual([]);
    const editor = await w.given.user({ role: 'editor' });
    const caller = memberCaller(w.orgId, editor.userId, 'editor');
    await runOperation(w, escalateIncident, caller, { incidentId, stepIndex: 0 });
    await w.runUntilIdle();
    // Nobody is on call: the next step is brought forward, into a time outside the hours.
    expect(w.paged()).toEqual([]);
    w.clock.set('2027-03-29T07:00:00Z');
    await w.runUntilIdle();
    expect(w.paged()).toEqual(['Anna']);
  });

  test('another policy runs outside them, and severe incidents are exempt', async () => {
    const { w, anna, bram } = await world('2027-03-26T20:00:00Z');
    const night = await w.policy('Night', [named(0, bram.userId)]);
    const hours = { ...office, outside: { policyId: night } };
    const alert = await w.alertBy([named(0, anna.userId)], { hours });
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    expect(w.paged()).toEqual(['Bram']);
    expect(await w.texts(incidentId)).toContain(
      'Outside the hours of the policy "Wake somebody": the policy "Night" runs.',
    );
    await w.replace(alert.policyId, [named(0, anna.userId)], { hours: { ...hours, exemptFrom: 'error' } });
    await w.expectOk('resolve_incident', { incidentId });
    await alert.trigger();
    await w.runUntilIdle();
    expect(w.paged().at(-1)).toBe('Anna');
  });
});

describe('round robin', () => {
  test('takes one person of the team for each incident, also when jobs are doubled and processes race', async () => {
    const w = await detailedWorld();
    for (const name of ['Anna', 'Bram', 'Cleo']) await w.person(name);
    const alert = await w.alertBy([{ afterMinutes: 0, ...SMS, members: { teamId: w.teamId, inTurn: true } }]);
    for (let incident = 0; incident < 4; incident += 1) {
      const incidentId = await alert.trigger();
      await Promise.all([0, 0, 0].map(async (step) => await fireStep(w.runtime, incidentId, step)));
      await w.runUntilIdle();
      await w.expectOk('resolve_incident', { incidentId });
    }
    const pages = w.phone.messages.filter(({ body, direction }) => direction !== 'inbound' && body.includes('ACK'));
    const names = w.paged();
    expect(pages).toHaveLength(4);
    expect(names.filter((_, index) => w.phone.messages[index]?.body.includes('ACK'))).toEqual([
      'Anna',
      'Bram',
      'Cleo',
      'Anna',
    ]);
  });
});
