import { expect, test } from 'vitest';

import { revokeAlertKey, rotateAlertKey } from '#modules/alerts/operations/alert_keys.ts';
import { endSilentAlerts } from '#modules/alerts/end_alerts.ts';
import { takeAlerts } from '#modules/alerts/take_alerts.ts';
import { bareEvent } from '#modules/alerts/decide/alert_event.ts';
import { storesOf } from '#modules/stores.ts';
import { alertedService, alertedServiceIn, alertKeyOf, sendAlert } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

test('an alert pages, is acknowledged here, counts without paging again, and its tool resolves it', async () => {
  const { w, anna, send, incidents, policyId } = await alertedService();
  const event = {
    dedupKey: 'disk-1',
    title: 'Disk full',
    severity: 'critical',
    tool: 'Watcher',
    details: { host: 'db-1' },
    links: [{ href: 'https://example.com/runbook', text: 'Runbook' }, { href: 'javascript:alert(1)' }],
  };
  const opened = await send('/events', event);
  expect(opened).toMatchObject({ status: 202, body: { dedupKey: 'disk-1', effect: 'open' } });
  await w.runUntilIdle();
  expect(w.phone.messages.map(({ body }) => body)).toEqual([expect.stringContaining('Disk full')]);
  const { incidentId } = opened.body;
  expect(await incidents()).toMatchObject([
    {
      incidentId,
      kind: 'alert',
      title: 'Disk full',
      severity: 'fatal',
      ruleId: null,
      escalationPolicyId: policyId,
      details: {
        source: { tool: 'Watcher', protocol: 'events' },
        said: { host: 'db-1' },
        links: [{ href: 'https://example.com/runbook', text: 'Runbook' }],
      },
    },
  ]);

  expect((await send('/events', event)).body).toMatchObject({ incidentId, effect: 'count' });
  await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
  expect((await send('/events', event)).body).toMatchObject({ incidentId, effect: 'count' });
  await w.advance({ minutes: 20 });
  expect(w.phone.messages).toHaveLength(1);
  expect((await incidents())[0]).toMatchObject({ status: 'acknowledged', occurrences: 3 });

  const resolved = await send('/events', { action: 'resolve', dedupKey: 'disk-1' });
  expect(resolved).toMatchObject({ status: 202, body: { incidentId, effect: 'resolve' } });
  expect((await incidents())[0]).toMatchObject({
    status: 'resolved',
    resolvedBy: { system: true, via: 'alert', tool: 'Watcher' },
  });
  const { timeline } = await w.expectOk('get_incident', { incidentId });
  expect(timeline.map(({ text }: { text: string }) => text)).toEqual(
    expect.arrayContaining([
      'Triggered by an alert from Watcher: Disk full.',
      expect.stringContaining('Resolved by Watcher.'),
    ]),
  );
  const audit = await w.context.db.sql.rows<{ action: string; via: string; after: object }>(
    "select action, via, after from audit_log where target = $1 and via = 'alert' order by at, id",
    [incidentId],
  );
  expect(audit).toMatchObject([
    { action: 'open_incident', via: 'alert', after: { by: 'Watcher' } },
    { action: 'resolve_incident', via: 'alert', after: { status: 'resolved', by: 'Watcher' } },
  ]);
  expect((await send('/events', { action: 'resolve', dedupKey: 'disk-1' })).body.effect).toBe('nothing');
});

test('several processes that get the same alert at once open one incident, and page once', async () => {
  const { w, serviceId, incidents } = await alertedService();
  const runtime = {
    db: w.context.db,
    clock: w.clock,
    onOutbox: () => w.context.outbox.wake(),
    incidentLimit: { incidents: 20, minutes: 5 },
  };
  const owner = { orgId: w.orgId, serviceId };
  const sent = [
    {
      owner,
      source: { protocol: 'events' as const, name: '' },
      event: { ...bareEvent('trigger', 'same'), title: 'Same', at: w.clock.now() },
    },
  ];
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => takeAlerts(runtime, sent)));
  expect(outcomes.flat().filter(({ effect }) => effect === 'open')).toHaveLength(1);
  expect(new Set(outcomes.flat().map(({ incidentId }) => incidentId)).size).toBe(1);
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(1);
  expect(await incidents()).toHaveLength(1);
});

