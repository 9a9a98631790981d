import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import { OnCallReader } from '#modules/schedules/store/on_call_reader.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { addIncidentNote } from '#modules/incidents/operations/notes.ts';
import { beginChatLink, listChatAccounts, unlinkChatAccount, updatePlace } from '#modules/places/operations/places.ts';
import { SLACK_CHANNEL, SLACK_SECRET, SLACK_TOKEN, type Slack, startSlack } from '#test/kit/programs/slack.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { linkedPerson, makeSlackPlace } from '#test/modules/places/slack_people.ts';

let slack: Slack;
let w: StaffedWorld;
let placeId: string;
let incidentId: string;

beforeAll(async () => {
  slack = await startSlack(() => w.clock.now().epochMilliseconds);
});
afterAll(() => slack.close());

beforeEach(async () => {
  slack.removeMessages();
  (slack.whispers as unknown[]).splice(0);
  w = await staffedWorld({ settings: { slackApiBase: slack.url } });
  placeId = await makePlace();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const step = { channels: ['sms'], targetUserIds: [anna.userId], useSchedule: false } as const;
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, ...step },
    { afterMinutes: 15, ...step },
  ]);
  incidentId = await alert.trigger();
  await w.runUntilIdle();
});

const makePlace = (of?: Pick<StaffedWorld, 'orgId' | 'owner'>, name?: string) => makeSlackPlace(w, of, name);

const linked = (user: string, role: Role = 'responder') => linkedPerson(w, slack, placeId, user, role);

const press = (pressed: Partial<Parameters<Slack['press']>[1]> & { user: string; button: string }) =>
  slack.press(w.app, { placeId, nowMs: w.clock.now().epochMilliseconds, ...pressed });

const statusOf = async () => (await w.expectOk('get_incident', { incidentId })).status as string;

const auditOf = (action: string) =>
  w.context.db.sql.rows<{ actor: object; via: string }>(
    'select actor, via from audit_log where action = $1 and target = $2 order by at',
    [action, incidentId],
  );

test('a linked person acknowledges, escalates and resolves by buttons, audited with both', async () => {
  const { userId } = await linked('Bram');
  expect(await press({ user: 'Bram', button: 'escalate' })).toBe(200);
  expect(await press({ user: 'Bram', button: 'acknowledge' })).toBe(200);
  expect(await statusOf()).toBe('acknowledged');
  await w.runUntilIdle();
  expect(slack.messages[0]?.text).toContain('Acknowledged by Bram by Slack');
  expect(await press({ user: 'Bram', button: 'resolve' })).toBe(200);
  expect(await statusOf()).toBe('resolved');
  expect(slack.whispers.map(({ text }) => text)).toEqual([
    'Escalated: the next step fires now.',
    'Acknowledged. Thank you.',
    'Resolved. Thank you.',
  ]);
  const actor = { kind: 'user', userId, apiKeyId: null, chatAccount: { placeId, account: 'T0001 Bram', name: 'bram' } };
  for (const action of ['escalate_incident', 'acknowledge_incident', 'resolve_incident']) {
    expect(await auditOf(action)).toEqual([{ actor, via: 'slack' }]);
  }
});

test('a person who acknowledges while others still must is thanked, and told of a second press', async () => {
  await w.context.db.sql.run(
    `update incidents set steps = (select json_agg(step::jsonb || '{"needsEverybody": true}') from json_array_elements(steps) step)`,
  );
  const { userId } = await linked('Bram');
  for (let presses = 0; presses < 2; presses += 1) await press({ user: 'Bram', button: 'acknowledge' });
  expect(await w.expectOk('get_incident', { incidentId })).toMatchObject({
    status: 'triggered',
    acknowledgements: [{ userId }],
  });
  expect(slack.whispers.map(({ text }) => text)).toEqual([
    'Acknowledged. Thank you.',
    'It was acknowledged already. Nothing was changed.',
  ]);
});

test('a press of somebody whose account is not linked does nothing and says so', async () => {
  expect(await press({ user: 'Eve', button: 'acknowledge' })).toBe(200);
  expect(await statusOf()).toBe('triggered');
  expect(slack.whispers).toMatchObject([{ user: 'Eve', text: expect.stringContaining('is not linked') }]);
});

test('a press of somebody whose role does not allow it does nothing and says so', async () => {
  await linked('Vera', 'viewer');
  await press({ user: 'Vera', button: 'acknowledge' });
  expect(await statusOf()).toBe('triggered');
  expect(slack.whispers).toMatchObject([{ text: 'Your role does not allow this. Nothing was changed.' }]);
});

test('in a place that an admin set up, an owner acknowledges and does nothing else until an owner enters its settings', async () => {
  const admin = await w.given.user({ name: 'Ada', role: 'admin' });
  const settings = { channel: SLACK_CHANNEL, token: SLACK_TOKEN, signingSecret: SLACK_SECRET };
  await runOperation(w, updatePlace, memberCaller(w.orgId, admin.userId, 'admin'), { placeId, settings });
  await linked('Olga', 'owner');
  await linked('Bram');
  await press({ user: 'Olga', button: 'escalate' });
  await press({ user: 'Olga', button: 'resolve' });
  const refusal = { text: expect.stringContaining('of a lower role') };
  expect(slack.whispers).toMatchObject([refusal, refusal]);
  expect([...(await auditOf('escalate_incident')), ...(await auditOf('resolve_incident'))]).toEqual([]);
  await press({ user: 'Olga', button: 'acknowledge' });
  expect(await statusOf()).toBe('acknowledged');
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  await runOperation(w, updatePlace, owner, { placeId, settings });
  await press({ user: 'Olga', button: 'resolve' });
  expect(await statusOf()).toBe('resolved');
});

