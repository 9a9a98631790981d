import { expect, test } from 'vitest';

import { codeAt } from '#auth/second_factor_codes.ts';
import { expectRefused, openFlow, vouchFor } from '#test/auth/openid/flow.ts';
import { startMailServer } from '#test/kit/programs/mail_server.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { givenPerson, openBrowser, PASSWORD, signedIn } from '#test/kit/programs/browser.ts';
import { storesOf } from '#modules/stores.ts';
import { returnPath } from '#modules/sign_in/decide/return_path.ts';

test.each([
  undefined,
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '\\/evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  ' /incidents',
  '/incidents\n',
  `/${'x'.repeat(3_000)}`,
])('a sign-in never leads out of the console: %j', (next) => {
  expect(returnPath(next)).toBe('/');
});

test('a sign-in leads to the page that was wanted, and nowhere else', () => {
  expect(returnPath('/incidents?status=open#x')).toBe('/incidents?status=open#x');
});

test('a sign-in leads nowhere else, replaces a session that was planted, gives no password, and strangers learn nothing of organizations', async () => {
  const flow = await openFlow();
  const browser = openBrowser(flow.w);
  browser.cookie = 'tocsin_session=tocsin_ses_planted';
  const begun = await flow.begin(browser, { orgId: flow.w.orgId, next: '//evil.example' });
  const back = await flow.comeBack(browser, await flow.provider.visit(begun));
  expect([back.status, back.headers['location']]).toEqual([303, `${flow.w.context.config.baseUrl}/`]);
  expect(browser.cookie).toMatch(/^tocsin_session=tocsin_ses_/);
  expect(browser.cookie).not.toContain('planted');
  const { user } = (await browser.get('/session')).body.result;
  expect((await openBrowser(flow.w).post('/session', { email: user.email, password: PASSWORD })).status).toBe(401);
  const other = await flow.w.given.organization('Other');
  const answers = await Promise.all(
    [{ orgId: other.orgId }, { orgId: 'org_none' }, { email: 'anna@nobody.example' }, {}].map(async (body) => {
      const { status, body: told } = await openBrowser(flow.w).post('/sign-in', body);
      return [status, told.detail];
    }),
  );
  expect(new Set(answers.map(String)).size).toBe(1);
  expect(answers[0]).toEqual([401, 'no sign-in provider is set up here; sign in with your password']);
});

test('tries of a network are limited, and those that succeed do not count', async () => {
  const flow = await openFlow();
  const { signInsOfAddressMax } = flow.w.context.config;
  for (let count = 0; count < 3; count += 1) expect((await flow.signIn()).status).toBe(303);
  const browser = openBrowser(flow.w);
  for (let count = 0; count < signInsOfAddressMax; count += 1) await flow.begin(browser);
  expect((await browser.post('/sign-in', { orgId: flow.w.orgId })).status).toBe(429);
  expect((await openBrowser(flow.w, '198.51.100.9').post('/sign-in', { orgId: flow.w.orgId })).status).toBe(200);
});

test('roles follow the claim at each sign-in, and each change is in the audit log', async () => {
  const flow = await openFlow();
  const roleMap = [
    { value: 'ops', role: 'editor' },
    { value: 'leads', role: 'admin' },
  ];
  await flow.connect({ defaultRole: 'viewer', roleClaim: 'groups', roleMap });
  const roleWith = async (groups: unknown): Promise<string> => {
    flow.provider.account = { ...flow.provider.account, groups };
    const { browser } = await flow.signIn();
    return (await browser.get('/session')).body.result.organizations[0].role;
  };
  expect(await roleWith(['ops'])).toBe('editor');
  expect(await roleWith(['ops', 'leads', 'owner'])).toBe('admin');
  expect(await roleWith('ops')).toBe('editor');
  expect(await roleWith(undefined)).toBe('viewer');
  const log = await flow.owner.invoke(flow.w.orgId, 'list_audit_log', { action: 'change_role' });
  expect(
    log.body.result.entries.map(({ before, after }: { before: object; after: object }) => [before, after]),
  ).toEqual([
    [{ role: 'editor' }, { role: 'viewer', by: 'provider' }],
    [{ role: 'admin' }, { role: 'editor', by: 'provider' }],
    [{ role: 'editor' }, { role: 'admin', by: 'provider' }],
  ]);
});

