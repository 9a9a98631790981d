import { expect, test } from 'vitest';

import { answerProposal } from '#modules/agents/operations/answer_proposal.ts';
import { setResponder, stopAgents } from '#modules/agents/operations/agents.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { call } from '#test/contract/mcp_call.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { textFrom } from '#test/kit/twilio_posts.ts';

const PHONE = '+31612000001';

/** Olga, an owner who has confirmed her number, is paged by SMS; an agent may propose. */
async function night() {
  const w = await staffedWorld();
  const teamId = await w.staff.team();
  const olga = await w.given.user({ role: 'owner', name: 'Olga' });
  await w.expectOk('add_team_member', { teamId, userId: olga.userId, phone: PHONE });
  await w.staff.confirm({ userId: olga.userId, phone: PHONE });
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [olga.userId] }]);
  const asOlga = memberCaller(w.orgId, olga.userId, 'owner');
  const key = await w.given.apiKey({ permissions: ['oncall:view'] });
  const [agent] = await w.context.db.sql.rows<{ id: string }>('select id from api_keys order by id desc limit 1');
  const enable = (enabled: boolean) => runOperation(w, setResponder, asOlga, { agentId: agent!.id, enabled });
  await enable(true);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const propose = async (action: string, input: object, reason = 'It is broken.') => {
    const given = { incidentId, action, input, reason, evidence: ['value \u202e250'] };
    const sending = { era: 'legacy', key, url: API_PATHS.responder } as const;
    const { body } = await call(w, 'propose_action', given, sending);
    await w.runUntilIdle();
    return JSON.parse(body.content[0].text);
  };
  const link = async () => {
    const [message] = await w.context.db.sql.rows<{ id: string }>(
      'select id from notifications where proposal_id is not null order by created_at desc, id desc limit 1',
    );
    return w.context.answerLinks.proposalUrlOf({ notificationId: message!.id }).replace('http://tocsin.test', '');
  };
  return { w, teamId, olga, asOlga, alert, incidentId, enable, propose, link };
}

test('what asks for the second factor in the console is not done by a reply or a tap, and the answer says where it is', async () => {
  const { w, olga, alert, incidentId, propose, link } = await night();
  await w.context.db.sql.run(
    `insert into authenticator_apps (user_id, secret_sealed, confirmed_at) values ($1, '', now())`,
    [olga.userId],
  );
  const { serviceId } = alert;
  for (const action of ['delete_service', 'rotate_ingest_key']) {
    const { number } = await propose(action, { serviceId });
    const where = `/incidents/${incidentId}?org=${w.orgId}#proposal-${number}`;
    expect(await textFrom(w, PHONE, `YES ${number}`)).toContain(where);
    const tapped = await w.app.inject({ method: 'POST', url: await link() });
    expect([tapped.statusCode, tapped.body]).toEqual([409, expect.stringContaining('second factor')]);
    expect(tapped.body).toContain(`#proposal-${number}`);
    expect((await w.expectOk('get_service', { serviceId })).serviceId).toBe(serviceId);
  }
  const { number } = await propose('acknowledge_incident', { incidentId });
  expect(await textFrom(w, PHONE, `YES ${number}`)).toContain('Done: acknowledge incident');
});

test('a message names what would be changed by its name here, whatever the agent says it is', async () => {
  const { w, alert, propose, link } = await night();
  const asked = await propose('delete_service', { serviceId: alert.serviceId }, 'acknowledge incident 7 \u202e"now"');
  expect(asked.proposed).toBe('delete service "checkout"');
  expect(w.phone.messages.at(-1)?.body).toContain('proposes to delete service "checkout". It says: "acknowledge inc');
  const { body } = await w.app.inject({ method: 'GET', url: await link() });
  expect(body).toContain('delete service &quot;checkout&quot;. It says: &quot;acknowledge incident 7 \\u202e');
  expect(body).toContain('Evidence: &quot;value \\u202e250&quot;');
  expect(body).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});

test('an answer finds its proposal by the number of the organization, however many others have one of that number', async () => {
  const { w, teamId, incidentId, propose } = await night();
  const { number } = await propose('acknowledge_incident', { incidentId });
  const bram = await w.staff.responder(teamId, 'Bram');
  const elsewhere = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [bram.userId] }]);
  const otherId = await elsewhere.trigger();
  await w.context.db.sql.run(
    `insert into proposals (id, org_id, incident_id, number, kind, agent_id, agent_name, sentence, evidence, created_at, expires_at)
     select 'proposal_' || n, 'org_' || n, $1, $2, 'question', 'a', 'a', 'Why?', '[]', $3::timestamptz, $3::timestamptz
     from generate_series(1, 1001) n`,
    [otherId, number, w.clock.now().add({ minutes: 1 }).toString()],
  );
  // Somebody answers who was asked by mail, and whose phone was told no number.
  await w.context.db.sql.run(`delete from reply_numbers`);
  expect(await textFrom(w, PHONE, `YES ${number}`)).toContain('Done: acknowledge incident');
});

test('what was proposed before the agents were stopped, or this one disabled, never comes alive again', async () => {
  const { w, asOlga, incidentId, enable, propose } = await night();
  const answer = (proposalId: string) => runOperation(w, answerProposal, asOlga, { proposalId, answer: 'yes' });
  const first = await propose('resolve_incident', { incidentId });
  await runOperation(w, stopAgents, asOlga, { stopped: true });
  await runOperation(w, stopAgents, asOlga, { stopped: false });
  await expect(answer(first.proposalId)).rejects.toMatchObject({ code: 'conflict' });
  expect(await textFrom(w, PHONE, `YES ${first.number}`)).toContain('expired');
  const second = await propose('resolve_incident', { incidentId });
  expect(second.proposalId).not.toBe(first.proposalId);
  await enable(false);
  await enable(true);
  await expect(answer(second.proposalId)).rejects.toMatchObject({ code: 'conflict' });
  const third = await propose('resolve_incident', { incidentId });
  await w.context.db.sql.run(`update api_keys set revoked_at = now() where permissions is not null`);
  await expect(answer(third.proposalId)).rejects.toMatchObject({ code: 'conflict' });
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
});
