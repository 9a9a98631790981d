import { afterAll, beforeAll, expect, test } from 'vitest';

import { type Browser, givePassword, signedIn } from '#test/kit/programs/browser.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { textFrom } from '#test/kit/twilio_posts.ts';

let w: StaffedWorld;
beforeAll(async () => {
  w = await staffedWorld({ keepOpen: true });
});
afterAll(() => w.close());

async function annaIsPaged() {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const page = async () => {
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    const { number } = await w.expectOk('get_incident', { incidentId });
    const incident = () => w.expectOk('get_incident', { incidentId });
    return { incidentId, number: number as number, incident };
  };
  return { teamId, anna, page };
}

async function consoleOf({
  userId,
  email,
}: {
  userId: string;
  email: string;
}): Promise<{
  browser: Browser;
  invoke(name: string, body: object): Promise<{ status: number; body: { result: never; detail: string } }>;
}> {
  await givePassword(w, userId as never);
  const browser = await signedIn(w, email);
  return { browser, invoke: (name, body) => browser.post(`/organizations/${w.orgId}/actions/${name}`, body) };
}

const codeOf = async (userId: string): Promise<string> => {
  const sql = 'select code from phone_codes where user_id = $1 order by expires_at desc';
  const [row] = await w.context.db.sql.rows<{ code: string }>(sql, [userId]);
  return row!.code;
};

async function confirmed(person: { userId: string; email: string; phone: string }) {
  const { invoke } = await consoleOf(person);
  expect((await invoke('request_phone_code', { phone: person.phone })).status).toBe(200);
  await w.runUntilIdle();
  const { body } = await invoke('confirm_phone', { phone: person.phone, code: await codeOf(person.userId) });
  expect(body.result).toEqual({ confirmed: true, triesLeft: 0 });
  return invoke;
}

test('a viewer who claims the number of the person on call does not take over their answers', async () => {
  const { teamId, anna, page } = await annaIsPaged();
  const viewer = await w.given.user({ role: 'viewer', name: 'Vera' });
  // The older membership comes first wherever people are looked up by their number.
  await w.expectOk('add_team_member', { teamId, userId: viewer.userId, phone: anna.phone });
  await w.context.db.sql.run(`update team_members set id = 'member_0' where user_id = $1`, [viewer.userId]);
  const { number, incident } = await page();
  expect(await textFrom(w, anna.phone, `ACK ${number}`)).toBe('Acknowledged. Thank you. (checkout, Acme)');
  expect(await incident()).toMatchObject({ status: 'acknowledged', acknowledgedBy: { userId: anna.userId } });
});

test('a reply only counts for the person who was paged at the number it comes from', async () => {
  const { teamId, page } = await annaIsPaged();
  const bram = await w.staff.responder(teamId, 'Bram');
  const { number, incident } = await page();
  expect(await textFrom(w, bram.phone, `RES ${number}`)).toBe(`There is no incident ${number}.`);
  expect(await textFrom(w, bram.phone, 'ACK ALL')).toBe('No incident of yours waits for an answer.');
  expect(await textFrom(w, '+31600000000', `RES ${number}`)).toBeNull();
  expect((await incident()).status).toBe('triggered');
});

test('a person with a confirmed number answers only from it, also for pages by other channels', async () => {
  const { anna, page } = await annaIsPaged();
  await confirmed(anna);
  const first = await page();
  expect(await textFrom(w, anna.phone, `ACK ${first.number}`)).toBe('Acknowledged. Thank you. (checkout, Acme)');
  const admin = await w.given.user({ role: 'admin', name: 'Ada' });
  const elsewhere = '+31687654321';
  await w.expectOk('update_team_member', { memberId: anna.memberId, phone: elsewhere }, { key: admin.key });
  await w.expectOk('resolve_incident', { incidentId: first.incidentId });
  const second = await page();
  expect(await textFrom(w, elsewhere, `RES ${second.number}`)).toBe(`There is no incident ${second.number}.`);
  expect(await textFrom(w, anna.phone, `RES ${second.number}`)).toBe('Resolved. Thank you. (checkout, Acme)');
});

