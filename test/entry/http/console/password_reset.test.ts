import { expect, test } from 'vitest';

import { givenPerson, openBrowser, PASSWORD, signedIn } from '#test/kit/programs/browser.ts';
import { startMailServer } from '#test/kit/programs/mail_server.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { storesOf } from '#modules/stores.ts';
import { world } from '#test/kit/world.ts';

const NEW = { password: 'quiet harbour 7 lantern' };

async function mailedWorld() {
  const post = await startMailServer();
  const w = await staffedWorld({ settings: { smtpUrl: post.url, mailFrom: 'Tocsin <tocsin@example.com>' } });
  const person = await givenPerson(w);
  return { w, post, person };
}

/** Asks for a link and takes it from the mail. */
async function resetToken({ w, post, person }: Awaited<ReturnType<typeof mailedWorld>>): Promise<string> {
  const before = post.mails.length;
  expect((await openBrowser(w).post('/password-resets', { email: person.email })).status).toBe(202);
  await w.runUntilIdle();
  const mail = post.mails[before]!;
  expect(mail.recipients).toEqual([person.email]);
  const link = post.linksOf(mail)['Set a new password']!;
  expect(link).toMatch(/^http:\/\/tocsin\.test\/reset\/tocsin_rst_\w+$/);
  return link.split('/').at(-1)!;
}

const countRows = async (w: StaffedWorld): Promise<number> =>
  (await w.context.db.sql.row<{ n: number }>('select count(*)::int as n from password_resets'))!.n;

test('a link by mail sets a new password once, signs in, and ends every other session', async () => {
  const fixture = await mailedWorld();
  const { w, person } = fixture;
  const old = await signedIn(w, person.email);
  const token = await resetToken(fixture);
  const browser = openBrowser(w);
  expect((await browser.get(`/password-resets/${token}`)).body).toEqual({
    result: { email: person.email, apiKeys: 1 },
  });
  const weak = await browser.post(`/password-resets/${token}`, { password: 'Password1234' });
  expect(weak).toMatchObject({ status: 400, body: { errors: [{ path: 'password' }] } });

  const answers = await Promise.all([1, 2, 3, 4].map(() => openBrowser(w).post(`/password-resets/${token}`, NEW)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404]);
  expect((await browser.get(`/password-resets/${token}`)).status).toBe(404);
  expect((await old.get('/session')).status).toBe(401);
  expect((await browser.post('/session', { email: person.email, password: PASSWORD })).status).toBe(401);
  expect((await browser.post('/session', { email: person.email, ...NEW })).status).toBe(200);
});

test('the first proof of an address ends what somebody set up before, and later ones do not', async () => {
  const fixture = await mailedWorld();
  const { w, person } = fixture;
  const { sql } = w.context.db;
  const factors = async () =>
    await sql.rows<{ n: number }>('select count(*)::int as n from authenticator_apps where user_id = $1', [
      person.userId,
    ]);
  const setUp = async () =>
    await sql.run(
      `insert into authenticator_apps (user_id, secret_sealed, confirmed_at) values ($1, decode('00', 'hex'), now())`,
      [person.userId],
    );
  await sql.run('update users set address_proven_at = null where id = $1', [person.userId]);
  await setUp();
  const strangers = await w.given.apiKey({ userId: person.userId });
  const stores = storesOf(w.context.db.session());
  const browser = { endpoint: 'https://push.example.com/strange', p256dh: 'p', auth: 'a', label: 'Strange' };
  await stores.pushSubscriptions.put(person.userId, browser, w.clock.now());
  await stores.phoneNumbers.confirm(person.userId, '+31612000009', w.clock.now());
  const code = { orgId: w.orgId, userId: person.userId, kind: 'slack', codeHash: Buffer.alloc(32) } as const;
  await stores.chatAccounts.insertCode({ ...code, codeExpiresAt: w.clock.now().add({ hours: 1 }) }, w.clock.now());
  const typed = await stores.chatAccounts.lockCode(code, w.clock.now());
  await stores.chatAccounts.link(typed!, 'T1 U1', 'strange', w.clock.now());
  const reach = async () => [
    ...(await stores.pushSubscriptions.listOf(w.orgId, person.userId)),
    ...(await stores.phoneNumbers.listConfirmed(person.userId)),
    ...(await stores.chatAccounts.list(w.orgId, person.userId)),
  ];
  expect(await reach()).toHaveLength(3);
  const first = await resetToken(fixture);
  const keep = { ...NEW, revokeApiKeys: false };
  const signedInByMail = await openBrowser(w).post(`/password-resets/${first}`, keep);
  expect([signedInByMail.status, await factors()]).toEqual([200, [{ n: 0 }]]);
  expect((await w.call('list_services', {}, { key: strangers })).status).toBe(401);
  expect(await reach()).toEqual([]);
  const proofs = await sql.rows(`select action from audit_log where action = 'prove_address'`);
  expect(proofs.length).toBeGreaterThan(0);

  await setUp();
  const ownKey = await w.given.apiKey({ userId: person.userId });
  const second = await resetToken(fixture);
  await openBrowser(w).post(`/password-resets/${second}`, keep);
  expect(await factors()).toEqual([{ n: 1 }]);
  expect((await w.call('list_services', {}, { key: ownKey })).status).toBe(200);
});

