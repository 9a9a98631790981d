import { describe, expect, onTestFinished, test, vi } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { toTimestamp } from '#kernel/time.ts';
import { PeopleStore } from '#modules/accounts/store/people_store.ts';
import { acknowledgeIncident, unacknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { answerIncidents } from '#modules/incidents/operations/answer_incidents.ts';
import { reassignIncident } from '#modules/incidents/operations/reassignment.ts';
import { expireAcknowledgements } from '#modules/incidents/paging/acknowledgement_timeout.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import type { Responder, StaffedWorld } from '#test/kit/staffed_world.ts';
import { detailedWorld } from '#test/modules/policies/detailed_world.ts';

const SMS = { channels: ['sms'] } as const;

test('everybody on a step must acknowledge: an acknowledgement stops the messages of that person only', async () => {
  const w = await detailedWorld();
  const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
  const both = { ...SMS, targetUserIds: [anna.userId, bram.userId] };
  const alert = await w.alertBy([
    { afterMinutes: 0, ...both, needsEverybody: true },
    { afterMinutes: 10, ...both },
  ]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const first = await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
  expect(first).toMatchObject({ status: 'triggered', acknowledgements: [{ userId: anna.userId }] });
  await w.advance({ minutes: 10 });
  expect(w.paged().toSorted()).toEqual(['Anna', 'Bram', 'Bram']);
  expect(await w.expectOk('acknowledge_incident', { incidentId }, { key: bram.key })).toMatchObject({
    status: 'acknowledged',
  });
  expect(await w.texts(incidentId)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^Acknowledged by Anna.*it waits for Bram\.$/)]),
  );
});

test('a person who undoes an acknowledgement is paged again, and those who keep theirs are not', async () => {
  const w = await detailedWorld();
  const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
  const both = { ...SMS, targetUserIds: [anna.userId, bram.userId] };
  const alert = await w.alertBy([
    { afterMinutes: 0, ...both, needsEverybody: true },
    { afterMinutes: 10, ...both },
    { afterMinutes: 20, ...both },
  ]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const answer = (operation: AnyOperation, { userId }: Responder) =>
    runOperation(w, operation, memberCaller(w.orgId, userId, 'responder'), { incidentId });
  await answer(acknowledgeIncident, anna);
  await w.advance({ minutes: 10 });
  expect(w.paged().slice(2)).toEqual(['Bram']);
  // The page of the second step, which she did not get meanwhile, leaves now.
  expect(await answer(unacknowledgeIncident, anna)).not.toHaveProperty('acknowledgements');
  await w.runUntilIdle();
  expect(w.paged().slice(3)).toEqual(['Anna']);
  await answer(acknowledgeIncident, anna);
  expect(await answer(acknowledgeIncident, bram)).toMatchObject({ status: 'acknowledged' });
  await w.advance({ minutes: 5 });
  const before = w.paged().length;
  expect(await answer(unacknowledgeIncident, anna)).toMatchObject({
    status: 'triggered',
    acknowledgements: [{ userId: bram.userId }],
  });
  await w.runUntilIdle();
  await w.advance({ minutes: 20 });
  expect(w.paged().slice(before)).toEqual(['Anna']);
  expect(await answer(acknowledgeIncident, anna)).toMatchObject({ status: 'acknowledged' });
});

test.each(['a policy of another team', 'another team'])(
  'a person of %s who undoes an acknowledgement is paged by the number in that team',
  async (kind) => {
    const w = await detailedWorld();
    const others = await w.staff.team();
    const [bram, cleo] = [await w.person('Bram', others), await w.person('Cleo', others)];
    const paging =
      kind === 'another team' ? { members: { teamId: others } } : { targetUserIds: [bram.userId, cleo.userId] };
    const steps = [
      { afterMinutes: 0, ...SMS, ...paging, needsEverybody: true },
      { afterMinutes: 10, ...SMS, ...paging },
    ];
    const theirs = await w.policy('Theirs', steps, {}, others);
    const alert = await w.alertBy(kind === 'another team' ? steps : [{ afterMinutes: 0, ...SMS, policyId: theirs }]);
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    await w.expectOk('acknowledge_incident', { incidentId }, { key: bram.key });
    await w.advance({ minutes: 10 });
    expect(w.paged().slice(2)).toEqual(['Cleo']);
    await runOperation(w, unacknowledgeIncident, memberCaller(w.orgId, bram.userId, 'responder'), { incidentId });
    await w.runUntilIdle();
    expect(w.paged().slice(3)).toEqual(['Bram']);
  },
);

test('an undone acknowledgement sends no page of before a hand-over', async () => {
  const w = await detailedWorld();
  const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
  const both = { ...SMS, targetUserIds: [anna.userId, bram.userId] };
  const steps = [
    { afterMinutes: 0, ...both, needsEverybody: true },
    { afterMinutes: 10, ...both },
  ];
  const alert = await w.alertBy(steps);
  const policyId = await w.policy('P2', steps);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
  await w.advance({ minutes: 10 });
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const seen = { status: 'triggered', stepCount: 2 };
  await runOperation(w, reassignIncident, owner, { incidentId, to: { policyId }, seen });
  await w.advance({ minutes: 1 });
  const before = w.paged().length;
  await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
  await w.advance({ minutes: 1 });
  await runOperation(w, unacknowledgeIncident, memberCaller(w.orgId, anna.userId, 'responder'), { incidentId });
  await w.runUntilIdle();
  expect(w.paged().slice(before)).toEqual([]);
});

/** Lets the person acknowledge while the first page is on its way: by then the pager reads the person's role. */
function acknowledgeWhileSending({ expectOk }: StaffedWorld, incidentId: string, { key }: Responder): void {
  const { findRole } = PeopleStore.prototype;
  const sending = vi.spyOn(PeopleStore.prototype, 'findRole');
  onTestFinished(() => sending.mockRestore());
  sending.mockImplementationOnce(async function (this: PeopleStore, ...asked) {
    await expectOk('acknowledge_incident', { incidentId }, { key });
    return await findRole.apply(this, asked);
  });
}

test('a page that the provider refuses for now is not tried again once its person has acknowledged', async () => {
  const w = await detailedWorld();
  const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
  const both = { ...SMS, targetUserIds: [anna.userId, bram.userId] };
  const alert = await w.alertBy([{ afterMinutes: 0, ...both, needsEverybody: true }]);
  for (const { phone } of [anna, bram]) w.phone.addFault({ kind: 'http_error', status: 503, number: phone, times: 1 });
  const incidentId = await alert.trigger();
  acknowledgeWhileSending(w, incidentId, anna);
  await w.runUntilIdle();
  await w.advance({ minutes: 5 });
  expect(w.paged()).toEqual(['Bram']);
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications).toContainEqual(
    expect.objectContaining({ userId: anna.userId, status: 'cancelled', reason: 'acknowledged' }),
  );
});