test('alerts of several services in one transaction open and end by the routes of each, and page the people of each', async () => {
  const first = await alertedService();
  const { w } = first;
  const second = await alertedServiceIn(w);
  const runtime = {
    db: w.context.db,
    clock: w.clock,
    onOutbox: () => w.context.outbox.wake(),
    incidentLimit: { incidents: 20, minutes: 5 },
  };
  const take = async (action: 'trigger' | 'resolve') => {
    const sent = [first, second, first].map(({ serviceId }, index) => ({
      owner: { orgId: w.orgId, serviceId },
      source: { protocol: 'events' as const, name: '' },
      event: { ...bareEvent(action, `disk ${index}`), title: `Disk ${index} full` },
    }));
    return await takeAlerts(runtime, sent);
  };
  expect((await take('trigger')).map(({ effect }) => effect)).toEqual(['open', 'open', 'open']);
  await w.runUntilIdle();
  const paged = w.phone.messages.map(({ to, body }) => `${to} ${/Disk \d/.exec(body)?.[0]}`);
  expect(new Set(paged)).toEqual(
    new Set([`${first.anna.phone} Disk 0`, `${first.anna.phone} Disk 2`, `${second.anna.phone} Disk 1`]),
  );
  expect(paged).toHaveLength(3);
  expect((await second.incidents()).map(({ title }) => title)).toEqual(['Disk 1 full']);
  expect((await take('resolve')).map(({ effect }) => effect)).toEqual(['resolve', 'resolve', 'resolve']);
  expect((await take('resolve')).map(({ effect }) => effect)).toEqual(['nothing', 'nothing', 'nothing']);
});

test('an alert whose transaction ends halfway is taken as if nothing had happened when it is sent again', async () => {
  const { w, serviceId, incidents, send } = await alertedService();
  const owner = { orgId: w.orgId, serviceId };
  const event = { ...bareEvent('trigger', 'killed'), title: 'Killed' };
  const { db } = w.context;
  // The process dies after everything was done and before it was stored.
  const dying: typeof db = Object.create(db, {
    transaction: {
      value: (work: Parameters<typeof db.transaction>[0]) =>
        db.transaction(async (session) => {
          await work(session);
          throw new Error('killed');
        }),
    },
  });
  const runtime = { db: dying, clock: w.clock, onOutbox: () => {}, incidentLimit: { incidents: 20, minutes: 5 } };
  const sent = [{ owner, source: { protocol: 'events' as const, name: '' }, event }];
  await expect(takeAlerts(runtime, sent)).rejects.toThrow('killed');
  expect(await incidents()).toEqual([]);
  expect((await send('/events', { dedupKey: 'killed', title: 'Killed' })).body.effect).toBe('open');
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(1);
});

test('more alerts at once than a service opens incidents for join a storm, which ends with the last of them', async () => {
  const { w, send, incidents } = await alertedService();
  const events = Array.from({ length: 130 }, (_, number) => ({ dedupKey: `k${number}`, title: `Host ${number} down` }));
  const opened = await send('/events', events);
  expect(opened.status).toBe(202);
  expect(opened.body.events.every(({ incidentId }: { incidentId: string | null }) => incidentId !== null)).toBe(true);
  expect(await incidents()).toHaveLength(21);
  const [storm] = await incidents();
  expect(storm).toMatchObject({ kind: 'alert', details: { standsFor: 110 } });
  await send(
    '/events',
    events.map(({ dedupKey }) => ({ action: 'resolve', dedupKey })),
  );
  expect((await incidents()).every(({ status }) => status === 'resolved')).toBe(true);
  await w.runUntilIdle();
});