test('a link ends after an hour, and when another has been used', async () => {
  const fixture = await mailedWorld();
  const { w } = fixture;
  const [first, second] = [await resetToken(fixture), await resetToken(fixture)];
  expect((await openBrowser(w).post(`/password-resets/${second}`, NEW)).status).toBe(200);
  expect((await openBrowser(w).post(`/password-resets/${first}`, NEW)).status).toBe(404);
  const third = await resetToken(fixture);
  w.clock.advance({ hours: 1 });
  expect((await openBrowser(w).get(`/password-resets/${third}`)).status).toBe(404);
});

test('asking for an address that has no account is answered alike, and mails nobody', async () => {
  const { w, post, person } = await mailedWorld();
  const browser = openBrowser(w);
  const [known, unknown] = [
    await browser.post('/password-resets', { email: person.email }),
    await browser.post('/password-resets', { email: 'nobody@example.com' }),
  ];
  expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
  await w.runUntilIdle();
  expect(post.mails).toHaveLength(1);
});

test('a person is sent at most three links an hour', async () => {
  const { w, post, person } = await mailedWorld();
  for (let time = 0; time < 5; time += 1) {
    expect((await openBrowser(w).post('/password-resets', { email: person.email })).status).toBe(202);
  }
  await w.runUntilIdle();
  expect(post.mails).toHaveLength(3);
});

test('a link whose mail was refused for good leaves nothing that could be used', async () => {
  const { w, post, person } = await mailedWorld();
  post.refuse(550, 'recipient', 9);
  await openBrowser(w).post('/password-resets', { email: person.email });
  await expect(w.runUntilIdle()).rejects.toThrow('bad_address');
  expect(post.mails).toHaveLength(0);
  expect(await countRows(w)).toBe(0);
});

test('the token is stored as a hash alone, and the audit log has neither', async () => {
  const fixture = await mailedWorld();
  const { w, person } = fixture;
  const token = await resetToken(fixture);
  await openBrowser(w).post(`/password-resets/${token}`, NEW);
  const tables = ['password_resets', 'audit_log', 'outbox', 'sessions'].map(
    (table) => `select t::text as row from ${table} t`,
  );
  const rows = await w.context.db.sql.rows<{ row: string }>(tables.join(' union all '));
  expect(rows.map(({ row }) => row).join('\n')).not.toMatch(new RegExp(`${token}|${NEW.password}`));
  const actions = await w.context.db.sql.rows<{ action: string; kind: string }>(
    `select action, actor->>'kind' as kind from audit_log where target = $1 order by at, id`,
    [person.userId],
  );
  expect(actions).toEqual([
    { action: 'request_password_reset', kind: 'unknown' },
    { action: 'reset_password', kind: 'user' },
  ]);
});

test('a server without mail says who can help', async () => {
  const w = await world();
  const answer = await openBrowser(w).post('/password-resets', { email: 'anna@example.com' });
  expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('tocsin user password') } });
});

test('a changed password ends every other session and every link, and needs the current one', async () => {
  const fixture = await mailedWorld();
  const { w, person } = fixture;
  const token = await resetToken(fixture);
  const [here, there] = [await signedIn(w, person.email), await signedIn(w, person.email)];
  const wanted = { currentPassword: PASSWORD, newPassword: NEW.password };
  const wrong = await here.post('/me/password', { ...wanted, currentPassword: 'something else' });
  expect(wrong).toMatchObject({ status: 400, body: { errors: [{ path: 'currentPassword' }] } });
  const weak = await here.post('/me/password', { ...wanted, newPassword: person.email });
  expect(weak).toMatchObject({ status: 400, body: { errors: [{ path: 'newPassword' }] } });
  expect((await here.post('/me/password', wanted)).status).toBe(200);
  expect([(await here.get('/session')).status, (await there.get('/session')).status]).toEqual([200, 401]);
  expect((await openBrowser(w).post(`/password-resets/${token}`, NEW)).status).toBe(404);
});

test('a name is changed for everybody to see', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  const browser = await signedIn(w, email);
  expect((await browser.patch('/me', { name: ' ' })).status).toBe(400);
  expect((await browser.patch('/me', { name: 'Anna-Maria' })).body.result.user.name).toBe('Anna-Maria');
});

test.each([
  [{}, 401],
  [{ revokeApiKeys: false }, 200],
])('a changed password ends the keys of the person, unless they keep them: %j', async (ends, status) => {
  const w = await world();
  const { userId, email } = await givenPerson(w);
  const key = await w.given.apiKey({ userId });
  const browser = await signedIn(w, email);
  const elsewhere = await signedIn(w, email);
  const body = { currentPassword: PASSWORD, newPassword: NEW.password, ...ends };
  expect((await browser.post('/me/password', body)).status).toBe(200);
  expect((await w.call('list_services', {}, { key })).status).toBe(status);
  expect([(await browser.get('/session')).status, (await elsewhere.get('/session')).status]).toEqual([200, 401]);
  // The organization's own go on.
  expect((await w.call('list_services')).status).toBe(200);
  const ended = status === 401 ? 2 : 0;
  const rows = await w.context.db.sql.rows(`select 1 from audit_log where action = 'revoke_api_key'`);
  expect(rows).toHaveLength(ended);
});