test('a claim that lowers somebody whom a schedule pages has owners and the team told, once', async () => {
  const post = await startMailServer();
  const w = await staffedWorld({ settings: { smtpUrl: post.url, mailFrom: 'Tocsin <tocsin@example.com>' } });
  const flow = await openFlow({ w });
  const roleMap = [{ value: 'ops', role: 'responder' }];
  await flow.connect({ defaultRole: 'viewer', roleClaim: 'groups', roleMap });
  flow.provider.account = { ...flow.provider.account, groups: ['ops'] };
  const { browser } = await flow.signIn();
  const { userId } = (await browser.get('/session')).body.result.user;
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'UTC',
    rotationType: 'weekly',
    rotationConfig: { userIds: [userId] },
    startAt: w.clock.now().toString(),
  });
  flow.provider.account = { ...flow.provider.account, groups: [] };
  await flow.signIn();
  await flow.signIn();
  await w.runUntilIdle();
  const mails = post.mails.filter(({ text }) => text?.includes('became viewer and may not answer pages'));
  expect(mails.map(({ recipients }) => recipients)).toContainEqual([flow.owner.email]);
  expect(new Set(mails.map(({ recipients }) => recipients.join())).size).toBe(mails.length);
});

test('an owner links the provider once, and the claim lowers an owner only where it makes owners, never the last', async () => {
  const flow = await openFlow();
  const { w, owner, provider } = flow;
  await w.context.db.sql.run('update users set email = $1 where id = $2', ['otto@acme.example', owner.userId]);
  await w.context.db.sql.run('delete from memberships where org_id = $1 and user_id <> $2', [w.orgId, owner.userId]);
  provider.account = { ...provider.account, sub: 'otto', email: 'otto@acme.example', groups: ['ops'] };
  expectRefused(await flow.signIn(), /an owner links the provider once/i);
  const linking = await signedIn(w, 'otto@acme.example');
  expect((await flow.signIn(linking)).status).toBe(303);
  const roleMap = [{ value: 'ops', role: 'editor' }];
  await flow.connect({ roleClaim: 'groups', roleMap });
  const roleAfter = async (): Promise<string> => {
    const { browser } = await flow.signIn();
    return (await browser.get('/session')).body.result.organizations[0].role;
  };
  expect(await roleAfter()).toBe('owner');
  await flow.connect({ roleClaim: 'groups', roleMap: [...roleMap, { value: 'owners', role: 'owner' }] });
  expect(await roleAfter()).toBe('owner');
  await givenPerson(w, { role: 'owner', name: 'Olga' });
  expect(await roleAfter()).toBe('editor');
});

test('one door: passwords are not enough for anybody but owners, and keys and pages go on', async () => {
  const flow = await openFlow();
  const { w, owner } = flow;
  const anna = await w.given.user({ role: 'editor' });
  const member = await givenPerson(w, { role: 'admin', name: 'Mia' });
  const byPassword = await signedIn(w, member.email);
  const early = await owner.invoke(w.orgId, 'set_openid_connection', { ...connection(flow), isRequired: true });
  expect(early).toMatchObject({ status: 409, body: { detail: expect.stringContaining('once yourself') } });
  const { browser } = await flow.signIn();
  await flow.connect({ isRequired: true });
  expect(await byPassword.invoke(w.orgId, 'list_incidents')).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining("sign in through your organization's provider") },
  });
  expect((await (await signedIn(w, member.email)).invoke(w.orgId, 'list_incidents')).status).toBe(403);
  expect((await browser.invoke(w.orgId, 'list_incidents')).status).toBe(200);
  expect((await owner.invoke(w.orgId, 'list_incidents')).status).toBe(200);
  expect((await w.call('list_incidents', {}, { key: anna.key })).status).toBe(200);
  await owner.invoke(w.orgId, 'remove_openid_connection');
  expect((await browser.invoke(w.orgId, 'list_incidents')).status).toBe(403);
  expect((await byPassword.invoke(w.orgId, 'list_incidents')).status).toBe(200);
});

function connection({ provider }: Awaited<ReturnType<typeof openFlow>>): object {
  const { issuer, clientId } = provider;
  const roles = { defaultRole: 'responder', roleClaim: null, roleMap: [] };
  return {
    issuer,
    clientId,
    scope: 'openid email',
    isEnabled: true,
    isRequired: false,
    trustsSecondFactor: false,
    ...roles,
  };
}

test('a session of one provider opens no other organization, and does not stand for the password', async () => {
  const flow = await openFlow();
  const { w } = flow;
  const userId = await flow.member('editor', 'anna@acme.example');
  const other = await w.given.organization('Umbrella');
  await storesOf(w.context.db.session()).people.setMembership(other.orgId, userId, 'owner', w.clock.now());
  const { browser } = await flow.signIn();
  const { user, organizations } = (await browser.get('/session')).body.result;
  expect(user).toMatchObject({ userId });
  expect(organizations).toMatchObject([{ orgId: w.orgId }]);
  expect(await browser.invoke(other.orgId, 'list_incidents')).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining("another organization's provider") },
  });
  // Whoever invites somebody sees the link: together with such a session it must not become a whole one.
  const third = await w.given.organization('Third');
  const inviting = await signedIn(w, (await givenPerson(w, { role: 'owner', orgId: third.orgId })).email);
  const invited = { email: 'anna@acme.example', role: 'viewer' };
  const made = await inviting.invoke(third.orgId, 'create_invitation', invited);
  const token = String(made.body.result.link).split('/').at(-1);
  const accepted = await browser.post(`/invitations/${token}`, {});
  expect(accepted).toMatchObject({ status: 400, body: { detail: expect.stringContaining('password') } });
  const whole = await signedIn(w, 'anna@acme.example');
  expect((await whole.invoke(other.orgId, 'list_incidents')).status).toBe(200);
});

