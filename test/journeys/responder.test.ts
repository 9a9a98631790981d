import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { createPlace } from '#modules/places/operations/places.ts';
import { listAuditLog } from '#modules/audit/operations/list_audit_log.ts';
import { answerProposal } from '#modules/agents/operations/answer_proposal.ts';
import {
  getAgents,
  getAgentWork,
  setAgentLimits,
  setResponder,
  stopAgents,
} from '#modules/agents/operations/agents.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { newId } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { altered } from '#test/auth/altered.ts';
import { send } from '#test/contract/mcp_call.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import type { StepInput } from '#test/kit/given_rows.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { textFrom } from '#test/kit/twilio_posts.ts';

const VIEWS = ['oncall:view', 'services:view', 'dashboards:view', 'exceptions:view'] as const;
const BASE_URL = 'http://tocsin.test';

let w: StaffedWorld;
beforeAll(async () => {
  w = await staffedWorld({ keepOpen: true });
});
afterEach(() => runOperation(w, stopAgents, memberCaller(w.orgId, w.owner.userId, 'owner'), { stopped: false }));
afterAll(() => w.close());

/** An incident that has paged Anna, an owner, and an agent with a key that may look. */
async function night(steps: readonly StepInput[] = [{ afterMinutes: 0, channels: ['sms'] }]) {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  await w.staff.confirm(anna);
  // Whether a page arrived is no question here.
  w.phone.addFault({ kind: 'callback_lost', number: anna.phone });
  const alert = await w.staff.alert(
    teamId,
    steps.map((step) => ({ ...step, targetUserIds: [anna.userId] })),
  );
  const owner = await w.given.user({ role: 'owner', name: 'Olga' });
  const key = await w.given.apiKey({ permissions: [...VIEWS] });
  const [found] = await w.context.db.sql.rows<{ id: string }>(
    `select id from api_keys where name = 'test' order by created_at desc, id desc limit 1`,
  );
  const agentId = found!.id;
  const asOwner = memberCaller(w.orgId, owner.userId, 'owner');
  const asAnna = memberCaller(w.orgId, anna.userId, 'responder');
  const tool = (name: string, input: object) => callTool(w, key, name, input);
  const enable = (enabled = true) => runOperation(w, setResponder, asOwner, { agentId, enabled });
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  return { anna, alert, owner, key, agentId, asOwner, asAnna, tool, enable, incidentId };
}

async function callTool(w: StaffedWorld, key: string, name: string, input: object) {
  const sending = { era: 'legacy', key, url: API_PATHS.responder } as const;
  const { status, body } = await send(w, 'tools/call', { name, arguments: input }, sending);
  const text: string = body.result?.content[0].text ?? body.error.message;
  const isOk = body.result !== undefined && body.result.isError !== true;
  return { status, isOk, text, result: isOk ? JSON.parse(text) : null };
}

async function pagesOf(w: StaffedWorld, incidentId: string): Promise<number> {
  const pages = await w.context.db.sql.rows(`select 1 from notifications where incident_id = $1 and kind = 'page'`, [
    incidentId,
  ]);
  return pages.length;
}

const acknowledging = (incidentId: string) => ({
  incidentId,
  action: 'acknowledge_incident',
  input: { incidentId },
  reason: 'The rollback of 2.4.1 is under way.',
  evidence: ['release 2.4.1 at 03:02', 'errors since 03:04'],
});

test('a connection responds only after an owner has enabled it, and only in its organization', async () => {
  const { tool, enable, asAnna, agentId, incidentId } = await night();
  expect(await tool('take_lease', { incidentId })).toMatchObject({
    status: 403,
    text: expect.stringContaining('owner'),
  });
  const refused = await w.context.db.sql.rows(`select action, result from audit_log where action = 'take_lease'`);
  expect(refused).toEqual([{ action: 'take_lease', result: 'forbidden' }]);
  const admin = { ...asAnna, permissions: new Set([...asAnna.permissions, 'organization:manage' as const]) };
  await expect(runOperation(w, setResponder, admin, { agentId, enabled: true })).rejects.toThrow('only owners');
  await enable();
  expect(await tool('take_lease', { incidentId })).toMatchObject({ isOk: true });
  const other = await w.given.organization('Other');
  expect(await callTool(w, other.orgKey, 'take_lease', { incidentId })).toMatchObject({ status: 403 });
  expect(await tool('acknowledge_incident', { incidentId })).toMatchObject({ isOk: false });
  expect(await tool('take_lease', { incidentId: 'incident_of_others' })).toMatchObject({
    text: expect.stringMatching(/^not_found/),
  });
  await enable(false);
  expect(await tool('renew_lease', { incidentId })).toMatchObject({ status: 403 });
});