test('a confirmed number can only be changed by its owner or an admin, and both are notified', async () => {
  const { teamId, anna } = await annaIsPaged();
  await confirmed(anna);
  const bram = await w.staff.responder(teamId, 'Bram');
  const change = (key: string) =>
    w.call('update_team_member', { memberId: anna.memberId, phone: '+31687654321' }, { key });
  const refused = await change(bram.key);
  expect([refused.status, refused.body.detail]).toEqual([
    403,
    'this number was confirmed by the person it belongs to: they, or an owner or admin of the organization, may change it',
  ]);
  expect((await change(w.orgKey)).status).toBe(403);
  const audited = await w.context.db.sql.rows(
    `select 1 from audit_log where action = 'update_team_member' and result = 'forbidden'`,
  );
  expect(audited).toHaveLength(2);
  const admin = await w.given.user({ role: 'admin', name: 'Ada' });
  expect((await change(admin.key)).body.result).toMatchObject({ phone: '+31687654321', phoneConfirmed: false });
  await w.runUntilIdle();
  const rows = await w.context.db.sql.rows(
    `select user_id as "userId", channel, address, status from notifications where kind = 'number_changed' and user_id = $1`,
    [anna.userId],
  );
  expect(rows).toEqual([{ userId: anna.userId, channel: 'sms', address: anna.phone, status: 'delivered' }]);
});

test('a code confirms a number within ten minutes and five attempts', async () => {
  const { anna } = await annaIsPaged();
  const { invoke } = await consoleOf(anna);
  const phone = anna.phone;
  expect((await invoke('confirm_phone', { phone, code: '000000' })).status).toBe(409);
  expect((await invoke('request_phone_code', { phone: '+31687654321' })).status).toBe(404);
  await invoke('request_phone_code', { phone });
  await w.runUntilIdle();
  const wrong = (await codeOf(anna.userId)) === '000000' ? '111111' : '000000';
  for (const triesLeft of [4, 3, 2, 1, 0]) {
    expect((await invoke('confirm_phone', { phone, code: wrong })).body.result).toEqual({
      confirmed: false,
      triesLeft,
    });
  }
  expect((await invoke('confirm_phone', { phone, code: await codeOf(anna.userId) })).status).toBe(409);
  await invoke('request_phone_code', { phone });
  w.clock.advance({ minutes: 10 });
  expect((await invoke('confirm_phone', { phone, code: await codeOf(anna.userId) })).status).toBe(409);
  await invoke('request_phone_code', { phone });
  expect((await invoke('confirm_phone', { phone, code: await codeOf(anna.userId) })).body.result).toMatchObject({
    confirmed: true,
  });
  const { teams } = await w.expectOk('list_teams', {});
  const member = teams
    .flatMap(({ members }: { members: { userId: string }[] }) => members)
    .find(({ userId }: { userId: string }) => userId === anna.userId);
  expect(member).toMatchObject({ phone, phoneConfirmed: true });
  for (let asked = 3; asked < 10; asked += 1) {
    await w.context.db.sql.run('delete from confirmed_numbers');
    expect((await invoke('request_phone_code', { phone })).status).toBe(200);
  }
  await w.context.db.sql.run('delete from confirmed_numbers');
  expect((await invoke('request_phone_code', { phone })).status).toBe(429);
});

test('a person with a PIN answers with it, by SMS and in a call', async () => {
  const { anna, page } = await annaIsPaged();
  await w.staff.confirm(anna);
  const { invoke } = await consoleOf(anna);
  expect((await invoke('set_reply_pin', { pin: '123' })).status).toBe(400);
  expect((await invoke('set_reply_pin', { pin: '4711' })).body.result).toEqual({ hasReplyPin: true });
  const { number, incident } = await page();
  expect(await textFrom(w, anna.phone, `ACK ${number}`)).toMatch(/^Add your PIN/);
  expect(await textFrom(w, anna.phone, `ACK ${number} 4712`)).toBe('That PIN is wrong. Nothing was changed.');
  expect((await incident()).status).toBe('triggered');
  expect(await textFrom(w, anna.phone, `ACK ${number} 4711`)).toBe('Acknowledged. Thank you. (checkout, Acme)');
  for (let wrong = 0; wrong < 4; wrong += 1) await textFrom(w, anna.phone, `RES ${number} 0000`);
  expect(await textFrom(w, anna.phone, `RES ${number} 0000`)).toMatch(/^Too many wrong PINs/);
  expect(await textFrom(w, anna.phone, `RES ${number} 4711`)).toMatch(/^Too many wrong PINs/);
  w.clock.advance({ minutes: 15 });
  expect(await textFrom(w, anna.phone, `RES ${number} 4711`)).toBe('Resolved. Thank you. (checkout, Acme)');
  const audited = JSON.stringify(await w.context.db.sql.rows('select * from audit_log'));
  expect(audited).not.toContain('4711');
});

test('a channel can be tested thirty times a day', async () => {
  const { anna } = await annaIsPaged();
  const { browser } = await consoleOf(anna);
  const send = async () => {
    const answer = await browser.invoke(w.orgId, 'send_test_notification', { channel: 'sms' });
    w.clock.advance({ minutes: 1 });
    return answer.status;
  };
  for (let count = 0; count < 30; count += 1) expect(await send()).toBe(200);
  expect(await send()).toBe(429);
  w.clock.advance({ hours: 24 });
  expect(await send()).toBe(200);
});
