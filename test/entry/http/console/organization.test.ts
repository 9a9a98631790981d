import { expect, test } from 'vitest';

import { storesOf } from '#modules/stores.ts';
import { type Browser, givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { alertedServiceIn } from '#test/kit/alert_senders.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { type World, world } from '#test/kit/world.ts';

async function signedInAs(w: World, role: 'owner' | 'responder' | 'viewer') {
  const { email, userId } = await givenPerson(w, { role, name: 'Anna' });
  return { userId, browser: await signedIn(w, email), org: `/organizations/${w.orgId}` };
}

test('billing is told month by month, under the names of then, also of services that are gone', async () => {
  const w = await world();
  w.clock.set('2026-11-30T12:00:00Z');
  const { browser, org } = await signedInAs(w, 'owner');
  const { serviceId } = await w.given.service({ name: 'checkout', capabilities: ['metrics', 'oncall'] });
  w.clock.set('2026-12-02T12:00:00Z');
  await w.given.service({ name: 'search', capabilities: ['metrics'] });
  await w.expectOk('delete_service', { serviceId });
  const { currency, months } = (await browser.post(`${org}/actions/get_billing`, {})).body.result;
  expect(currency).toBe('EUR');
  expect(months.map(({ month, total }: { month: string; total: number }) => [month, total])).toEqual([
    ['2026-12', 1],
    ['2026-11', 2],
  ]);
  expect(months[1].lines).toEqual(
    ['metrics', 'oncall'].map((capability) => ({
      serviceId,
      serviceName: 'checkout',
      capability,
      periodStart: '2026-11-30T12:00:00.000Z',
      periodEnd: '2026-12-30T12:00:00.000Z',
      amount: 1,
    })),
  );
});

test('a channel fails while its provider refuses or is silent, not because somebody does not answer', async () => {
  const w = await staffedWorld();
  const { browser } = await signedInAs(w, 'viewer');
  const anna = await w.staff.responder(await w.staff.team(), 'Anna');
  const health = async () => (await browser.invoke(w.orgId, 'get_delivery_health')).body.result.channels;
  const never = { lastSucceededAt: null, lastFailedAt: null, lastFailure: null, fault: null };
  expect(await health()).toEqual([
    { channel: 'sms', configured: true, via: 'twilio', state: 'unused', ...never },
    { channel: 'call', configured: true, via: 'twilio', state: 'unused', ...never },
    {
      channel: 'push',
      configured: true,
      via: 'web-push',
      state: 'unused',
      ...never,
      fault: expect.stringContaining('Set MAIL_FROM'),
    },
    { channel: 'email', configured: false, via: null, state: 'not_configured', ...never },
  ]);
  const person = { key: anna.key };
  const teamId = (await w.expectOk('list_teams', {}, person)).teams[0].teamId as string;
  const page = async (channel: 'sms' | 'call') => {
    const steps = [{ afterMinutes: 0, channels: [channel, 'email'], targetUserIds: [anna.userId] }] as const;
    const alert = await w.staff.alert(teamId, steps);
    await w.advance({ minutes: 2 });
    await alert.trigger();
    await w.runUntilIdle();
  };
  w.phone.addFault({ kind: 'call_ends', as: 'no-answer', number: anna.phone, times: 1 });
  w.phone.addFault({ kind: 'undelivered', errorCode: 30003, number: anna.phone, times: 1 });
  await page('call');
  await page('sms');
  const works = { state: 'works', lastSucceededAt: expect.stringMatching(/Z$/), lastFailedAt: null };
  expect(await health()).toMatchObject([works, works, { state: 'unused' }, { state: 'not_configured', ...never }]);

  w.phone.addFault({ kind: 'http_error', status: 401, code: 20003, times: 1 });
  await page('sms');
  const refused = { state: 'failing', lastFailure: 'provider_refused_credentials' };
  expect(await health()).toMatchObject([refused, works, {}, {}]);
  await page('sms');
  expect(await health()).toMatchObject([{ ...refused, state: 'works' }, works, {}, {}]);

  w.phone.addFault({ kind: 'http_error', status: 503, times: 1 });
  await page('call');
  expect(await health()).toMatchObject([{}, { state: 'failing', lastFailure: 'provider_fault' }, {}, {}]);
  await w.advance({ seconds: 10 });
  expect(await health()).toMatchObject([{}, { state: 'works' }, {}, {}]);
});

test('the checklist takes a route of alerts of other tools for what pages somebody', async () => {
  const w = await staffedWorld();
  const { browser, org } = await signedInAs(w, 'owner');
  await alertedServiceIn(w);
  const { setup } = (await browser.post(`${org}/actions/get_home`, {})).body.result;
  expect(setup).toMatchObject({ hasPagingRule: true, paging: null });
});

test('the checklist tells what is there, of every service', async () => {
  const w = await staffedWorld();
  const { browser, org, userId } = await signedInAs(w, 'owner');
  const progress = async () => (await browser.post(`${org}/actions/get_home`, {})).body.result.setup;
  const nothing = {
    hasService: false,
    hasData: false,
    hasTeam: false,
    hasTeamWithPolicy: false,
    canBeReached: false,
    hasPagingRule: false,
    hasSentMessage: false,
    simulatesPhones: false,
    firstServiceId: null,
    paging: null,
  };
  expect(await progress()).toEqual(nothing);
  const teamId = await w.staff.team();
  await w.expectOk('add_team_member', { teamId, userId, phone: '+31612345678' });
  const services = [];
  for (let n = 0; n < 6; n += 1) services.push(await w.given.service({ name: `service ${n}`, capabilities: [] }));
  const { serviceId: firstServiceId } = services[0]!;
  expect(await progress()).toEqual({ ...nothing, hasService: true, hasTeam: true, canBeReached: true, firstServiceId });
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [userId] }] as const;
  const alert = await w.staff.alert(teamId, steps);
  await runStorePoints(w.runtime, alert.serviceId, [{ name: 'latency', at: w.clock.now(), value: 250 }]);
  await w.evaluate();
  const all = Object.fromEntries(Object.keys(nothing).map((part) => [part, true]));
  const paging = expect.objectContaining({ serviceId: alert.serviceId });
  expect(await progress()).toEqual({ ...all, simulatesPhones: false, firstServiceId, paging });
});