test('a forged or late press is refused, and a replayed one counts once', async () => {
  await linked('Bram');
  const nowMs = w.clock.now().epochMilliseconds;
  expect(await press({ user: 'Bram', button: 'acknowledge', secret: 'another' })).toBe(403);
  expect(await press({ user: 'Bram', button: 'acknowledge', nowMs: nowMs - 301_000 })).toBe(403);
  expect(await statusOf()).toBe('triggered');
  expect(await press({ user: 'Bram', button: 'acknowledge', triggerId: 'same' })).toBe(200);
  await w.expectOk('get_incident', { incidentId });
  await w.context.db.sql.run(
    `update incidents set status = 'triggered', acknowledged_at = null, acknowledged_by = null where id = $1`,
    [incidentId],
  );
  expect(await press({ user: 'Bram', button: 'acknowledge', triggerId: 'same' })).toBe(200);
  expect(await statusOf()).toBe('triggered');
  expect(slack.whispers.at(-1)?.text).toBe('This press was counted already. Nothing was changed.');
});

test('a button of another organization, or of no message, does nothing', async () => {
  await linked('Bram');
  const other = await w.given.organization('Other');
  const otherPlace = await makePlace(other);
  await press({ user: 'Bram', button: 'acknowledge', placeId: otherPlace });
  await press({ user: 'Bram', button: 'acknowledge', ts: '1.1', value: incidentId });
  expect(await statusOf()).toBe('triggered');
  expect(slack.whispers.map(({ text }) => text)).toEqual([
    'This button belongs to no message of Tocsin. Nothing was changed.',
    'This button belongs to no message of Tocsin. Nothing was changed.',
  ]);
});

test('a press on an old message of a resolved incident says that it is resolved', async () => {
  const bram = await linked('Bram');
  const message = slack.messages[0]!;
  await w.expectOk('resolve_incident', { incidentId }, { key: bram.key });
  await press({ user: 'Bram', button: 'acknowledge', ts: message.ts, value: incidentId });
  expect(await statusOf()).toBe('resolved');
  expect(slack.whispers.at(-1)?.text).toContain('This incident is resolved already');
});

test('a code links once, within ten minutes, after ten tries at most', async () => {
  const person = await w.given.user({ name: 'Bram' });
  const caller = memberCaller(w.orgId, person.userId, 'responder');
  const begin = async () => (await runOperation(w, beginChatLink, caller, { kind: 'slack' })).code as string;
  const link = (user: string, code: string) => slack.command(w.app, placeId, { user, text: `link ${code}` });
  const late = await begin();
  w.clock.advance({ minutes: 10 });
  expect(await link('Bram', late)).toContain('wrong, or older than ten minutes');
  const code = await begin();
  expect(await link('Bram', code.toLowerCase())).toContain('act for Bram');
  expect(await link('Eve', code)).toContain('wrong');
  for (let tries = 0; tries < 9; tries += 1) await link('Eve', 'ABCDEFGHJK');
  expect(await link('Eve', await begin())).toBe('Too many wrong codes. Try again in 15 minutes.');
  const { accounts } = await runOperation(w, listChatAccounts, caller, {});
  expect(accounts).toMatchObject([{ kind: 'slack', name: 'bram' }]);
  await runOperation(w, unlinkChatAccount, caller, { chatAccountId: accounts[0].chatAccountId });
  await press({ user: 'Bram', button: 'acknowledge' });
  expect(await statusOf()).toBe('triggered');
});

test('an account of somebody with a higher role is not linked anew through a place that a lower role set up', async () => {
  const admin = await w.given.user({ name: 'Ada', role: 'admin' });
  const olga = await linked('Olga', 'owner');
  const settings = { channel: SLACK_CHANNEL, token: SLACK_TOKEN, signingSecret: SLACK_SECRET };
  await runOperation(w, updatePlace, memberCaller(w.orgId, admin.userId, 'admin'), { placeId, settings });
  const linkAs = async ({ userId }: { userId: Id<'user'> }, role: Role) => {
    const { code } = await runOperation(w, beginChatLink, memberCaller(w.orgId, userId, role), { kind: 'slack' });
    return await slack.command(w.app, placeId, { user: 'Olga', text: `link ${code}` });
  };
  expect(await linkAs(admin, 'admin')).toContain('of a lower role');
  expect(await linkAs(olga, 'owner')).toContain('act for Olga');
  await press({ user: 'Olga', button: 'acknowledge' });
  expect(await auditOf('acknowledge_incident')).toMatchObject([{ actor: { userId: olga.userId } }]);
});

test('notes go to the thread of the message, and /oncall says who is on call', async () => {
  const { caller } = await linked('Bram');
  const note = { incidentId, text: 'The <replica> lags.', requestKey: 'note-of-test' };
  await runOperation(w, addIncidentNote, caller, note);
  await w.runUntilIdle();
  expect(slack.messages[1]).toMatchObject({ threadTs: slack.messages[0]?.ts, text: 'Bram: The &lt;replica&gt; lags.' });
  const ahead = vi.spyOn(OnCallReader.prototype, 'overTime');
  expect(await slack.command(w.app, placeId, { user: 'Bram', text: '' })).toBe('On call now:\nPlatform: nobody');
  expect(ahead, 'asks for nothing but now').not.toHaveBeenCalled();
  ahead.mockRestore();
  expect(await slack.command(w.app, placeId, { user: 'Eve', text: '' })).toContain('is not linked');
});