test('a key that is rotated or revoked is refused, one of another organization opens nothing here', async () => {
  const { w, key, serviceId, send } = await alertedService();
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const { alertKey } = await runOperation(w, rotateAlertKey, owner, { serviceId });
  w.clock.advance({ seconds: 1 });
  expect(await send('/events', { title: 'x' })).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  expect(await sendAlert(w, alertKey, '/events', { title: 'x' })).toMatchObject({ status: 202 });
  const other = await w.forOrganization('Other');
  const theirs = await other.given.service();
  const theirKey = await alertKeyOf(other, theirs.serviceId);
  expect(theirKey).not.toBe(key);
  expect((await sendAlert(w, theirKey, '/events', { dedupKey: 'mine', title: 'y' })).status).toBe(202);
  expect((await other.expectOk('list_incidents', {})).incidents).toHaveLength(1);
  expect((await other.expectOk('list_incidents', {}, { key: w.orgKey })).incidents).toMatchObject([{ title: 'x' }]);
  await runOperation(w, revokeAlertKey, owner, { serviceId });
  w.clock.advance({ seconds: 1 });
  expect((await sendAlert(w, alertKey, '/events', { title: 'x' })).status).toBe(401);
});

test('without the capability oncall the refusal names it', async () => {
  const { w, serviceId, send } = await alertedService();
  await w.expectOk('disable_capability', { serviceId, capability: 'oncall' });
  w.clock.advance({ seconds: 1 });
  const refused = await send('/events', { title: 'x' });
  expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect(refused.body.detail).toContain('oncall');
});

test('every answer is JSON, and nothing is redirected', async () => {
  const { key, send, incidents } = await alertedService();
  for (const path of ['/events', '/events/', '//events//']) {
    expect((await send(path, { dedupKey: path, title: 'x' })).status, path).toBe(202);
  }
  expect(await send('/nothing', {})).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await send('/events', undefined, { method: 'GET' })).toMatchObject({
    status: 405,
    headers: { allow: 'POST' },
  });
  expect((await send('/events', 'no json')).body).toMatchObject({ status: 400, code: 'invalid_input' });
  expect((await send('/events', '')).body).toMatchObject({ status: 400 });
  expect((await send('/events', { title: 'x', severity: 'purple', colour: 1 })).body.errors).toEqual([
    { path: 'colour', message: expect.stringContaining('unknown') },
    { path: 'severity', message: expect.stringContaining('critical') },
  ]);
  expect((await send('/events', { title: 'x' }, { authorization: null })).status).toBe(401);
  const large = { dedupKey: 'large', title: 'T'.repeat(5_000), details: { text: 'é'.repeat(300_000) } };
  const taken = await send('/events', large);
  expect(taken).toMatchObject({ status: 202, body: { cut: ['title'] } });
  expect((await incidents())[0].title).toHaveLength(1_024);
  expect((await send('/events', { title: 'basic' }, { authorization: `Basic ${btoa(`x:${key}`)}` })).status).toBe(202);
  expect((await send('/events', Buffer.alloc(17 * 1024 * 1024, 32))).body).toMatchObject({ status: 413 });
});

test('an alert without word is shown so and pages nobody; where its source asks for it, it is resolved so', async () => {
  const { w, serviceId, send, incidents } = await alertedService();
  const look = () => endSilentAlerts({ db: w.context.db, clock: w.clock, log: w.context.log, onOutbox: () => {} });
  const leased = { dedupKey: 'leased', title: 'Leased', leaseSeconds: 60, tool: 'Prober' };
  const { incidentId } = (await send('/events', leased)).body;
  await w.runUntilIdle();
  w.clock.advance({ seconds: 61 });
  await look();
  await look();
  const texts = async () =>
    (await w.expectOk('get_incident', { incidentId })).timeline.map(({ text }: { text: string }) => text);
  expect((await texts()).filter((text: string) => text.startsWith('No word from Prober'))).toHaveLength(1);
  expect((await incidents())[0].status).toBe('triggered');
  await send('/events', leased);
  expect(await texts()).toContain('Prober reports the alert again.');
  const { alertSources } = storesOf(w.context.db.session());
  const [source] = await alertSources.list(serviceId);
  await alertSources.saveSettings(source!, { onSilence: 'resolve' }, w.clock.now());
  w.clock.advance({ seconds: 61 });
  await look();
  expect((await incidents())[0]).toMatchObject({ status: 'resolved', resolvedBy: { because: 'no_word' } });
  expect((await texts()).at(-1)).toContain('Resolved by Tocsin itself, as Prober says nothing more');
  await w.runUntilIdle();
  expect(w.phone.messages.filter(({ body }) => body.includes('Leased') && !body.includes('resolved'))).toHaveLength(1);
});
