import { expect, test } from 'vitest';

import { givePassword, signedIn } from '#test/kit/programs/browser.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';

const KEY = 'a-request-of-anna';

async function annaAtTheConsole() {
  const w = await staffedWorld();
  const teamId = await w.staff.team();
  const [anna, bram] = [await w.staff.responder(teamId, 'Anna'), await w.staff.responder(teamId, 'Bram')];
  const steps = [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [bram.userId] },
    { afterMinutes: 5, channels: ['call'], targetUserIds: [bram.userId] },
  ];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Wake Bram', steps });
  const { serviceId } = await w.given.service({ name: 'checkout' });
  await givePassword(w, anna.userId);
  const browser = await signedIn(w, anna.email);
  const declare = (input: object = {}) =>
    browser.invoke(w.orgId, 'declare_incident', {
      serviceId,
      title: '  Nobody can\n pay ',
      severity: 'fatal',
      escalationPolicyId: policyId,
      requestKey: KEY,
      ...input,
    });
  // Signed in anew: a session ends before a week is over.
  const ask = async (operation: string, incidentId: string) =>
    await (await signedIn(w, anna.email)).invoke(w.orgId, operation, { incidentId });
  return { w, anna, bram, serviceId, declare, ask };
}

test('an incident that a person declares pages like any other, is audited, and is theirs in the timeline', async () => {
  const { w, anna, bram, declare, ask } = await annaAtTheConsole();
  const { incidentId, ...incident } = (await declare()).body.result;
  expect(incident).toMatchObject({ kind: 'manual', title: 'Nobody can pay', severity: 'fatal', ruleId: null });
  await w.runUntilIdle();
  expect(w.phone.messages.map(({ to, body }) => [to, body])).toEqual([
    [bram.phone, expect.stringMatching(/^checkout: Nobody can pay\nReply ACK \d+ http/)],
  ]);
  const { timeline } = await w.expectOk('get_incident', { incidentId });
  expect(timeline[0].text).toBe('Declared by Anna by the console.');
  const audited = await w.context.db.sql.rows(`select actor, after from audit_log where target = $1`, [incidentId]);
  expect(audited).toMatchObject([{ actor: { userId: anna.userId }, after: { title: 'Nobody can pay' } }]);
  await w.advance({ minutes: 5 });
  expect(w.phone.calls).toHaveLength(1);
  expect((await ask('resolve_incident', incidentId)).status).toBe(200);
  expect((await ask('reopen_incident', incidentId)).body.result.status).toBe('triggered');
});

test('a form that is sent twice, also at once, declares one incident', async () => {
  const { w, declare } = await annaAtTheConsole();
  const answers = await Promise.all([declare(), declare(), declare()]);
  const ids = new Set(answers.map(({ body }) => body.result.incidentId));
  expect(ids.size).toBe(1);
  expect((await declare()).body.result).toMatchObject({ incidentId: [...ids][0], occurrences: 1 });
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(1);
  expect((await declare({ requestKey: 'another-request' })).body.result.incidentId).not.toBe([...ids][0]);
});

test('without a policy nobody is paged, and the timeline says so', async () => {
  const { w, declare } = await annaAtTheConsole();
  const { incidentId } = (await declare({ escalationPolicyId: null })).body.result;
  await w.runUntilIdle();
  expect(w.phone.messages).toEqual([]);
  const { timeline } = await w.expectOk('get_incident', { incidentId });
  expect(timeline.at(-1).text).toBe('Nobody is paged: no escalation policy was chosen.');
});

test('what cannot be declared is refused with the way out', async () => {
  const { w, serviceId, declare } = await annaAtTheConsole();
  await w.expectOk('disable_capability', { serviceId, capability: 'oncall' });
  expect((await declare()).body.detail).toContain('enable it on the page of the service');
  await w.expectOk('enable_capability', { serviceId, capability: 'oncall' });
  for (const wrong of [{ title: ' ' }, { title: 'x'.repeat(201) }, { severity: 'bad' }, { requestKey: 'short' }]) {
    expect((await declare(wrong)).status).toBe(400);
  }
  expect((await declare({ escalationPolicyId: 'policy_01k9z8j6k7m8n9p0q1r2s3t4vw' })).status).toBe(404);
  for (let n = 0; n < 30; n += 1) {
    expect((await declare({ requestKey: `request-${n}`, escalationPolicyId: null })).status).toBe(200);
  }
  const flooded = await declare({ requestKey: 'one-too-many' });
  expect([flooded.status, flooded.body.code]).toEqual([429, 'rate_limited']);
  w.clock.advance({ minutes: 11 });
  expect((await declare({ requestKey: 'one-too-many' })).status).toBe(200);
});

test('an incident that was resolved more than a week ago is not reopened', async () => {
  const { w, declare, ask } = await annaAtTheConsole();
  const { incidentId } = (await declare({ escalationPolicyId: null })).body.result;
  await ask('resolve_incident', incidentId);
  w.clock.advance({ hours: 24 * 6 });
  expect((await ask('reopen_incident', incidentId)).status).toBe(200);
  await ask('resolve_incident', incidentId);
  w.clock.advance({ hours: 24 * 7, seconds: 1 });
  const refused = await ask('reopen_incident', incidentId);
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    'it was resolved more than 7 days ago; declare a new incident',
  ]);
});
