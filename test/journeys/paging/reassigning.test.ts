import { expect, test } from 'vitest';

import { givePassword, signedIn } from '#test/kit/programs/browser.ts';
import { slowRuns } from '#test/kit/properties.ts';
import { type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

/** Anna is paged at once, Bram after 15 minutes, Cleo after 30; Dirk is in the team. Anna sits at the console. */
async function annaIsPaged(world?: StaffedWorld) {
  const w = world ?? (await staffedWorld());
  const teamId = await w.staff.team();
  const [anna, bram, cleo, dirk] = [
    await w.staff.responder(teamId, 'Anna'),
    await w.staff.responder(teamId, 'Bram'),
    await w.staff.responder(teamId, 'Cleo'),
    await w.staff.responder(teamId, 'Dirk'),
  ];
  // Whether a page arrived is no question here.
  for (const { phone } of [anna, bram, cleo, dirk]) w.phone.addFault({ kind: 'callback_lost', number: phone });
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['sms'], targetUserIds: [bram.userId] },
    { afterMinutes: 30, channels: ['sms'], targetUserIds: [cleo.userId] },
  ]);
  await givePassword(w, anna.userId);
  const browser = await signedIn(w, anna.email);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const ask = (operation: string, input: object = {}) => browser.invoke(w.orgId, operation, { incidentId, ...input });
  const read = () => w.expectOk('get_incident', { incidentId });
  const reassign = async (to: object, seen: object = {}) => {
    const { status, escalation } = await read();
    return await ask('reassign_incident', { to, seen: { status, stepCount: escalation.stepCount, ...seen } });
  };
  return { w, teamId, anna, bram, cleo, dirk, alert, ask, read, reassign };
}

const pagesOf = (w: StaffedWorld, ...people: readonly Responder[]) =>
  people.map(({ phone }) => w.phone.messages.filter(({ to, body }) => to === phone && /Reply ACK/.test(body)).length);

const lastText = async (read: () => Promise<{ timeline: { event: string; text: string }[] }>, event: string) =>
  (await read()).timeline.findLast((entry) => entry.event === event)?.text;

test('escalating pages the next step at once, and the step after it at its own time', async () => {
  const { w, bram, cleo, ask, read } = await annaIsPaged();
  await w.advance({ minutes: 2 });
  const answer = await ask('escalate_incident', { stepIndex: 1 });
  expect(answer).toMatchObject({ status: 200, body: { result: { status: 'triggered' } } });
  await w.runUntilIdle();
  expect(pagesOf(w, bram, cleo)).toEqual([1, 0]);
  const { escalation } = await read();
  expect(escalation).toMatchObject({ nextStep: 2, steps: [{}, { state: 'fired', reason: 'escalated' }, {}] });
  expect(await lastText(read, 'escalated')).toBe('Anna by the console escalated it: step 2 fires at once.');
  await w.advance({ minutes: 28 });
  expect(pagesOf(w, bram, cleo)).toEqual([1, 1]);
  expect((await ask('escalate_incident', { stepIndex: 7 })).body.detail).toBe('this incident has no such step');
});