test('a lease is shown to people, and lost when the agent stops renewing it', async () => {
  const { tool, enable, asAnna, incidentId } = await night();
  await enable();
  await tool('take_lease', { incidentId, minutes: 5 });
  const lease = async () => (await runOperation(w, getAgentWork, asAnna, { incidentId })).lease;
  expect(await lease()).toMatchObject({ agentName: 'test', state: 'held' });
  w.clock.advance({ minutes: 4 });
  expect(await tool('renew_lease', { incidentId, minutes: 5 })).toMatchObject({ isOk: true });
  w.clock.advance({ minutes: 5 });
  expect(await lease()).toMatchObject({ state: 'lost' });
  expect(await tool('renew_lease', { incidentId })).toMatchObject({
    isOk: false,
    text: expect.stringContaining('conflict'),
  });
  await tool('take_lease', { incidentId });
  expect((await tool('release_lease', { incidentId })).result).toMatchObject({ released: true });
  const { timeline } = await w.expectOk('get_incident', { incidentId });
  const events = timeline.map(({ event }: { event: string }) => event);
  expect(events).toEqual(expect.arrayContaining(['lease_taken', 'lease_lost', 'lease_released']));
});

test('escalation waits for no lease, unless the organization lets it hold the first step', async () => {
  const { alert, tool, enable, asOwner, incidentId } = await night([
    { afterMinutes: 1, channels: ['sms'] },
    { afterMinutes: 30, channels: ['sms'] },
  ]);
  await enable();
  let open: string = incidentId;
  const another = async () => {
    await w.expectOk('resolve_incident', { incidentId: open });
    w.clock.advance({ minutes: 2 });
    open = await alert.trigger();
    await w.runUntilIdle();
    return open;
  };
  const firesAfter = async (id: string, seconds: number) => {
    await w.advance({ seconds: seconds - 1 });
    expect(await pagesOf(w, id)).toBe(0);
    await w.advance({ seconds: 1 });
    expect(await pagesOf(w, id)).toBe(1);
  };

  const second = await another();
  expect((await tool('take_lease', { incidentId: second, minutes: 15 })).result.heldUntil).toBe(null);
  await firesAfter(second, 60);

  await runOperation(w, setAgentLimits, asOwner, { writesAnHour: null, holdMinutes: 3 });
  const third = await another();
  const { heldUntil } = (await tool('take_lease', { incidentId: third, minutes: 15 })).result;
  expect(Date.parse(heldUntil) - w.clock.now().epochMilliseconds).toBe(4 * 60_000);
  await firesAfter(third, 240);

  const fourth = await another();
  await tool('take_lease', { incidentId: fourth, minutes: 15 });
  await runOperation(w, stopAgents, asOwner, { stopped: true });
  await firesAfter(fourth, 60);
});

