import { expect, test } from 'vitest';

import { codeAt } from '#auth/second_factor_codes.ts';
import { type Browser, givenPerson, openBrowser, PASSWORD, signedIn } from '#test/kit/programs/browser.ts';
import { type World, world } from '#test/kit/world.ts';

async function person(w: World, role: 'owner' | 'admin' | 'responder' = 'owner') {
  const { email, userId } = await givenPerson(w, { role, name: 'Anna' });
  return { email, userId, browser: await signedIn(w, email) };
}

/** Sets up an app, and tells its secret and the recovery codes. */
async function withApp(w: World, browser: Browser): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { secret } = (await browser.post('/me/authenticator-app', {})).body.result;
  const confirmed = await browser.post('/me/authenticator-app/confirmation', { code: codeAt(secret, w.clock.now()) });
  expect(confirmed.status).toBe(200);
  return { secret, recoveryCodes: confirmed.body.result.recoveryCodes };
}

const logIn = async (w: World, email: string) => {
  const browser = openBrowser(w);
  const { status, body } = await browser.post('/session', { email, password: PASSWORD });
  expect(status).toBe(200);
  return { browser, answer: body.result };
};

test('a person who has set up an app signs in with password and code, and each code counts once', async () => {
  const w = await world();
  const anna = await person(w);
  const { secret, recoveryCodes } = await withApp(w, anna.browser);
  expect(recoveryCodes).toHaveLength(10);
  w.clock.advance({ minutes: 1 });
  const { browser, answer } = await logIn(w, anna.email);
  const { token, methods } = answer.secondFactor;
  expect(methods).toEqual(['code', 'recovery_code']);
  expect(browser.cookie).toBeNull();
  expect((await browser.get('/session')).status).toBe(401);
  const code = codeAt(secret, w.clock.now());
  const wrong = code === '000000' ? '111111' : '000000';
  expect((await browser.post('/session/second-factor', { token, code: wrong })).status).toBe(400);
  expect((await browser.post('/session/second-factor', { token, code })).body.result.user.email).toBe(anna.email);
  expect((await browser.get('/session')).status).toBe(200);
  const second = await logIn(w, anna.email);
  const again = await second.browser.post('/session/second-factor', { token: second.answer.secondFactor.token, code });
  expect(again.status).toBe(400);
  expect((await browser.post('/session/second-factor', { token, code })).status).toBe(401);
  const stored = JSON.stringify(await w.context.db.sql.rows('select t::text from authenticator_apps t'));
  expect(stored).not.toContain(secret);
  expect(JSON.stringify(await w.context.db.sql.rows('select * from audit_log'))).not.toContain(secret);
});

test('a recovery code works once, and ten wrong tries wait for a quarter of an hour', async () => {
  const w = await world();
  const anna = await person(w);
  const { recoveryCodes } = await withApp(w, anna.browser);
  const [recoveryCode = ''] = recoveryCodes;
  const show = async (shown: object) => {
    const { browser, answer } = await logIn(w, anna.email);
    return await browser.post('/session/second-factor', { token: answer.secondFactor.token, ...shown });
  };
  expect((await show({ recoveryCode: recoveryCode.toUpperCase() })).status).toBe(200);
  for (let wrong = 0; wrong < 10; wrong += 1) expect((await show({ recoveryCode })).status).toBe(400);
  expect((await show({ recoveryCode: recoveryCodes[1] })).status).toBe(429);
  w.clock.advance({ minutes: 15 });
  expect((await show({ recoveryCode: recoveryCodes[1] })).status).toBe(200);
});

test('a sign-in that waits for the second factor ends after ten minutes, and with a new password', async () => {
  const w = await world();
  const anna = await person(w);
  const { secret } = await withApp(w, anna.browser);
  w.clock.advance({ minutes: 1 });
  const { browser, answer } = await logIn(w, anna.email);
  const other = await logIn(w, anna.email);
  w.clock.advance({ minutes: 10 });
  const code = codeAt(secret, w.clock.now());
  const { token } = answer.secondFactor;
  expect((await browser.post('/session/second-factor', { token, code })).status).toBe(401);
  const fresh = await logIn(w, anna.email);
  await anna.browser.post('/me/password', { currentPassword: PASSWORD, newPassword: 'violet kettle 42 orbit' });
  for (const waiting of [other, fresh]) {
    const shown = { token: waiting.answer.secondFactor.token, code: codeAt(secret, w.clock.now()) };
    expect((await waiting.browser.post('/session/second-factor', shown)).status).toBe(401);
  }
});