test('two people who escalate at once page one step, and the change is audited once', async () => {
  const { w, bram, cleo, ask } = await annaIsPaged();
  const answers = await Promise.all([1, 2, 3].map(() => ask('escalate_incident', { stepIndex: 1 })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await w.runUntilIdle();
  expect(pagesOf(w, bram, cleo)).toEqual([1, 0]);
  const audited = await w.context.db.sql.rows(`select after from audit_log where action = 'escalate_incident'`);
  expect(audited).toMatchObject([{ after: { firedStep: 1 } }]);
});

test('whoever comes first of acknowledging and escalating decides: nobody is paged for what is acknowledged', async () => {
  const world = await staffedWorld();
  for (let round = 0; round < slowRuns(40); round += 1) {
    const { w, bram, anna, ask, read } = await annaIsPaged(world);
    const acknowledge = () => ask('acknowledge_incident');
    const escalate = () => ask('escalate_incident', { stepIndex: 1 });
    const both = round % 2 === 0 ? [acknowledge(), escalate()] : [escalate(), acknowledge()];
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    await w.runUntilIdle();
    const { status, timeline } = await read();
    expect(status).toBe('acknowledged');
    const events = timeline.map(({ event }: { event: string }) => event);
    const isPagedAfter = events.lastIndexOf('step_fired') > events.indexOf('acknowledged');
    expect(isPagedAfter).toBe(false);
    const isRefused = statuses.includes(409);
    expect(isRefused && pagesOf(w, bram)[0] !== 0, 'who is refused has paged nobody').toBe(false);
    await w.advance({ hours: 1 });
    expect(pagesOf(w, anna)).toEqual([1]);
  }
});

test('a person whom an incident is reassigned to is paged at once, and the steps that were left follow', async () => {
  const { w, bram, cleo, dirk, read, reassign } = await annaIsPaged();
  await w.advance({ minutes: 5 });
  expect((await reassign({ userId: dirk.userId })).status).toBe(200);
  await w.runUntilIdle();
  expect(pagesOf(w, dirk, bram, cleo)).toEqual([1, 0, 0]);
  expect(await lastText(read, 'reassigned')).toBe(
    'Handed over to Dirk by Anna by the console; 2 steps follow if nobody acknowledges.',
  );
  const { escalation } = await read();
  expect(escalation.steps.map(({ state, reason }: { state: string; reason: string }) => [state, reason])).toEqual([
    ['fired', null],
    ['cancelled', 'reassigned'],
    ['cancelled', 'reassigned'],
    ['fired', null],
    ['pending', null],
    ['pending', null],
  ]);
  await w.advance({ minutes: 10 });
  expect(pagesOf(w, dirk, bram, cleo)).toEqual([1, 1, 0]);
  await w.advance({ minutes: 15 });
  expect(pagesOf(w, dirk, bram, cleo)).toEqual([1, 1, 1]);
  const audited = await w.context.db.sql.rows(`select before, after from audit_log where action = 'reassign_incident'`);
  expect(audited).toMatchObject([{ after: { status: 'triggered', assignedTo: dirk.userId } }]);
});

test('another policy takes the place of the steps that were left', async () => {
  const { w, teamId, bram, cleo, dirk, read, reassign } = await annaIsPaged();
  const steps = [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [dirk.userId] },
    { afterMinutes: 20, channels: ['sms'], targetUserIds: [cleo.userId] },
  ];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Databases', steps });
  await w.advance({ minutes: 14 });
  expect((await reassign({ policyId })).body.result).toMatchObject({ escalationPolicyId: policyId });
  await w.runUntilIdle();
  await w.advance({ minutes: 19 });
  expect(pagesOf(w, dirk, bram, cleo)).toEqual([1, 0, 0]);
  await w.advance({ minutes: 1 });
  expect(pagesOf(w, dirk, bram, cleo)).toEqual([1, 0, 1]);
  expect(await lastText(read, 'reassigned')).toBe(
    'Handed over to the policy "Databases" by Anna by the console; its steps begin now.',
  );
});

test('an incident that is handed to the policy that it has begins its steps again, and that is audited', async () => {
  const { w, anna, alert, reassign } = await annaIsPaged();
  await w.advance({ minutes: 2 });
  expect((await reassign({ policyId: alert.policyId })).status).toBe(200);
  await w.runUntilIdle();
  expect(pagesOf(w, anna)).toEqual([2]);
  const audited = await w.context.db.sql.rows(`select after from audit_log where action = 'reassign_incident'`);
  expect(audited).toMatchObject([{ after: { status: 'triggered', assignedTo: alert.policyId } }]);
});

test('an acknowledged incident that is reassigned waits for somebody again, and an undone acknowledgement resumes only the new steps', async () => {
  const { w, anna, bram, cleo, dirk, ask, read, reassign } = await annaIsPaged();
  await ask('acknowledge_incident');
  await w.advance({ minutes: 2 });
  expect((await reassign({ userId: dirk.userId })).body.result).toMatchObject({
    status: 'triggered',
    acknowledgedBy: null,
  });
  await w.runUntilIdle();
  expect(pagesOf(w, anna, bram, cleo, dirk)).toEqual([1, 0, 0, 1]);
  await ask('acknowledge_incident');
  await ask('unacknowledge_incident');
  await w.advance({ minutes: 40 });
  expect(pagesOf(w, anna, bram, cleo, dirk)).toEqual([1, 1, 1, 1]);
  expect((await read()).escalation.state).toBe('finished');
});

test('two people who reassign at once page one of the two, and the other hears that somebody was quicker', async () => {
  const { w, bram, dirk, read, reassign } = await annaIsPaged();
  // Both saw the same: each of them may be done before the other begins.
  const { escalation } = await read();
  const seen = { stepCount: escalation.stepCount };
  const answers = await Promise.all([dirk, bram].map(({ userId }) => reassign({ userId }, seen)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.body.detail).toContain('somebody else has handed');
  await w.runUntilIdle();
  const pages = pagesOf(w, bram, dirk);
  expect(pages.reduce((sum, count) => sum + count, 0)).toBe(1);
});

test('a reassignment that races with a step loses no page: the step fires before it, or not at all', async () => {
  const world = await staffedWorld();
  for (let round = 0; round < slowRuns(40, 40); round += 1) {
    const { w, bram, dirk, read, reassign } = await annaIsPaged(world);
    w.clock.advance({ minutes: 15 });
    const [answer] = await Promise.all([reassign({ userId: dirk.userId }), w.advance({ seconds: 0 })]);
    await w.runUntilIdle();
    await w.advance({ seconds: 1 });
    expect(answer.status).toBe(200);
    expect(pagesOf(w, dirk)).toEqual([1]);
    expect(pagesOf(w, bram), 'the step that was due pages Bram once, as an old or as a new one').toEqual([1]);
    const fired = (await read()).escalation.steps.filter(({ state }: { state: string }) => state === 'fired');
    expect(fired).toHaveLength(3);
  }
});

test('nobody is given an incident who cannot be paged, or one that was resolved or acknowledged meanwhile', async () => {
  const { w, dirk, bram, ask, reassign } = await annaIsPaged();
  const channels = { smsEnabled: false, callEnabled: false, pushEnabled: false, emailEnabled: false };
  await w.expectOk('update_team_member', { memberId: dirk.memberId, ...channels });
  const unreachable = await reassign({ userId: dirk.userId });
  expect([unreachable.status, unreachable.body.detail]).toEqual([
    409,
    'Dirk cannot be paged: every channel is off, has no address or is not set up on this server; let Dirk enter a phone number as their own number on the page Me, where it counts in every team, or choose somebody else',
  ]);
  expect((await reassign({})).status).toBe(400);
  expect((await reassign({ userId: 'user_01k9z7b8c9d0e1f2g3h4j5k6mn' })).status).toBe(404);
  const { people } = (await ask('list_assignees')).body.result;
  expect(people.find((person: { userId: string }) => person.userId === dirk.userId).refusal).toBe(
    unreachable.body.detail,
  );
  expect(people.find((person: { userId: string }) => person.userId === bram.userId).refusal).toBeNull();
  const channelsOf = (userId: string) => people.find((person: { userId: string }) => person.userId === userId).channels;
  expect([channelsOf(dirk.userId), channelsOf(bram.userId)]).toEqual([[], ['sms', 'call']]);
  await ask('acknowledge_incident');
  const stale = await reassign({ userId: bram.userId }, { status: 'triggered' });
  expect([stale.status, stale.body.detail]).toEqual([
    409,
    'this incident is acknowledged by now; hand it over again if it still needs somebody else',
  ]);
  await ask('resolve_incident');
  expect((await reassign({ userId: bram.userId })).body.detail).toContain('reopen it');
});

test('whoever is on call stands first in the list, and whoever has a number in another team only is refused with what to do', async () => {
  const { w, teamId: platform, dirk, ask, reassign } = await annaIsPaged();
  await w.expectOk('create_schedule', {
    teamId: platform,
    name: 'Primary',
    rotationType: 'daily',
    rotationConfig: { userIds: [dirk.userId] },
    startAt: '2026-03-02T09:00:00Z',
  });
  const all = (await ask('list_assignees')).body.result.people;
  expect(all[0]).toMatchObject({ userId: dirk.userId, isOnCall: true });
  expect(all.filter(({ isOnCall }: { isOnCall: boolean }) => isOnCall)).toHaveLength(1);
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const bea = await w.staff.responder(teamId, 'Bea');
  const channels = { smsEnabled: true, callEnabled: true, pushEnabled: true, emailEnabled: false };
  await w.expectOk('update_team_member', { memberId: bea.memberId, ...channels });
  const contact = { teamId: null, phone: null, ...channels };
  await givePassword(w, bea.userId);
  const browser = await signedIn(w, bea.email);
  const me = (await browser.invoke(w.orgId, 'get_me')).body.result;
  expect((await browser.invoke(w.orgId, 'update_own_contact', { ...contact, basedOn: me.own })).status).toBe(200);
  const refused = await reassign({ userId: bea.userId });
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    'Bea cannot be paged: their number in Payments counts for incidents of that team only; let Bea enter it as their own number on the page Me, where it counts in every team, or choose somebody else',
  ]);
  const { people } = (await ask('list_assignees', { text: 'Bea' })).body.result;
  expect(people).toMatchObject([{ name: 'Bea', channels: [], refusal: refused.body.detail }]);
});