test('a proposal happens once a person approves it, in their name, audited with the agent', async () => {
  const { anna, agentId, tool, enable, asAnna, asOwner, incidentId } = await night();
  await enable();
  const proposed = await tool('propose_action', acknowledging(incidentId));
  expect(proposed.result).toMatchObject({ state: 'proposed', peopleAsked: 1 });
  const { proposalId } = proposed.result;
  expect((await tool('propose_action', acknowledging(incidentId))).result).toMatchObject({
    proposalId,
    peopleAsked: 0,
  });
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
  const answers = await Promise.allSettled(
    [1, 2, 3].map(() => runOperation(w, answerProposal, asAnna, { proposalId, answer: 'yes' })),
  );
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const { status, acknowledgedBy } = await w.expectOk('get_incident', { incidentId });
  expect([status, acknowledgedBy]).toEqual(['acknowledged', { userId: anna.userId, via: 'console' }]);
  const audited = await w.context.db.sql.rows<{ actor: object }>(
    `select actor from audit_log where action = 'acknowledge_incident' and result = 'done' and target = $1`,
    [incidentId],
  );
  expect(audited.map(({ actor }) => actor)).toMatchObject([
    { userId: anna.userId, proposal: { proposalId, agentId, agentName: 'test' } },
  ]);
  const { entries } = await runOperation(w, listAuditLog, asOwner, { action: 'acknowledge_incident' });
  expect(entries).toMatchObject([{ actor: { name: 'Anna' }, proposal: { proposalId, agentId, agentName: 'test' } }]);
  expect((await tool('get_proposal', { proposalId })).result).toMatchObject({
    state: 'carried_out',
    decidedBy: 'Anna by the console',
  });
});

test('a proposal that cannot be carried out stays as it was; one that expired, was rejected or whose agent was stopped is never carried out', async () => {
  const { tool, enable, asAnna, asOwner, incidentId } = await night();
  await enable();
  const propose = async (action: string, input: object) =>
    (await tool('propose_action', { ...acknowledging(incidentId), action, input, minutes: 10 })).result
      .proposalId as string;
  const answer = (proposalId: string, said: 'yes' | 'no') =>
    runOperation(w, answerProposal, asAnna, { proposalId, answer: said });
  const wrong = await tool('propose_action', { ...acknowledging(incidentId), input: { incident: incidentId } });
  expect(wrong.text).toContain('input.incident');
  expect((await tool('propose_action', { ...acknowledging(incidentId), action: 'list_teams', input: {} })).isOk).toBe(
    false,
  );
  const gone = await propose('acknowledge_incident', { incidentId: 'incident_gone' });
  await expect(answer(gone, 'yes')).rejects.toMatchObject({ code: 'not_found' });
  expect((await tool('get_proposal', { proposalId: gone })).result.state).toBe('proposed');
  const forbidden = await propose('create_service', { name: 'mine' });
  await expect(answer(forbidden, 'yes')).rejects.toMatchObject({ code: 'forbidden' });
  await answer(forbidden, 'no');
  await expect(answer(forbidden, 'yes')).rejects.toMatchObject({ code: 'conflict' });
  const resolve = await propose('resolve_incident', { incidentId });
  await runOperation(w, stopAgents, asOwner, { stopped: true });
  await expect(answer(resolve, 'yes')).rejects.toThrow('expired');
  expect(await tool('get_proposal', { proposalId: resolve })).toMatchObject({ status: 403 });
  await runOperation(w, stopAgents, asOwner, { stopped: false });
  w.clock.advance({ minutes: 10 });
  await expect(answer(resolve, 'yes')).rejects.toThrow('expired');
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
});

test('who was paged answers by SMS or by a link, and nobody else', async () => {
  const { anna, tool, enable, incidentId } = await night();
  await enable();
  const { number } = (await tool('propose_action', acknowledging(incidentId))).result;
  await w.runUntilIdle();
  const text = w.phone.messages.at(-1)?.body ?? '';
  expect(text).toContain(`Reply YES ${number} or NO ${number}`);
  expect(text.length).toBeLessThanOrEqual(160);
  expect((await textFrom(w, '+31600000000', `YES ${number}`)) ?? '').not.toContain('Done');
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
  expect(await textFrom(w, anna.phone, `yes ${number}`)).toContain('Done: acknowledge incident.');
  expect((await w.expectOk('get_incident', { incidentId })).acknowledgedBy).toEqual({
    userId: anna.userId,
    via: 'sms',
  });
  expect(await textFrom(w, anna.phone, `YES ${number}`)).toContain('answered this already');

  await tool('ask_person', { incidentId, question: 'Is the shop closed for maintenance?' });
  const [message] = await w.context.db.sql.rows<{ id: string }>(
    `select id from notifications where proposal_id is not null order by created_at desc, id desc limit 1`,
  );
  const url = w.context.answerLinks.proposalUrlOf({ notificationId: message!.id }).replace(BASE_URL, '');
  const page = await w.app.inject({ method: 'GET', url });
  expect(page.body).toContain('Is the shop closed for maintenance?');
  const forged = await w.app.inject({ method: 'GET', url: altered(url) });
  expect(forged.statusCode).toBe(403);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await w.app.inject({ method: 'POST', url, headers, payload: 'answer=no' })).body).toContain(
    'Your answer is no',
  );
  const [question] = await w.context.db.sql.rows<{ id: string }>(
    `select id from proposals where kind = 'question' and incident_id = $1`,
    [incidentId],
  );
  expect((await tool('get_proposal', { proposalId: question!.id })).result).toMatchObject({ state: 'rejected' });
});