test('keys, roles and deletion ask for the second factor again after ten minutes', async () => {
  const w = await world();
  const { browser } = await person(w);
  const { secret } = await withApp(w, browser);
  const { serviceId } = await w.given.service();
  const bram = await w.given.user({ name: 'Bram' });
  const org = `/organizations/${w.orgId}`;
  w.clock.advance({ minutes: 11 });
  const asking = [
    () => browser.invoke(w.orgId, 'create_api_key', { name: 'CI', kind: 'organization' }),
    () => browser.invoke(w.orgId, 'change_role', { userId: bram.userId, role: 'viewer' }),
    () => browser.post(`${org}/actions/remove_member`, { userId: bram.userId }),
    () => browser.post(`${org}/actions/delete_service`, { serviceId }),
    () => browser.post(`${org}/actions/set_second_factor_policy`, { required: true }),
    () => browser.post('/me/recovery-codes', {}),
    () => browser.delete('/me/authenticator-app'),
  ];
  for (const ask of asking) expect((await ask()).body).toMatchObject({ status: 403, code: 'step_up_required' });
  expect((await browser.invoke(w.orgId, 'list_members')).status).toBe(200);
  expect((await browser.post('/me/step-up', { code: codeAt(secret, w.clock.now()) })).status).toBe(200);
  expect((await browser.invoke(w.orgId, 'change_role', { userId: bram.userId, role: 'viewer' })).status).toBe(200);
  expect((await browser.post(`${org}/actions/delete_service`, { serviceId })).status).toBe(200);
});

test('what is wrong at the second factor is said at its field, and leaves the session as it is', async () => {
  const w = await world();
  const { browser } = await person(w);
  const { secret } = await withApp(w, browser);
  w.clock.advance({ minutes: 11 });
  const code = codeAt(secret, w.clock.now());
  const shown: readonly (readonly [path: string, shown: object])[] = [
    ['code', { code: code === '000000' ? '111111' : '000000' }],
    ['recoveryCode', { recoveryCode: 'abcd-efgh' }],
    ['passkey', { passkey: { id: 'unknown' } }],
    ['', {}],
  ];
  for (const [path, wrong] of shown) {
    const { status, body } = await browser.post('/me/step-up', wrong);
    expect({ status, code: body.code, at: body.errors?.[0].path }).toEqual({
      status: 400,
      code: 'invalid_input',
      at: path,
    });
  }
  const other = { currentPassword: 'something else', newPassword: 'violet kettle 42 orbit' };
  const refused = await browser.post('/me/password', other);
  expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'currentPassword']);
  expect((await browser.get('/session')).status).toBe(200);
  expect((await browser.post('/me/step-up', { code })).status).toBe(200);
});

test('an organization may ask its owners and admins for a second factor, and nobody locks themselves out', async () => {
  const w = await world();
  const anna = await person(w);
  const ada = await person(w, 'admin');
  const rosa = await person(w, 'responder');
  const org = `/organizations/${w.orgId}`;
  const require = (required: boolean) => anna.browser.post(`${org}/actions/set_second_factor_policy`, { required });
  expect((await require(true)).status).toBe(409);
  const { secret } = await withApp(w, anna.browser);
  const elsewhere = openBrowser(w);
  elsewhere.cookie = anna.browser.cookie;
  expect((await require(true)).body.result).toEqual({ required: true });
  expect((await ada.browser.invoke(w.orgId, 'list_members')).body).toMatchObject({
    status: 403,
    code: 'second_factor_required',
  });
  expect((await rosa.browser.invoke(w.orgId, 'list_members')).status).toBe(200);
  expect((await ada.browser.get('/session')).body.result.organizations[0].secondFactorRequired).toBe(true);
  await withApp(w, ada.browser);
  expect((await ada.browser.invoke(w.orgId, 'list_members')).status).toBe(200);
  expect((await anna.browser.invoke(w.orgId, 'list_members')).status).toBe(200);
  expect((await require(false)).body.result).toEqual({ required: false });
  expect(secret).not.toBe('');
});