test('a session of a provider neither sees nor ends those that it did not begin', async () => {
  const flow = await openFlow();
  await flow.member('editor', 'anna@acme.example');
  const { browser } = await flow.signIn();
  const whole = await signedIn(flow.w, 'anna@acme.example');
  const all = (await whole.get('/sessions')).body.result;
  expect(all).toMatchObject({ total: 2, sessions: [{ isCurrent: true }, {}] });
  expect((await browser.get('/sessions')).body.result).toMatchObject({ total: 1, sessions: [{ isCurrent: true }] });
  const { sessionId } = all.sessions[0];
  expect((await browser.delete(`/sessions/${sessionId}`)).status).toBe(404);
  expect((await browser.delete('/sessions')).body.result.sessionIds).toEqual([]);
  expect((await whole.get('/session')).status).toBe(200);
  expect((await whole.delete('/sessions')).body.result.sessionIds).toHaveLength(1);
  expect((await browser.get('/session')).status).toBe(401);
});

test('a second factor of their own is asked for after the provider, unless the organization trusts that of the provider', async () => {
  const flow = await openFlow();
  const { w, provider } = flow;
  const userId = await flow.member('admin', 'anna@acme.example');
  const browser = await signedIn(w, 'anna@acme.example');
  const { secret } = (await browser.post('/me/authenticator-app', {})).body.result;
  await browser.post('/me/authenticator-app/confirmation', { code: codeAt(secret, w.clock.now()) });
  w.clock.advance({ minutes: 1 });
  let methods = ['pwd', 'mfa'];
  provider.changeToken(({ header, claims }) => ({ header, claims: { ...claims, amr: methods } }));
  const pending = await flow.signIn();
  const location = String(pending.headers['location']);
  expect(location).toMatch(/\/login\?next=%2F#second-factor=[\w-]+$/);
  expect((await pending.browser.get('/session')).status).toBe(401);
  const text = Buffer.from(location.split('=').at(-1)!, 'base64url').toString();
  const { token } = JSON.parse(text) as { token: string };
  const code = codeAt(secret, w.clock.now());
  expect((await pending.browser.post('/session/second-factor', { token, code })).status).toBe(200);
  expect((await pending.browser.get('/session')).body.result.user).toMatchObject({ userId });
  expect((await pending.browser.invoke(w.orgId, 'list_incidents')).status).toBe(200);
  await flow.connect({ trustsSecondFactor: true });
  const trusted = await flow.signIn();
  expect((await trusted.browser.get('/session')).status).toBe(200);
  methods = ['pwd'];
  expect((await (await flow.signIn()).browser.get('/session')).status).toBe(401);
});

test('a session of a provider changes neither second factors nor what speaks for somebody whom another organization knows, whatever the provider says was shown', async () => {
  const flow = await openFlow({ settings: { trustsSecondFactor: true } });
  const { w, provider } = flow;
  const email = 'anna@acme.example';
  const userId = await flow.member('editor', email);
  provider.changeToken(({ header, claims }) => ({ header, claims: { ...claims, amr: ['mfa'] } }));
  const { people } = storesOf(w.context.db.session());
  const other = await w.given.organization('Umbrella');
  await people.setMembership(other.orgId, userId, 'owner', w.clock.now());
  // Nobody else may give the person a factor, either: their password would no longer be enough.
  expect(await (await flow.signIn()).browser.post('/me/authenticator-app', {})).toMatchObject({ status: 403 });
  const whole = await signedIn(w, email);
  const { secret } = (await whole.post('/me/authenticator-app', {})).body.result;
  await whole.post('/me/authenticator-app/confirmation', { code: codeAt(secret, w.clock.now()) });
  w.clock.advance({ minutes: 1 });
  const { browser } = await flow.signIn();
  const answers = [
    await browser.delete('/me/authenticator-app'),
    await browser.post('/me/passkeys/options', {}),
    await browser.post('/me/passkeys', { name: 'Mallory', response: {} }),
    await browser.post('/me/passkeys/removal', { passkeyId: 'any' }),
    await browser.post('/me/recovery-codes', {}),
    await browser.patch('/me', { name: 'Mallory' }),
  ];
  expect(answers.map(({ status, body: { detail } }) => [status, detail])).toEqual(
    answers.map(() => [403, expect.stringContaining('sign in with your password')]),
  );
  const log = await flow.owner.invoke(w.orgId, 'list_audit_log', { result: 'forbidden' });
  expect(log.body.result.entries.map(({ action }: { action: string }) => action)).toEqual([
    'update_me',
    'replace_recovery_codes',
    'remove_passkey',
    'add_passkey',
    'begin_passkey',
    'remove_authenticator_app',
    'begin_authenticator_app',
  ]);
  const pending = (await openBrowser(w).post('/session', { email, password: PASSWORD })).body.result.secondFactor;
  const shown = { token: pending.token, code: codeAt(secret, w.clock.now()) };
  expect((await openBrowser(w).post('/session/second-factor', shown)).status).toBe(200);
  const answersByPhone = [
    await browser.invoke(w.orgId, 'set_reply_pin', { pin: null }),
    await browser.invoke(w.orgId, 'confirm_phone', { phone: '+31612345678', code: '123456' }),
  ];
  expect(answersByPhone.map(({ status }) => status)).toEqual([403, 403]);
  // Somebody whom no other organization knows has no other way in.
  await people.removeMembership(other.orgId, userId);
  expect((await browser.post('/me/recovery-codes', {})).status).toBe(200);
  expect((await browser.invoke(w.orgId, 'set_reply_pin', { pin: null })).status).toBe(200);
});

test('a session of a provider sets what replies need for somebody whom no password lets in anywhere, and for nobody else', async () => {
  const flow = await openFlow();
  const { w } = flow;
  const userId = await flow.member('editor', 'anna@acme.example');
  const { browser } = await flow.signIn();
  await flow.connect({ isRequired: true });
  const other = await w.given.organization('Umbrella');
  const { people } = storesOf(w.context.db.session());
  await people.setMembership(other.orgId, userId, 'editor', w.clock.now());
  const statuses = async () => {
    const phone = '+31612345678';
    const answers = [
      await browser.invoke(w.orgId, 'request_phone_code', { phone }),
      await browser.invoke(w.orgId, 'confirm_phone', { phone, code: '123456' }),
      await browser.invoke(w.orgId, 'set_reply_pin', { pin: '4711' }),
    ];
    return answers.map(({ status }) => status);
  };
  const refused = [403, 403, 403];
  // There is no SMS here, and no code was sent.
  const passed = [409, 409, 200];
  expect(await statuses()).toEqual(refused);
  await w.context.db.sql.run(
    `insert into openid_connections select (jsonb_populate_record(c, jsonb_build_object('org_id', $1::text))).*
      from openid_connections c where org_id = $2`,
    [other.orgId, w.orgId],
  );
  expect(await statuses()).toEqual(passed);
  await people.setMembership(other.orgId, userId, 'owner', w.clock.now());
  expect(await statuses()).toEqual(refused);
  // Whoever was deactivated there has no other way, either.
  await people.removeMembership(other.orgId, userId);
  await w.context.db.sql.run(
    `insert into scim_users (org_id, user_id, user_name, profile, is_account_made, created_at, updated_at)
      values ($1, $2, 'anna', '{}', false, now(), now())`,
    [other.orgId, userId],
  );
  expect(await statuses()).toEqual(passed);
});

test('only owners change how people sign in, and a secret goes only to the provider that it was entered for', async () => {
  const flow = await openFlow();
  const { w, owner, provider } = flow;
  const admin = await signedIn(w, (await givenPerson(w, { role: 'admin' })).email);
  for (const [name, input] of [
    ['set_openid_connection', { ...connection(flow), clientSecret: 'x' }],
    ['remove_openid_connection', {}],
    ['add_sign_in_domain', { domain: 'evil.example' }],
    ['remove_sign_in_domain', { domain: 'acme.example' }],
    ['set_address_lists', { keyNetworks: null, sessionNetworks: null }],
    ['list_organization_sessions', {}],
    ['end_member_sessions', { userId: owner.userId }],
  ] as const) {
    expect([name, (await admin.invoke(w.orgId, name, input)).status]).toEqual([name, 403]);
  }
  const settings = await admin.invoke(w.orgId, 'get_sign_in_settings');
  expect(JSON.stringify(settings.body)).not.toContain(provider.clientSecret);
  const moved = await owner.invoke(w.orgId, 'set_openid_connection', { ...connection(flow), clientId: 'another' });
  expect(moved).toMatchObject({ status: 400, body: { detail: expect.stringContaining('clientSecret') } });
  const log = await owner.invoke(w.orgId, 'list_audit_log', {});
  expect(JSON.stringify(log.body)).not.toContain(provider.clientSecret);
  // A domain belongs to one organization.
  const other = await w.given.organization('Other');
  await expect(vouchFor(w, other.orgId, 'ACME.example')).rejects.toThrow(/another organization/);
});
