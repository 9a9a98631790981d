import { createECDH } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { createPushSubscription, deletePushSubscription } from '#modules/contacts/operations/push_subscriptions.ts';
import { getMe } from '#modules/accounts/operations/me.ts';
import { subscriptionFaults } from '#modules/contacts/decide/subscription_faults.ts';
import { deriveVapidKeys } from '#notify/channels/push/sender.ts';
import { storesOf } from '#modules/stores.ts';
import { type PushService, startPushService, type TestBrowser } from '#test/kit/programs/push_service.ts';
import type { Id } from '#kernel/ids.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

const stores = (w: World) => storesOf(w.context.db.session());

/** Subscribes as the console does, without the check that the address is public. */
async function subscribed(
  w: StaffedWorld,
  service: PushService,
  person: Responder,
  name: string,
): Promise<TestBrowser> {
  const browser = service.browser(name, w.context.vapidKeys.publicKey);
  const { endpoint, keys } = browser.subscription;
  await stores(w).pushSubscriptions.put(person.userId, { endpoint, ...keys, label: name }, w.clock.now());
  return browser;
}

/** Anna gets a push message at once, Bram an SMS after an hour. */
async function annaIsPushed(w?: StaffedWorld, service?: PushService) {
  return await annaIsPushedIn(w ?? (await staffedWorld()), service ?? (await startPushService()));
}

async function annaIsPushedIn(w: StaffedWorld, service: PushService) {
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['push'], targetUserIds: [anna.userId] },
    { afterMinutes: 60, channels: ['sms'], targetUserIds: [bram.userId] },
  ]);
  const log = async (incidentId: string) => (await w.expectOk('get_incident', { incidentId })).notifications;
  return { service, w, anna, bram, alert, log };
}

test('a page by push reaches every browser of the person, encrypted and signed; its buttons open the signed links', async () => {
  const { service, w, anna, alert, log } = await annaIsPushed();
  await subscribed(w, service, anna, 'phone');
  await subscribed(w, service, anna, 'laptop');
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  expect(service.pushed.map(({ browser }) => browser).toSorted()).toEqual(['laptop', 'phone']);
  const [pushed] = service.pushed;
  expect(pushed).toMatchObject({
    urgency: 'high',
    payload: {
      title: 'checkout: latency is 250 (> 100)',
      body: expect.stringMatching(/^Incident \d+, severity error\.$/),
      tag: incidentId,
      url: `http://tocsin.test/incidents/${incidentId}?org=${w.orgId}`,
    },
  });
  expect(pushed?.ttl).toBeGreaterThanOrEqual(300);
  expect(pushed?.ttl).toBeLessThanOrEqual(600);
  expect(await log(incidentId)).toMatchObject([{ channel: 'push', to: null, status: 'sent', attempts: 1 }]);
  const provedAt = async () => {
    const { teams } = await runOperation(w, getMe, memberCaller(w.orgId, anna.userId, 'responder'), {});
    const channels = teams[0].readiness.channels as { channel: string; provedAt: string | null }[];
    return channels.find(({ channel }) => channel === 'push')?.provedAt;
  };
  expect(await provedAt()).not.toBeNull();
  await w.context.db.sql.run(`update notifications set reason = 'unconfirmed' where channel = 'push'`);
  expect(await provedAt(), 'the service may not have taken it').toBeNull();

  // One asks, and the confirmation acts.
  const { actions } = pushed!.payload;
  expect(actions.map(({ action }: { action: string }) => action)).toEqual(['acknowledge', 'resolve']);
  const url = actions[0].url.replace('http://tocsin.test', '');
  expect((await w.app.inject({ method: 'GET', url })).body).toContain('<button>Acknowledge</button>');
  expect((await w.app.inject({ method: 'POST', url })).statusCode).toBe(200);
  const incident = await w.expectOk('get_incident', { incidentId });
  expect(incident.acknowledgedBy).toEqual({ userId: anna.userId, via: 'push' });
});

test('browsers that no longer listen are removed; a person without one is unreachable: the next step fires at once', async () => {
  const w = await staffedWorld();
  const service = await startPushService();
  const [one, all, none] = [await annaIsPushed(w, service), await annaIsPushed(w, service), await annaIsPushed(w)];
  service.expire(await subscribed(w, service, one.anna, 'phone'));
  await subscribed(w, service, one.anna, 'laptop');
  service.expire(await subscribed(w, service, all.anna, 'phone'));
  // Of whatever length the title is, it fits into one message.
  const ids = [await one.alert.trigger('😱'.repeat(5_000)), await all.alert.trigger(), await none.alert.trigger()];
  await w.runUntilIdle();
  expect(service.pushed.map(({ browser }) => browser)).toEqual(['laptop']);
  const [enough, gone, never] = await Promise.all(ids.map(one.log));
  expect(enough).toMatchObject([{ status: 'sent' }]);
  expect((await stores(w).pushSubscriptions.listOf(one.w.orgId, one.anna.userId)).map(({ label }) => label)).toEqual([
    'laptop',
  ]);
  expect(gone[0]).toMatchObject({ status: 'failed', reason: 'no_subscription', attempts: 1 });
  expect(never[0]).toMatchObject({ channel: 'push', status: 'skipped', reason: 'no_address' });
  expect(w.phone.messages.map(({ to }) => to).toSorted()).toEqual([all.bram.phone, none.bram.phone].toSorted());
});

