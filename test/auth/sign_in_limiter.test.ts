import { afterAll, expect, test } from 'vitest';

import { checkReplyPin, hashPassword } from '#auth/passwords.ts';
import { codeAt } from '#auth/second_factor_codes.ts';
import { compose } from '#entry/compose.ts';
import { buildApp } from '#entry/http/app.ts';
import { answerCommand } from '#entry/http/places/places.ts';
import type { Id } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { beginChatLink } from '#modules/places/operations/places.ts';
import { createStatusPage } from '#modules/status_pages/operations/status_pages.ts';
import { subscribe } from '#modules/status_pages/subscribers.ts';
import { storesOf } from '#modules/stores.ts';
import { givenPerson, givePassword, openBrowser, PASSWORD, signedIn } from '#test/kit/programs/browser.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

const AT_ONCE = 30;
/** Nothing is sent: no worker runs. */
const TWILIO = {
  twilioAccountSid: `AC${'0'.repeat(32)}`,
  twilioAuthToken: 'token of the test account',
  twilioFrom: '+15005550006',
  twilioApiBase: 'http://127.0.0.1:9',
};

const w = await fileWorld({ settings: TWILIO });
const otherContext = await compose(w.context.config, { log: silentLog, clock: w.clock });
/** The same installation as another process sees it. */
const elsewhere = { ...w, context: otherContext, app: await buildApp(otherContext) };
afterAll(async () => {
  await elsewhere.app.close();
  await otherContext.close();
});

function countBy<Value extends string | number>(values: readonly Value[]): Partial<Record<Value, number>> {
  const counts: Partial<Record<Value, number>> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

const everywhere = async <Value>(ask: (process: World, index: number) => Promise<Value>): Promise<Value[]> =>
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => ask(index % 2 === 0 ? w : elsewhere, index)));

test('of thirty wrong second factors at once ten are tried, and a right one behind them is not', async () => {
  const { email } = await givenPerson(w, { name: 'Anna' });
  const owner = await signedIn(w, email);
  const { secret } = (await owner.post('/me/authenticator-app', {})).body.result;
  const code = codeAt(secret, w.clock.now());
  const { recoveryCodes } = (await owner.post('/me/authenticator-app/confirmation', { code })).body.result;
  const answer = await openBrowser(w).post('/session', { email, password: PASSWORD });
  const { token } = answer.body.result.secondFactor;
  const show = async (process: World, shown: object) =>
    (await openBrowser(process).post('/session/second-factor', { token, ...shown })).status;

  const statuses = await everywhere((process) => show(process, { recoveryCode: 'wrong' }));
  expect(countBy(statuses)).toEqual({ 400: 10, 429: AT_ONCE - 10 });
  expect(await show(w, { recoveryCode: recoveryCodes[0] })).toBe(429);
});

test('of thirty wrong PINs at once five are tried, and a right one behind them is not', async () => {
  const { userId } = await w.given.user({ name: 'Bram' });
  await storesOf(w.context.db.session()).phoneNumbers.setPin(userId, await hashPassword('4711'));
  const check = async ({ context }: World, pin: string | null) =>
    await checkReplyPin(storesOf(context.db.session()), userId, pin, w.clock.now());

  const checks = await everywhere((process, index) => check(process, String(1_000 + index)));
  // The last that is tried locks, as those do that are not.
  expect(countBy(checks)).toEqual({ wrong: 4, locked: AT_ONCE - 4 });
  expect([await check(w, '4711'), await check(w, null)]).toEqual(['locked', 'locked']);
  w.clock.advance({ minutes: 15 });
  expect(await check(w, '4711')).toBe('right');
});

test('of thirty wrong passwords at once ten are tried', async () => {
  const { email } = await givenPerson(w, { name: 'Cleo' });
  const statuses = await everywhere(
    async (process, index) =>
      (await openBrowser(process, `203.0.113.${index}`).post('/session', { email, password: 'not the password' }))
        .status,
  );
  expect(countBy(statuses)).toEqual({ 401: 10, 429: AT_ONCE - 10 });
});

