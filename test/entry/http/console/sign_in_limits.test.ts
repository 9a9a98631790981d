import { createHook } from 'node:async_hooks';

import { expect, onTestFinished, test } from 'vitest';

import { compose } from '#entry/compose.ts';
import { buildApp } from '#entry/http/app.ts';
import { silentLog } from '#kernel/log.ts';
import { givenPerson, openBrowser, PASSWORD, signedIn } from '#test/kit/programs/browser.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { type World, world } from '#test/kit/world.ts';

const WRONG = { password: 'not the password' };

async function guess(w: World, email: string, address: string, times: number): Promise<number[]> {
  const browser = openBrowser(w, address);
  const answers = await Promise.all(Array.from({ length: times }, () => browser.post('/session', { email, ...WRONG })));
  return answers.map(({ status }) => status).toSorted((a, b) => a - b);
}

test('an account takes ten guesses in a quarter of an hour, also when they come at once', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  const statuses = await guess(w, email, '203.0.113.1', 14);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), ...Array.from({ length: 4 }, () => 429)]);

  const elsewhere = openBrowser(w, '203.0.113.2');
  const refused = await elsewhere.post('/session', { email: email.toUpperCase(), password: PASSWORD });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBe(900);
  w.clock.advance({ minutes: 15, seconds: 1 });
  expect((await elsewhere.post('/session', { email, password: PASSWORD })).status).toBe(200);
});

test('guesses from elsewhere do not lock out who has signed in from their address before', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  await signedIn(w, email, '192.0.2.1');
  await guess(w, email, '203.0.113.1', 12);
  expect((await openBrowser(w, '192.0.2.1').post('/session', { email, password: PASSWORD })).status).toBe(200);
});

test('an address takes thirty guesses, whatever the accounts, and a network of IPv6 is one address', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  const browser = openBrowser(w);
  // A guess for nobody takes as long as one for a real password.
  const emails = ['nobody@example.com'];
  for (let index = 0; index < 3; index += 1) emails.push((await givenPerson(w)).email);
  for (let index = 0; index < 30; index += 1) {
    const address = `2001:db8:1:2::${index}`;
    const body = { email: emails[index === 0 ? 0 : 1 + (index % 3)], ...WRONG };
    expect((await browser.ask('POST', '/session', { body, address })).status).toBe(401);
  }
  const body = { email, password: PASSWORD };
  expect((await browser.ask('POST', '/session', { body, address: '2001:db8:1:2:ffff::1' })).status).toBe(429);
  expect((await browser.ask('POST', '/session', { body, address: '2001:db8:1:3::1' })).status).toBe(200);
});

test('tries that went well are not counted', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  for (let time = 0; time < 12; time += 1) await signedIn(w, email, `198.51.100.${time}`);
  const counted = await w.context.db.sql.row('select max(tries) as tries from sign_in_limits');
  expect(counted).toEqual({ tries: 0 });
});

test('processes count together', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  const context = await compose(w.context.config, { log: silentLog, clock: w.clock });
  const app = await buildApp(context);
  await guess(w, email, '203.0.113.1', 10);
  expect(await guess({ ...w, context, app }, email, '203.0.113.9', 1)).toEqual([429]);
  await app.close();
  await context.close();
});

test('an unknown address is answered after as much work as a wrong password, in the same words', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  const browser = openBrowser(w);
  const derivations = countDerivations();
  const ask = async (who: string) => {
    const before = derivations();
    const { body } = await browser.post('/session', { email: who, ...WRONG });
    return { derived: derivations() - before, body: { ...body, requestId: '' } };
  };
  const mistaken = await ask(email);
  expect(mistaken.derived).toBe(1);
  expect(await ask('x@example.com')).toEqual(mistaken);
});

/**
 * Counts how often this process begins to derive something from a password, which is nearly all the work of a sign-in.
 */
function countDerivations(): () => number {
  let count = 0;
  const hook = createHook({ init: (_id, type) => void (count += type === 'ARGON2REQUEST' ? 1 : 0) });
  hook.enable();
  onTestFinished(() => void hook.disable());
  return () => count;
}

test('a browser that has signed in before passes from any address, and its own wrong tries are counted by themselves', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  const other = await givenPerson(w, { name: 'Bram' });
  const browser = await signedIn(w, email, '192.0.2.1');
  await browser.delete('/session');
  await guess(w, email, '203.0.113.1', 12);
  const from = (address: string, body: object) => browser.ask('POST', '/session', { body, address });
  const again = { email: email.toUpperCase(), password: PASSWORD };
  expect((await from('198.51.100.7', again)).status).toBe(200);
  // Nobody else is let in by it, and neither is a browser that says it is known.
  await guess(w, other.email, '203.0.113.2', 12);
  expect((await from('198.51.100.7', { email: other.email, password: PASSWORD })).status).toBe(429);
  const forged = openBrowser(w, '198.51.100.8');
  forged.device = browser.device!.replace(/~.*$/, `~${'A'.repeat(43)}`);
  expect((await forged.post('/session', { email, password: PASSWORD })).status).toBe(429);

  const tries = await Promise.all(Array.from({ length: 12 }, () => from('198.51.100.7', { email, ...WRONG })));
  expect(tries.filter(({ status }) => status === 429)).toHaveLength(2);
  expect((await from('198.51.100.9', again)).status).toBe(429);
  w.clock.advance({ minutes: 15, seconds: 1 });
  expect((await from('198.51.100.9', again)).status).toBe(200);
});

test('a failed sign-in is in the audit log of the organizations of the account, and nowhere for an unknown account', async () => {
  const w = await staffedWorld();
  const { userId, email } = await givenPerson(w);
  const wrong = await openBrowser(w, '203.0.113.1').post('/session', { email, ...WRONG });
  await openBrowser(w, '203.0.113.1').post('/session', { email: 'nobody@example.com', ...WRONG });
  await w.runUntilIdle();
  const rows = await w.context.db.sql.rows(
    `select org_id as "orgId", actor, target, result, address, request_id as "requestId" from audit_log
     where action = 'sign_in'`,
  );
  expect(rows).toEqual([
    {
      orgId: w.orgId,
      actor: { kind: 'unknown' },
      target: userId,
      result: 'refused',
      address: '203.0.113.1',
      requestId: wrong.body.requestId,
    },
  ]);
});