test('a place that knows of the incident is told once of what an agent writes', async () => {
  const { tool, enable, asOwner, incidentId } = await night();
  await enable();
  const settings = { address: 'https://hooks.example.com/tocsin' };
  const routes = [{ serviceId: null, teamId: null, atLeast: null }];
  await runOperation(w, createPlace, asOwner, { kind: 'webhook', name: 'Hook', settings, routes });
  await w.expectOk('acknowledge_incident', { incidentId });
  await w.runUntilIdle();
  for (let times = 0; times < 2; times += 1) await tool('write_note', { incidentId, text: 'The replica lags.' });
  const told = await w.context.db.sql.rows(`select from place_deliveries where incident_id = $1 and event = 'note'`, [
    incidentId,
  ]);
  expect(told).toHaveLength(1);
});

test('an agent makes no more changes an hour than its organization allows', async () => {
  const { key, tool, enable, asOwner, incidentId } = await night();
  await enable();
  await runOperation(w, setAgentLimits, asOwner, { writesAnHour: 3, holdMinutes: 0 });
  const notes = await Promise.all(
    [1, 2, 3, 4, 5].map((note) => tool('write_note', { incidentId, text: `note ${note}` })),
  );
  expect(notes.filter(({ isOk }) => isOk)).toHaveLength(3);
  expect(notes.find(({ isOk }) => !isOk)?.text).toContain('rate_limited');
  expect(await tool('release_lease', { incidentId })).toMatchObject({ isOk: true });
  w.clock.advance({ minutes: 60 });
  expect(await tool('write_note', { incidentId, text: 'later' })).toMatchObject({ isOk: true });
  const { notes: written } = await w.expectOk('get_incident', { incidentId });
  expect(written).toHaveLength(4);
  expect(written[0]).toMatchObject({ agentName: 'test' });
  // The switch is for every endpoint of agents.
  await runOperation(w, stopAgents, asOwner, { stopped: true });
  const response = await w.app.inject({
    method: 'POST',
    url: API_PATHS.mcp,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(response.statusCode).toBe(403);
});

test('a connected app is enabled like a key, and the permission ends with the connection', async () => {
  const { owner, asOwner } = await night();
  const stores = storesOf(w.context.db.session());
  const connectionId = newId('connection');
  await stores.connections.insert({
    connectionId,
    orgId: w.orgId,
    userId: owner.userId,
    clientId: 'client',
    clientName: 'Night app',
    clientUri: null,
    access: 'read_only',
    createdAt: w.clock.now(),
    lastUsedAt: null,
  });
  await runOperation(w, setResponder, asOwner, { agentId: connectionId, enabled: true });
  const { agents } = await runOperation(w, getAgents, asOwner, {});
  expect(agents).toContainEqual(
    expect.objectContaining({ agentId: connectionId, name: 'Night app', isResponder: true }),
  );
  const other = await w.given.organization('Other');
  const theirOwner = memberCaller(other.orgId, owner.userId, 'owner');
  await stores.people.setMembership(other.orgId, owner.userId, 'owner', w.clock.now());
  await expect(
    runOperation(w, setResponder, theirOwner, { agentId: connectionId, enabled: true }),
  ).rejects.toMatchObject({ code: 'not_found' });
  await stores.connections.remove(connectionId);
  expect(await stores.responders.isResponder(w.orgId, connectionId)).toBe(false);
});
