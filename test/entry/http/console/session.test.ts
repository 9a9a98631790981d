import { expect, test } from 'vitest';

import { givenPerson, openBrowser, PASSWORD, signedIn } from '#test/kit/programs/browser.ts';
import { withSettings, world } from '#test/kit/world.ts';

test('a person is recognized by the cookie from sign-in to sign-out', async () => {
  const w = await world();
  const { email, userId, name } = await givenPerson(w, { role: 'editor' });
  const browser = openBrowser(w);
  expect((await browser.get('/session')).status).toBe(401);

  const answer = await browser.post('/session', { email: email.toUpperCase(), password: PASSWORD });
  expect(answer.status).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^tocsin_session=tocsin_ses_[0-9A-Za-z]{49}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=7776000$/,
    ),
    expect.stringMatching(
      /^tocsin_device=tocsin_dev_[0-9A-Za-z]{49}~[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/,
    ),
  ]);
  expect(answer.body.result).toMatchObject({
    user: { userId, email, name },
    organizations: [{ orgId: w.orgId, name: 'Acme', role: 'editor' }],
  });
  expect((await browser.get('/session')).body).toEqual(answer.body);

  const { cookie } = browser;
  expect((await browser.delete('/session')).body).toEqual({ result: { deleted: true, redirectTo: null } });
  expect(browser.cookie).toBeNull();
  browser.cookie = cookie;
  expect((await browser.get('/session')).status).toBe(401);
});

test('on one machine every one of its names lets people sign in, and no other page', async () => {
  const w = await withSettings(await world(), { baseUrl: 'http://127.0.0.1:3000' });
  const { email } = await givenPerson(w, { role: 'editor' });
  const signIn = async (origin: string, host: string): Promise<number> => {
    const body = { email, password: PASSWORD };
    return (await openBrowser(w).ask('POST', '/session', { body, origin, headers: { host } })).status;
  };
  for (const host of ['127.0.0.1:3000', 'localhost:3000', '[::1]:3000']) {
    expect(await signIn(`http://${host}`, host), host).toBe(200);
  }
  const strangers: readonly (readonly [origin: string, host: string])[] = [
    ['http://localhost:8080', 'localhost:3000'],
    ['http://localhost:3000', '127.0.0.1:3000'],
    ['https://localhost:3000', 'localhost:3000'],
    ['http://evil.test:3000', 'evil.test:3000'],
    ['http://localhost.evil.test', 'localhost.evil.test'],
    ['null', 'localhost:3000'],
  ];
  for (const [origin, host] of strangers) expect(await signIn(origin, host), `${origin} at ${host}`).toBe(403);
});

test('over https the cookie is bound to this host alone', async () => {
  const w = await withSettings(await world(), { baseUrl: 'https://tocsin.test/alerts' });
  const browser = openBrowser(w);
  const { email } = await givenPerson(w);
  const answer = await browser.post('/session', { email, password: PASSWORD });
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^__Host-tocsin_session=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=\d+$/),
    expect.stringMatching(/^__Host-tocsin_device=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=\d+$/),
  ]);
  expect((await browser.get('/session')).status).toBe(200);
  browser.cookie = browser.cookie!.replace('__Host-', '');
  expect((await browser.get('/session')).status).toBe(401);
});

test('a session ends after 14 days without use, and after 90 days whatever its use', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  const idle = await signedIn(w, email);
  const used = await signedIn(w, email);
  w.clock.advance({ hours: 13 * 24 + 23 });
  expect((await used.get('/session')).status).toBe(200);
  w.clock.advance({ hours: 1 });
  expect((await idle.get('/session')).status).toBe(401);
  for (let day = 14; day < 89; day += 5) {
    w.clock.advance({ hours: 5 * 24 });
    expect((await used.get('/session')).status).toBe(200);
  }
  w.clock.advance({ hours: 24 });
  expect((await used.get('/session')).status).toBe(401);
});

test('sessions are listed and ended, by their owner only, from the next request on', async () => {
  const w = await world();
  const anna = await givenPerson(w, { name: 'Anna' });
  const bram = await givenPerson(w, { name: 'Bram' });
  const first = await signedIn(w, anna.email, '192.0.2.7');
  w.clock.advance({ minutes: 2 });
  const second = await signedIn(w, anna.email);
  const third = await signedIn(w, anna.email);
  const other = await signedIn(w, bram.email);

  const { sessions } = (await second.get('/sessions')).body.result;
  expect(sessions).toHaveLength(3);
  expect(sessions.filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toHaveLength(1);
  const ofFirst = sessions[2];
  expect(ofFirst).toMatchObject({ address: '192.0.2.7', isCurrent: false });

  expect((await other.delete(`/sessions/${ofFirst.sessionId}`)).status).toBe(404);
  expect((await second.delete(`/sessions/${ofFirst.sessionId}`)).status).toBe(200);
  expect((await second.delete(`/sessions/${ofFirst.sessionId}`)).status).toBe(404);
  expect((await first.get('/session')).status).toBe(401);

  expect((await second.delete('/sessions')).body.result.sessionIds).toHaveLength(1);
  expect((await third.get('/session')).status).toBe(401);
  expect((await second.get('/session')).status).toBe(200);
  expect((await other.get('/session')).status).toBe(200);
});