test('of thirty wrong codes for a phone at once five are tried', async () => {
  const { email, userId } = await w.given.user({ name: 'Dana' });
  await givePassword(w, userId);
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const phone = '+31612345678';
  await w.expectOk('add_team_member', { teamId, userId, phone });
  const browser = await signedIn(w, email);
  expect((await browser.invoke(w.orgId, 'request_phone_code', { phone })).status).toBe(200);
  const answers = await everywhere(async (process) => {
    const other = openBrowser(process);
    other.cookie = browser.cookie;
    return (await other.invoke(w.orgId, 'confirm_phone', { phone, code: '000000' })).status;
  });
  expect(countBy(answers)).toEqual({ 200: 5, 409: AT_ONCE - 5 });
});

test('of thirty requests for a code or a test at once as many are sent as the limits allow', async () => {
  const { email, userId } = await w.given.user({ name: 'Emil' });
  await givePassword(w, userId);
  const { teamId } = await w.expectOk('create_team', { name: 'Storage' });
  const phone = '+31612345679';
  await w.expectOk('add_team_member', { teamId, userId, phone });
  const { cookie } = await signedIn(w, email);
  const ask = async (name: string, input: object): Promise<number[]> =>
    await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const browser = openBrowser(index % 2 === 0 ? w : elsewhere);
        browser.cookie = cookie;
        return (await browser.invoke(w.orgId, name, input)).status;
      }),
    );
  const { phoneCodesPerDay, testsPerMinute } = w.context.config;
  expect(countBy(await ask('request_phone_code', { phone }))).toEqual({
    200: phoneCodesPerDay,
    429: 30 - phoneCodesPerDay,
  });
  expect(countBy(await ask('send_test_notification', { channel: 'sms' }))).toEqual({
    200: testsPerMinute,
    429: 30 - testsPerMinute,
  });
});

test('of thirty subscriptions of one address to many status pages at once five wait for its owner', async () => {
  const { serviceId } = await w.given.service();
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const pages: Id<'statuspage'>[] = [];
  for (let index = 0; index < 20; index += 1) {
    const groups = [{ name: '', services: [{ serviceId, name: 'Shop' }] }];
    const page = { slug: `tries-${index}`, title: 'Shop', about: null, isPublic: true, groups };
    pages.push((await runOperation(w, createStatusPage, owner, page)).statusPageId);
  }
  const address = 'reader@example.org';
  await everywhere(({ context }, index) =>
    subscribe(context.actions, { id: pages[index % 20]!, orgId: w.orgId }, address),
  );
  const counted = await storesOf(w.context.db.session()).subscribers.countFor(pages[0]!, address);
  expect(counted.waitingOfAddress).toBe(5);
});

test('of thirty wrong codes that link a chat account at once ten are tried, and a right one behind them is not', async () => {
  const settings = { channel: 'C012', token: 'xoxb-1', signingSecret: '0'.repeat(32) };
  const orgId = w.orgId;
  const row = {
    orgId,
    kind: 'slack',
    name: 'Operations',
    shown: settings,
    sealed: Buffer.alloc(1),
    settingsRole: null,
    routes: [],
  } as const;
  const place = await storesOf(w.context.db.session()).places.insert(row, w.clock.now());
  const origin = { requestId: 'req_tries', address: null };
  const person = { place, kind: 'slack', account: 'U012', name: 'Fay', origin } as const;
  const type = async ({ context }: World, code: string) =>
    await answerCommand(context, { ...person, text: `link ${code}` });
  const answers = await everywhere((process) => type(process, 'AAAAAAAAAA'));
  expect(countBy(answers.map((answer) => answer.slice(0, 8)))).toEqual({ 'This cod': 10, 'Too many': AT_ONCE - 10 });
  const owner = memberCaller(orgId, w.owner.userId, 'owner');
  const { code } = await runOperation(w, beginChatLink, owner, { kind: 'slack' });
  expect(await type(w, code)).toContain('Too many');
});

test('a code that was asked for later and sent sooner counts, as requests at the same time may end in any order', async () => {
  const { userId } = w.owner;
  const { notifications } = storesOf(w.context.db.session());
  const now = w.clock.now();
  const code = { incidentId: null, stepIndex: null, kind: 'code', channel: 'sms', address: '+31612345670' } as const;
  const sent = { orgId: w.orgId, userId, status: 'queued', reason: null, ...code } as const;
  await notifications.insert([sent], now.add({ milliseconds: 5 }));
  const count = await w.context.db.transaction((session) =>
    storesOf(session).notifications.countAskedFor('code', userId, 'sms', { since: now.subtract({ hours: 24 }), now }),
  );
  expect(count).toBe(1);
});
