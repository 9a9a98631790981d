import { describe, expect, test } from 'vitest';

import { setResponder } from '#modules/agents/operations/agents.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { type Role, ROLES } from '#kernel/permissions.ts';
import { storesOf } from '#modules/stores.ts';
import { call } from '#test/contract/mcp_call.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { textFrom } from '#test/kit/twilio_posts.ts';

const PHONE = '+31612000001';

/** Olga is paged by SMS, and an agent with a key that may look proposes to delete the service. */
async function olgaIsPaged() {
  const w = await staffedWorld();
  const teamId = await w.staff.team();
  const olga = await w.given.user({ role: 'owner', name: 'Olga' });
  const member = await w.expectOk('add_team_member', { teamId, userId: olga.userId });
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [olga.userId] }]);
  const asOlga = memberCaller(w.orgId, olga.userId, 'owner');
  const confirm = (phone: string) =>
    storesOf(w.context.db.session()).phoneNumbers.confirm(olga.userId, phone, w.clock.now());
  const page = async () => {
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    return { incidentId, number: Number((await w.expectOk('get_incident', { incidentId })).number) };
  };
  return { w, teamId, olga, memberId: member.memberId as string, alert, asOlga, confirm, page };
}

async function agentOf(w: StaffedWorld, asOlga: ReturnType<typeof memberCaller>) {
  const key = await w.given.apiKey({ permissions: ['oncall:view', 'services:view'] });
  const [agent] = await w.context.db.sql.rows<{ id: string }>('select id from api_keys order by id desc limit 1');
  await runOperation(w, setResponder, asOlga, { agentId: agent!.id, enabled: true });
  return async (name: string, input: object) => {
    const sending = { era: 'legacy', key, url: API_PATHS.responder } as const;
    const { body: result } = await call(w, name, input, sending);
    if (result.isError === true) throw new Error(result.content[0].text);
    return JSON.parse(result.content[0].text);
  };
}

const proposing = (incidentId: string, action: string, input: object) => ({
  incidentId,
  action,
  input,
  reason: 'It is broken.',
  evidence: ['value 250'],
});

const doneInNameOf = (w: StaffedWorld, userId: string) =>
  w.context.db.sql.rows<{ action: string; via: string }>(
    `select action, via from audit_log where actor->>'userId' = $1 and result = 'done' and action <> 'set_responder'`,
    [userId],
  );

const linkIn = async (w: StaffedWorld, of: 'page' | 'proposal', userId: string) => {
  const [row] = await w.context.db.sql.rows<{ id: string }>(
    `select id from notifications where user_id = $1 and (proposal_id is not null) = $2 order by created_at desc, id desc limit 1`,
    [userId, of === 'proposal'],
  );
  const { answerLinks } = w.context;
  const message = { notificationId: row!.id };
  const url = of === 'page' ? answerLinks.shortUrlOf(message) : answerLinks.proposalUrlOf(message);
  return url.replace('http://tocsin.test', '');
};