test('a page that fails after its person has acknowledged does not bring the next step forward', async () => {
  const w = await detailedWorld();
  const [anna, bram, dirk] = [await w.person('Anna'), await w.person('Bram'), await w.person('Dirk')];
  const alert = await w.alertBy([
    { afterMinutes: 0, ...SMS, targetUserIds: [anna.userId, bram.userId], needsEverybody: true },
    { afterMinutes: 10, ...SMS, targetUserIds: [dirk.userId] },
  ]);
  w.phone.addFault({ kind: 'undelivered', errorCode: 30_003, number: anna.phone });
  const incidentId = await alert.trigger();
  acknowledgeWhileSending(w, incidentId, anna);
  await w.advance({ minutes: 9 });
  expect(w.paged()).not.toContain('Dirk');
  await w.advance({ minutes: 1 });
  expect(w.paged()).toContain('Dirk');
});

/** Anna and Bram are paged and both must acknowledge; Dirk is paged after 8 minutes, and Chloe is in the team. */
async function bothArePaged() {
  const w = await detailedWorld();
  const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
  const [chloe, dirk] = [await w.person('Chloe'), await w.person('Dirk')];
  const alert = await w.alertBy([
    { afterMinutes: 0, ...SMS, targetUserIds: [anna.userId, bram.userId], needsEverybody: true },
    { afterMinutes: 8, ...SMS, targetUserIds: [dirk.userId] },
  ]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const acknowledge = ({ key }: Responder) => w.expectOk('acknowledge_incident', { incidentId }, { key });
  return { w, anna, bram, chloe, dirk, alert, incidentId, acknowledge };
}

test('an acknowledgement for oneself is audited with who has given one, and so is its undoing', async () => {
  const { w, anna, bram, incidentId, acknowledge } = await bothArePaged();
  const answer = (operation: AnyOperation, { userId }: Responder, input: object) =>
    runOperation(w, operation, memberCaller(w.orgId, userId, 'responder'), input);
  const [ofAnna, ofBram] = [anna, bram].map(({ userId }) => ({ userId, at: toTimestamp(w.clock.now()) }));
  await acknowledge(anna);
  await answer(unacknowledgeIncident, anna, { incidentId });
  const bulk = { answer: 'acknowledge', incidentIds: [incidentId] };
  await answer(answerIncidents, bram, bulk);
  await answer(answerIncidents, bram, bulk);
  await acknowledge(anna);
  const rows = await w.context.db.sql.rows(
    `select action, before, after from audit_log where target = $1 and action <> 'open_incident' order by id`,
    [incidentId],
  );
  const triggered = { status: 'triggered' };
  const [byAnna, byBram] = [ofAnna, ofBram].map((given) => ({ ...triggered, acknowledgements: [given] }));
  expect(rows).toEqual([
    { action: 'acknowledge_incident', before: triggered, after: byAnna },
    { action: 'unacknowledge_incident', before: byAnna, after: triggered },
    { action: 'answer_incidents', before: triggered, after: byBram },
    { action: 'acknowledge_incident', before: byBram, after: { ...byBram, status: 'acknowledged' } },
  ]);
});

describe('the demand that everybody acknowledges ends', () => {
  test.each(['person', 'policy'])('when a %s takes the incident over, whose people alone must answer', async (kind) => {
    const { w, chloe, dirk, incidentId, acknowledge } = await bothArePaged();
    const policyId = await w.policy('P2', [
      { afterMinutes: 0, ...SMS, targetUserIds: [chloe.userId] },
      { afterMinutes: 5, ...SMS, targetUserIds: [dirk.userId] },
    ]);
    const input = {
      incidentId,
      to: kind === 'person' ? { userId: chloe.userId } : { policyId },
      seen: { status: 'triggered', stepCount: 2 },
    };
    await w.advance({ minutes: 3 });
    await runOperation(w, reassignIncident, memberCaller(w.orgId, w.owner.userId, 'owner'), input);
    await w.advance({ minutes: 1 });
    expect(await acknowledge(chloe)).toMatchObject({ status: 'acknowledged' });
    await w.advance({ minutes: 10 });
    expect(w.paged().filter((name) => name === 'Dirk')).toEqual([]);
  });

  test('when the acknowledgement goes stale: whoever is paged then must answer', async () => {
    const w = await detailedWorld();
    const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
    const alert = await w.alertBy([{ afterMinutes: 0, ...SMS, members: { teamId: w.teamId }, needsEverybody: true }]);
    await setOfRule(w, alert.ruleId, { repageMinutes: 30 });
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    for (const { key } of [anna, bram]) await w.expectOk('acknowledge_incident', { incidentId }, { key });
    const [chloe, dirk] = [await w.person('Chloe'), await w.person('Dirk')];
    for (const { memberId } of [anna, bram]) await w.expectOk('remove_team_member', { memberId });
    await w.advance({ minutes: 30 });
    await expireAcknowledgements(w.runtime);
    await w.runUntilIdle();
    const first = await w.expectOk('acknowledge_incident', { incidentId }, { key: chloe.key });
    expect(first).toMatchObject({ status: 'triggered', acknowledgements: [{ userId: chloe.userId }] });
    const last = await w.expectOk('acknowledge_incident', { incidentId }, { key: dirk.key });
    expect(last).toMatchObject({ status: 'acknowledged' });
  });

  test.each([
    ['leaves the organization', 'delete from memberships where user_id = $1'],
    ['may no longer answer', `update memberships set role = 'viewer' where user_id = $1`],
  ])('for a person who %s', async (_, statement) => {
    const { w, anna, bram, acknowledge } = await bothArePaged();
    await w.context.db.sql.run(statement, [bram.userId]);
    expect(await acknowledge(anna)).toMatchObject({ status: 'acknowledged' });
    await w.advance({ minutes: 10 });
    expect(w.paged().filter((name) => name === 'Dirk')).toEqual([]);
  });
});