test('people change how they themselves are reached, and nobody else', async () => {
  const w = await world();
  const { browser, userId } = await signedInAs(w, 'viewer');
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const { teamId: otherTeam } = await w.expectOk('create_team', { name: 'Others' });
  await w.expectOk('add_team_member', { teamId, userId });
  const changed = await browser.invoke(w.orgId, 'update_own_contact', {
    teamId,
    phone: '+31612345678',
    callEnabled: false,
  });
  const contact = {
    phone: '+31612345678',
    smsEnabled: true,
    callEnabled: false,
    pushEnabled: true,
    emailEnabled: true,
  };
  expect(changed.body).toEqual({ result: contact });
  expect((await browser.invoke(w.orgId, 'get_me')).body.result).toMatchObject({
    teams: [{ teamId, name: 'Platform', contact }],
    pushSubscriptions: [],
    vapidPublicKey: w.context.vapidKeys.publicKey,
  });
  expect((await browser.invoke(w.orgId, 'update_own_contact', { teamId, phone: '0612345678' })).status).toBe(400);
  expect((await browser.invoke(w.orgId, 'update_own_contact', { teamId, sortOrder: 1 })).status).toBe(400);
  expect((await browser.invoke(w.orgId, 'update_own_contact', { teamId: otherTeam })).status).toBe(404);
  const log = await w.context.db.sql.rows<{ row: string }>(
    `select t::text as row from audit_log t where action = 'update_own_contact'`,
  );
  expect(log).toHaveLength(1);
  expect(log[0]!.row).not.toContain('31612345678');
});