describe('a number that somebody else entered', () => {
  test.each(ROLES.filter((role) => role !== 'viewer' && role !== 'owner'))(
    'a %s cannot enter one for an owner, by no action and no key of theirs, and answers for nobody from their own',
    async (role: Role) => {
      const { w, teamId, olga, memberId, page } = await olgaIsPaged();
      const rosa = await w.given.user({ role, name: 'Rosa' });
      const narrow = await w.given.apiKey({ permissions: ['oncall:view', 'oncall:edit'] });
      const ownTeam = await w.expectOk('create_team', { name: 'Own' }, { key: rosa.key });
      for (const key of [rosa.key, narrow]) {
        const asked = [
          await w.call('update_team_member', { memberId, phone: PHONE }, { key }),
          await w.call('add_team_member', { teamId: ownTeam.teamId, userId: olga.userId, phone: PHONE }, { key }),
        ];
        expect(asked.map(({ status, body }) => [status, body.code])).toEqual(asked.map(() => [403, 'forbidden']));
        expect(asked[0]!.body.detail).toContain('role owner');
      }
      expect(
        (await w.expectOk('list_teams')).teams.flatMap((team: { members: object[] }) => team.members),
      ).toMatchObject([{ phone: null }]);
      const teams = await w.call('add_team_member', { teamId: ownTeam.teamId, userId: olga.userId }, { key: rosa.key });
      expect(teams.status, 'without a number everybody may').toBe(200);
      await w.expectOk('add_team_member', { teamId, userId: rosa.userId, phone: PHONE }, { key: rosa.key });
      await storesOf(w.context.db.session()).phoneNumbers.confirm(rosa.userId, PHONE, w.clock.now());
      const { number } = await page();
      for (const reply of [`ACK ${number}`, `RES ${number}`, 'ACK ALL', 'YES 1', 'NO 1'])
        await textFrom(w, PHONE, reply);
      const inHerName = await w.context.db.sql.rows(`select action from audit_log where actor->>'userId' = $1`, [
        olga.userId,
      ]);
      expect(inHerName).toEqual([]);
    },
  );

  test('once a person has confirmed a number, no team takes another unasked, and the person is told', async () => {
    const { w, teamId } = await olgaIsPaged();
    const rosa = await w.given.user({ role: 'responder', name: 'Rosa' });
    const bram = await w.given.user({ role: 'responder', name: 'Bram' });
    const ada = await w.given.user({ role: 'admin', name: 'Ada' });
    await storesOf(w.context.db.session()).phoneNumbers.confirm(bram.userId, PHONE, w.clock.now());
    const add = (phone: string, key: string) =>
      w.call('add_team_member', { teamId, userId: bram.userId, phone }, { key });
    expect((await add('+31687654321', rosa.key)).body).toMatchObject({
      status: 403,
      detail: expect.stringContaining('has confirmed another number'),
    });
    const added = await add('+31687654321', ada.key);
    expect(added.status).toBe(200);
    await w.runUntilIdle();
    const rows = await w.context.db.sql.rows(
      `select user_id, channel, address from notifications where kind = 'number_changed'`,
    );
    expect(rows).toEqual([{ user_id: bram.userId, channel: 'sms', address: PHONE }]);
    await w.expectOk('remove_team_member', { memberId: added.body.result.memberId });
    expect((await add(PHONE, rosa.key)).status, 'the confirmed one does no harm').toBe(200);
  });

  test('without being confirmed acknowledges, by reply and by link, and does nothing else', async () => {
    const { w, olga, memberId, asOlga, confirm, page } = await olgaIsPaged();
    const tool = await agentOf(w, asOlga);
    await w.expectOk('update_team_member', { memberId, phone: PHONE });
    const { incidentId, number } = await page();
    const resolving = await tool('propose_action', proposing(incidentId, 'resolve_incident', { incidentId }));
    await w.runUntilIdle();
    const offered = w.phone.messages.filter(({ to }) => to === PHONE).map(({ body }) => body);
    expect(offered, 'a message offers nothing that its answer would be refused').toEqual([
      expect.stringMatching(new RegExp(`Reply ACK ${number} http\\S+$`)),
      expect.stringMatching(/Answer in the console\.$/),
    ]);
    for (const reply of [`RES ${number}`, `YES ${resolving.number}`, `NO ${resolving.number}`]) {
      expect(await textFrom(w, PHONE, reply)).toContain('not confirmed');
    }
    const link = await linkIn(w, 'proposal', olga.userId);
    for (const method of ['GET', 'POST'] as const) {
      const answered = await w.app.inject({ method, url: link });
      expect([answered.statusCode, answered.body]).toEqual([403, expect.stringContaining('not confirmed')]);
    }
    expect(await doneInNameOf(w, olga.userId)).toEqual([]);
    expect((await w.app.inject({ method: 'POST', url: await linkIn(w, 'page', olga.userId) })).statusCode).toBe(200);
    expect(await doneInNameOf(w, olga.userId)).toEqual([{ action: 'acknowledge_incident', via: 'sms' }]);

    await confirm(PHONE);
    expect(await textFrom(w, PHONE, `YES ${resolving.number}`)).toContain('Done: resolve incident');
    expect((await w.expectOk('get_incident', { incidentId })).resolvedBy).toEqual({ userId: olga.userId, via: 'sms' });
  });

  test('does nothing at all for a person who has confirmed another, nor where somebody else has confirmed it', async () => {
    const { w, olga, memberId, confirm, page } = await olgaIsPaged();
    await w.expectOk('update_team_member', { memberId, phone: PHONE });
    const first = await page();
    await confirm('+31687654321');
    const url = await linkIn(w, 'page', olga.userId);
    for (const method of ['GET', 'POST'] as const) {
      expect((await w.app.inject({ method, url })).statusCode).toBe(403);
    }
    expect(await textFrom(w, PHONE, `ACK ${first.number}`)).not.toContain('Acknowledged');
    const bram = await w.given.user({ name: 'Bram' });
    const { phoneNumbers } = storesOf(w.context.db.session());
    await w.context.db.sql.run('delete from confirmed_numbers');
    await phoneNumbers.confirm(bram.userId, PHONE, w.clock.now());
    expect((await w.app.inject({ method: 'POST', url })).statusCode).toBe(403);
    expect(await textFrom(w, PHONE, `ACK ${first.number}`)).not.toContain('Acknowledged');
    expect(await doneInNameOf(w, olga.userId)).toEqual([]);
  });
});

describe('an agent', () => {
  test('responds by no key that may change something, neither one that is enabled nor one that came to it later', async () => {
    const { w, asOlga } = await olgaIsPaged();
    const key = await w.given.apiKey({ permissions: ['oncall:view', 'oncall:edit'] });
    const [agent] = await w.context.db.sql.rows<{ id: string }>('select id from api_keys order by id desc limit 1');
    const enable = () => runOperation(w, setResponder, asOlga, { agentId: agent!.id, enabled: true });
    await expect(enable()).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('oncall:edit') });
    await w.context.db.sql.run(
      `insert into responders (agent_id, org_id, api_key_id, enabled_by, enabled_at) values ($1, $2, $1, 'user_x', now())`,
      [agent!.id, w.orgId],
    );
    const response = await w.app.inject({
      method: 'POST',
      url: API_PATHS.responder,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect([response.statusCode, response.json().error.message]).toEqual([403, expect.stringContaining('only look')]);
  });
});