test('a push service in trouble is tried again, after the time that it asks for; one that refuses for good is not', async () => {
  const w = await staffedWorld();
  const paged = async (status: number, options?: { times?: number; retryAfterSeconds?: number }) => {
    const { service, anna, alert, log } = await annaIsPushed(w);
    await subscribed(w, service, anna, 'phone');
    service.answer(status, options);
    const incidentId = await alert.trigger();
    return { service, anna, entries: () => log(incidentId) };
  };
  const again = [];
  for (const status of [406, 429, 500, 503]) again.push(await paged(status, { times: 2 }));
  const refused = [await paged(400), await paged(403)];
  const asking = await paged(429, { retryAfterSeconds: 30 });
  await w.runUntilIdle();
  for (const { anna, entries } of refused) {
    expect((await entries())[0]).toMatchObject({ status: 'failed', reason: 'provider_refused_push' });
    expect(await stores(w).pushSubscriptions.listOf(w.orgId, anna.userId)).toHaveLength(1);
  }
  await w.advance({ seconds: 2 });
  await w.advance({ seconds: 4 });
  for (const { service, entries } of again) {
    expect(await entries()).toMatchObject([{ status: 'sent', attempts: 3 }]);
    expect(service.pushed).toHaveLength(1);
  }
  await w.advance({ seconds: 23 });
  expect(asking.service.requests).toBe(1);
  await w.advance({ seconds: 1 });
  expect(asking.service.pushed).toHaveLength(1);
  for (const { service } of refused) expect(service.requests).toBe(1);
});

test('a browser that was subscribed for an organization alone gets no page of another', async () => {
  const { service, w, anna, alert } = await annaIsPushed();
  const other = await w.given.organization('Umbrella');
  const browsers = { own: w.orgId, strange: other.orgId, both: w.orgId, all: null };
  const subscribe = async (name: string, orgId: Id<'org'> | null) => {
    const { endpoint, keys } = service.browser(name, w.context.vapidKeys.publicKey).subscription;
    await stores(w).pushSubscriptions.put(anna.userId, { endpoint, ...keys, label: name }, w.clock.now(), orgId);
    return { endpoint, ...keys, label: name };
  };
  for (const [name, orgId] of Object.entries(browsers)) {
    const browser = await subscribe(name, orgId);
    // Whoever subscribes a browser again takes it from nobody.
    if (name === 'both' || name === 'all') {
      await stores(w).pushSubscriptions.put(anna.userId, browser, w.clock.now(), other.orgId);
    }
  }
  await alert.trigger();
  await w.runUntilIdle();
  expect(service.pushed.map(({ browser }) => browser).toSorted()).toEqual(['all', 'both', 'own']);
  const subscribers = await stores(w).pushSubscriptions.listSubscribers(other.orgId, [anna.userId]);
  expect(subscribers).toEqual(new Set([anna.userId]));
});