test('a schedule has a calendar address until it is revoked', async () => {
  const w = await world();
  const { browser, userId } = await signedInAs(w, 'responder');
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Nights',
    timezone: 'UTC',
    rotationType: 'daily',
    rotationConfig: { userIds: [userId] },
  });
  const feed = (of: Browser, what: 'get' | 'create' | 'revoke') =>
    of.invoke(w.orgId, `${what}_calendar_feed`, { scheduleId });
  expect((await feed(browser, 'get')).body.result).toEqual({ scheduleId, url: null, createdAt: null });
  const { url } = (await feed(browser, 'create')).body.result;
  expect((await feed(browser, 'get')).body.result.url).toBe(url);
  const path = new URL(url as string).pathname;
  expect((await w.app.inject({ url: path })).statusCode).toBe(200);
  const reads = await w.context.db.sql.rows(`select 1 from audit_log where action = 'get_calendar_feed'`);
  expect(reads).toHaveLength(1);

  // Each member has an address of their own, which ends when they leave.
  const { browser: other, userId: otherId } = await signedInAs(w, 'responder');
  expect((await feed(other, 'get')).body.result.url).toBeNull();
  const otherPath = new URL((await feed(other, 'create')).body.result.url as string).pathname;
  expect(otherPath).not.toBe(path);
  await storesOf(w.context.db.session()).people.removeMembership(w.orgId, otherId);
  expect((await w.app.inject({ url: otherPath })).statusCode).toBe(404);
  expect((await w.app.inject({ url: path })).statusCode).toBe(200);

  expect((await feed(browser, 'revoke')).status).toBe(200);
  expect((await w.app.inject({ url: path })).statusCode).toBe(404);
  const { browser: viewer } = await signedInAs(w, 'viewer');
  expect((await feed(viewer, 'create')).status).toBe(403);
});

test('the console shows what a service has sent', async () => {
  const w = await world();
  const { browser } = await signedInAs(w, 'viewer');
  const { serviceId } = await w.given.service();
  const status = async () => (await browser.invoke(w.orgId, 'get_ingest_status', { serviceId })).body.result;
  expect(await status()).toEqual({
    metrics: { lastSeenAt: null, pointsLastHour: 0 },
    exceptions: { lastSeenAt: null, eventsLastHour: 0 },
    feedback: { count: 0, lastAt: null },
    notKept: [],
    refused: [],
    limited: [],
    typeChanges: { count: 0, metrics: [] },
    withoutQuantiles: { count: 0, rules: [] },
    quarantinedEvents: { events: 0, since: null, nextTryAt: null },
    quarantinedJobs: { items: 0, since: null, nextTryAt: null },
  });
});

test('an organization is renamed by who manages it, which is audited, and everybody sees the new name', async () => {
  const w = await world();
  const { browser } = await signedInAs(w, 'owner');
  const viewer = await signedInAs(w, 'viewer');
  expect((await viewer.browser.invoke(w.orgId, 'rename_organization', { name: 'Mine' })).status).toBe(403);
  expect((await browser.invoke(w.orgId, 'rename_organization', { name: '' })).status).toBe(400);
  const renamed = await browser.invoke(w.orgId, 'rename_organization', { name: '  Northwind  ' });
  expect(renamed.body.result).toEqual({ orgId: w.orgId, name: 'Northwind' });
  const session = await viewer.browser.get('/session');
  expect(session.body.result.organizations).toMatchObject([{ orgId: w.orgId, name: 'Northwind' }]);
  const audited = await w.context.db.sql.rows(
    "select before, after from audit_log where action = 'rename_organization' and result = 'done'",
  );
  expect(audited).toEqual([{ before: { name: 'Acme' }, after: { name: 'Northwind' } }]);
});