describe('subscribing', async () => {
  const w = await fileWorld();
  const keys = createECDH('prime256v1').generateKeys('base64url');
  const fromBrowser = {
    endpoint: 'https://updates.push.services.mozilla.com/wpush/v2/abc',
    expirationTime: null,
    keys: { p256dh: keys, auth: Buffer.alloc(16, 1).toString('base64url') },
  };

  async function personOf(name: string) {
    const { userId } = await w.given.user({ name });
    const caller = memberCaller(w.orgId, userId, 'responder');
    return {
      userId,
      subscribe: (input: object) => runOperation(w, createPushSubscription, caller, input),
      unsubscribe: (subscriptionId: string) => runOperation(w, deletePushSubscription, caller, { subscriptionId }),
      list: async () => (await runOperation(w, getMe, caller, {})).pushSubscriptions,
    };
  }

  test('adds a browser, unsubscribing removes it, and both are audited without its secret address', async () => {
    const anna = await personOf('Anna');
    const { subscriptionId } = await anna.subscribe({ ...fromBrowser, label: 'Firefox on the phone' });
    expect(await anna.list()).toMatchObject([{ subscriptionId, label: 'Firefox on the phone' }]);
    await anna.unsubscribe(subscriptionId);
    expect(await anna.list()).toEqual([]);
    const audit = await w.context.db.sql.rows<{ action: string }>(
      `select * from audit_log where actor->>'userId' = $1 order by id`,
      [anna.userId],
    );
    expect(audit.map(({ action }) => action)).toEqual(['create_push_subscription', 'delete_push_subscription']);
    expect(JSON.stringify(audit)).not.toContain('mozilla');
  });

  test('a browser that another person used before moves to the new person', async () => {
    const [anna, bram] = [await personOf('Anna'), await personOf('Bram')];
    await anna.subscribe(fromBrowser);
    await bram.subscribe(fromBrowser);
    expect(await anna.list()).toEqual([]);
    expect(await bram.list()).toHaveLength(1);
  });

  test('cannot be undone by somebody else', async () => {
    const [anna, bram] = [await personOf('Anna'), await personOf('Bram')];
    const { subscriptionId } = await anna.subscribe(fromBrowser);
    await expect(bram.unsubscribe(subscriptionId)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('in a session of a provider it is for its organization, and every browser can be taken away', async () => {
    const { userId } = await w.given.user({ name: 'Anna' });
    const caller = memberCaller(w.orgId, userId, 'responder');
    const byProvider = { ...caller, isByProvider: true } as const;
    const other = await w.given.organization('Umbrella');
    await stores(w).people.setMembership(other.orgId, userId, 'owner', w.clock.now());
    const subscribe = (by: typeof caller, endpoint: string) =>
      runOperation(w, createPushSubscription, by, { ...fromBrowser, endpoint: `${fromBrowser.endpoint}/${endpoint}` });
    const unsubscribe = ({ subscriptionId }: { subscriptionId: string }) =>
      runOperation(w, deletePushSubscription, byProvider, { subscriptionId });
    const [own, whole] = [await subscribe(byProvider, 'own'), await subscribe(caller, 'whole')];
    const endpoints = (await stores(w).pushSubscriptions.listOf(other.orgId, userId)).map(({ id }) => id);
    expect(endpoints).toEqual([whole.subscriptionId]);
    for (const browser of [whole, own]) expect(await unsubscribe(browser)).toMatchObject({ deleted: true });
    expect(await stores(w).pushSubscriptions.listOf(w.orgId, userId)).toEqual([]);
  });

  test('keeps the twenty newest browsers', async () => {
    const anna = await personOf('Anna');
    for (let index = 0; index < 22; index += 1) {
      await anna.subscribe({ ...fromBrowser, endpoint: `${fromBrowser.endpoint}${index}`, label: `browser ${index}` });
      w.clock.advance({ seconds: 1 });
    }
    const labels = (await anna.list()).map(({ label }: { label: string }) => label);
    expect(labels).toHaveLength(20);
    expect(labels).not.toContain('browser 1');
  });

  test('keeps the twenty newest for the same organizations, in whatever order they were subscribed for, and sends to the newest', async () => {
    const { userId } = await w.given.user({ name: 'Anna' });
    const other = await w.given.organization('Umbrella');
    const { pushSubscriptions } = stores(w);
    const subscribe = async (label: string, orgIds: readonly (Id<'org'> | null)[]) => {
      const browser = { endpoint: `${fromBrowser.endpoint}/${userId}/${label}`, ...fromBrowser.keys, label };
      for (const orgId of orgIds) await pushSubscriptions.put(userId, browser, w.clock.now(), orgId);
      w.clock.advance({ seconds: 1 });
      return label;
    };
    for (let index = 0; index < 20; index += 1) await subscribe(`all ${index}`, [null]);
    const newest: string[] = [];
    for (let index = 0; index < 22; index += 1) {
      const orgIds = [w.orgId, other.orgId];
      newest.push(await subscribe(`both ${index}`, index % 2 === 0 ? orgIds : orgIds.toReversed()));
    }
    for (let index = 0; index < 20; index += 1) newest.push(await subscribe(`own ${index}`, [w.orgId]));
    expect((await pushSubscriptions.listOf(w.orgId, userId)).map(({ label }) => label)).toEqual(newest.slice(2));
  });

  test.each([
    'http://updates.push.services.mozilla.com/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
    'https://localhost/x',
    'https://metadata.google.internal/x',
    'https://push.example.com:8443/x',
    'https://user@push.example.com/x',
    `https://push.example.com/${'x'.repeat(2_000)}`,
    'push',
  ])('refuses %s, so that nobody makes the server call its neighbours', (endpoint) => {
    expect(subscriptionFaults({ ...fromBrowser, endpoint })).toMatchObject([{ path: 'endpoint' }]);
  });

  test('rejects keys that cannot be used for encryption', async () => {
    const anna = await personOf('Anna');
    const notOnCurve = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)]).toString('base64url');
    await expect(
      anna.subscribe({ ...fromBrowser, keys: { p256dh: notOnCurve, auth: 'c2hvcnQ' } }),
    ).rejects.toMatchObject({ code: 'invalid_input', faults: [{ path: 'keys.p256dh' }, { path: 'keys.auth' }] });
  });
});

test('the keys of push are the same for every process and every start, and different for every installation', () => {
  const secret = 'a secret that is long enough for tests';
  expect(deriveVapidKeys(secret)).toEqual(deriveVapidKeys(secret));
  expect(deriveVapidKeys(secret).publicKey).not.toBe(deriveVapidKeys(`${secret}!`).publicKey);
  expect(Buffer.from(deriveVapidKeys(secret).publicKey, 'base64url')).toHaveLength(65);
});
