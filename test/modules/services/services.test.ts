import { expect, test } from 'vitest';

import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { givenIncidents } from '#test/kit/many_incidents.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

test('a new service has no capability enabled, default retention and credentials of its own', async () => {
  const w = await shared.forOrganization();
  const service = await w.expectOk('create_service', { name: 'checkout', environment: 'production' });
  expect(service).toMatchObject({
    name: 'checkout',
    environment: 'production',
    scmOwner: null,
    scmRepo: null,
    capabilities: [],
    retentionDays: { metrics: 30, exceptions: 90, oncall: 400 },
    billing: [],
    alertRules: [],
  });
  expect(service.ingestionKey).toMatch(/^tocsin_ing_[0-9A-Za-z]{49}$/);
  expect(service.dsn).toMatch(/^http:\/\/[0-9a-f]{32}@tocsin\.test\/\d+$/);
  expect(await w.expectOk('get_service', { serviceId: service.serviceId })).toEqual(service);
});

test('enabling a capability twice charges once', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service({ capabilities: ['metrics'] });
  await w.expectOk('enable_capability', { serviceId, capability: 'metrics' });
  const { billing } = await w.expectOk('get_service', { serviceId });
  expect(billing).toHaveLength(1);
  expect(billing[0]).toMatchObject({ capability: 'metrics', amountCents: 100, currency: 'EUR' });
});

test('twenty concurrent enables charge once', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service({ capabilities: [] });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => w.call('enable_capability', { serviceId, capability: 'oncall' })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect((await w.expectOk('get_service', { serviceId })).billing).toHaveLength(1);
});

test('enabling again before the renewal continues the running period without a second charge', async () => {
  const w = await shared.forOrganization();
  w.clock.set('2027-01-31T10:00:00Z');
  const { serviceId } = await w.given.service({ capabilities: ['metrics'] });
  await w.expectOk('disable_capability', { serviceId, capability: 'metrics' });
  w.clock.set('2027-02-20T10:00:00Z');
  await w.expectOk('enable_capability', { serviceId, capability: 'metrics' });
  const { billing } = await w.expectOk('get_service', { serviceId });
  expect(billing).toMatchObject([{ startsAt: '2027-01-31T10:00:00.000Z', endsAt: '2027-02-28T10:00:00.000Z' }]);
});

test('rotating the key replaces both credentials', async () => {
  const w = await shared.forOrganization();
  const before = await w.given.service();
  const after = await w.expectOk('rotate_ingest_key', { serviceId: before.serviceId });
  expect(after.ingestionKey).not.toBe(before.ingestionKey);
  expect(after.dsn).not.toBe(before.dsn);
});

test('a service of another organization is not there', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service();
  const other = await w.given.organization('Other');
  const foreign = await w.call('get_service', { serviceId }, { key: other.orgKey });
  const missing = await w.call(
    'get_service',
    { serviceId: 'service_00000000000000000000000000' },
    { key: other.orgKey },
  );
  expect(foreign.status).toBe(404);
  expect({ ...foreign.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
});

test('a deleted service is gone at once', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service();
  expect(await w.expectOk('delete_service', { serviceId })).toEqual({ deleted: true, serviceId });
  expect((await w.call('get_service', { serviceId })).status).toBe(404);
  expect((await w.expectOk('list_services')).services).toEqual([]);
});

test('a change that alters nothing leaves updatedAt and the audit log alone', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service();
  const before = await w.expectOk('get_service', { serviceId });
  const entries = () => w.context.db.sql.row<{ n: number }>('select count(*)::int as n from audit_log');
  const countBefore = await entries();
  w.clock.advance({ minutes: 1 });
  const after = await w.expectOk('update_service', { serviceId, name: before.name });
  expect(after.updatedAt).toBe(before.updatedAt);
  expect(await entries()).toEqual(countBefore);
  expect((await w.expectOk('update_service', { serviceId, environment: 'x' })).updatedAt).not.toBe(before.updatedAt);
});

test('each reader of the credentials of a service is in the audit log once an hour, however often they read', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service();
  const viewer = await w.given.user({ role: 'viewer' });
  const reads = async () => {
    const rows = await w.context.db.sql.rows<{ who: string }>(
      `select coalesce(actor->>'userId', 'organization') as who from audit_log
       where action = 'get_service' and target = $1 and result = 'done' and via = 'rest' order by at, id`,
      [serviceId],
    );
    return rows.map(({ who }) => who);
  };
  const read = (key: string) => w.expectOk('get_service', { serviceId }, { key });
  await Promise.all([read(viewer.key), read(viewer.key), read(viewer.key)]);
  await read(w.orgKey);
  expect((await reads()).toSorted()).toEqual(['organization', viewer.userId].toSorted());
  w.clock.advance({ minutes: 59 });
  await read(viewer.key);
  expect(await reads()).toHaveLength(2);
  w.clock.advance({ minutes: 2 });
  await read(viewer.key);
  expect(await reads()).toHaveLength(3);
  await w.expectOk('list_services');
  await w.expectOk('list_incidents');
  expect(await reads()).toHaveLength(3);
  const rows = JSON.stringify(await w.context.db.sql.rows('select * from audit_log'));
  const { ingestionKey, dsn } = await read(w.orgKey);
  for (const secret of [ingestionKey, new URL(dsn).username]) expect(rows).not.toContain(secret);
});

test('the console masks credentials, and shows them on request; each request is in the audit log', async () => {
  const w = await shared.forOrganization();
  const { serviceId, ingestionKey, dsn } = await w.given.service();
  const { userId, email } = await givenPerson(w, { role: 'viewer' });
  const browser = await signedIn(w, email);
  const invoke = async (name: string) =>
    (await browser.post(`/organizations/${w.orgId}/actions/${name}`, { serviceId })).body.result;
  expect(await invoke('get_service')).toMatchObject({
    credentials: 'masked',
    ingestionKey: 'tocsin_ing_********',
    dsn: dsn.replace(/\/\/\w+@/, '//********@'),
  });
  const reveals = () =>
    w.context.db.sql.rows(
      `select actor->>'userId' as "userId", via, target, after, address from audit_log
       where org_id = $1 and action in ('get_service', 'reveal_ingest_key')`,
      [w.orgId],
    );
  expect(await reveals()).toEqual([]);
  for (let times = 0; times < 2; times += 1) {
    expect(await invoke('reveal_ingest_key')).toEqual({ serviceId, ingestionKey, dsn });
  }
  const row = { userId, via: 'console', target: serviceId, after: { credentials: 'shown' }, address: '192.0.2.1' };
  expect(await reveals()).toEqual([row, row]);
});

test('keeping data for less time deletes it, which needs what deleting a service needs; for longer it does not', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service({ capabilities: ['metrics'] });
  const edits = await w.given.apiKey({ permissions: ['services:view', 'services:edit'] });
  const set = (retentionDays: number, key: string) =>
    w.call('set_retention', { serviceId, capability: 'metrics', retentionDays }, { key });
  expect(await set(60, edits)).toMatchObject({ status: 200 });
  const refused = await set(59, edits);
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([403, expect.stringContaining('services:delete')]);
  expect(await w.expectOk('get_service', { serviceId })).toMatchObject({ retentionDays: { metrics: 60 } });
  const deletes = await w.given.apiKey({ permissions: ['services:view', 'services:edit', 'services:delete'] });
  expect(await set(7, deletes)).toMatchObject({ status: 200 });
});

test('a team owns a service until it is deleted, and a team of another organization cannot', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service({ name: 'checkout' });
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const { orgKey: key } = await w.given.organization('Globex');
  const { teamId: foreign } = await w.expectOk('create_team', { name: 'Theirs' }, { key });
  const browser = await signedIn(w, (await givenPerson(w, { role: 'owner' })).email);
  const facts = { name: 'checkout', environment: null, scmOwner: null, scmRepo: null };
  const assign = (wanted: string | null, before: string | null) =>
    browser.invoke(w.orgId, 'edit_service', {
      serviceId,
      ...facts,
      teamId: wanted,
      basedOn: { ...facts, teamId: before },
    });
  expect(await assign(foreign, null)).toMatchObject({ status: 404 });
  expect(await assign(teamId, null)).toMatchObject({ status: 200 });
  expect(await assign(null, foreign)).toMatchObject({ status: 409 });
  const owned = { team: { teamId, name: 'Payments' } };
  expect(await w.expectOk('get_service', { serviceId })).toMatchObject(owned);
  expect(await w.expectOk('list_services')).toMatchObject({ services: [owned] });
  await w.expectOk('delete_team', { teamId });
  expect(await w.expectOk('get_service', { serviceId })).toMatchObject({ team: null });
});

test('who is on call for a service is told of its own team and of those that rules and routes page', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service({ name: 'checkout' });
  const dana = await w.given.user({ name: 'Dana', role: 'responder' });
  const eli = await w.given.user({ name: 'Eli', role: 'viewer' });
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const { teamId: paged } = await w.expectOk('create_team', { name: 'Platform' });
  await w.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig: { userIds: [dana.userId] } });
  await w.expectOk('create_schedule', { teamId: paged, name: 'Ops', rotationConfig: { userIds: [eli.userId] } });
  const steps = [{ afterMinutes: 0, channels: ['email'], useSchedule: true }];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId: paged, name: 'Wake', steps });
  const rule = { serviceId, name: 'New', kind: 'exception', config: {}, escalationPolicyId: policyId };
  const { ruleId } = await w.expectOk('create_alert_rule', rule);
  await w.context.db.sql.run('update services set team_id = $1 where id = $2', [teamId, serviceId]);
  const browser = await signedIn(w, (await givenPerson(w, { role: 'viewer' })).email);
  const read = async () => (await browser.invoke(w.orgId, 'get_service_on_call', { serviceId })).body.result.teams;
  const payments = {
    teamId,
    name: 'Payments',
    isOwner: true,
    onCall: [{ userId: dana.userId, name: 'Dana', mayAnswer: true }],
  };
  expect(await read()).toMatchObject([
    { ...payments, policies: [] },
    {
      name: 'Platform',
      isOwner: false,
      policies: [{ policyId, name: 'Wake' }],
      onCall: [{ name: 'Eli', mayAnswer: false }],
    },
  ]);
  await w.expectOk('update_alert_rule', { ruleId, enabled: false });
  expect(await read()).toMatchObject([payments]);
});

test('the list of services has the rules of each, oldest first, and counts its open incidents', async () => {
  const w = await shared.forOrganization();
  const till = await w.given.service({ name: 'till' });
  const shop = await w.given.service({ name: 'shop' });
  const added = async (name: string) =>
    (await w.expectOk('create_alert_rule', { serviceId: till.serviceId, name, kind: 'exception', config: {} })).ruleId;
  const [second, first] = [await added('Zeal'), await added('Alarm')];
  await w.expectOk('update_alert_rule', { ruleId: first, enabled: false });
  for (const [status, count] of [
    ['triggered', 2],
    ['acknowledged', 1],
    ['resolved', 3],
  ] as const) {
    await givenIncidents(w, till.serviceId, { count, status });
  }
  const rule = { kind: 'exception', enabled: true };
  expect(await w.expectOk('list_services')).toMatchObject({
    total: 2,
    services: [
      {
        serviceId: till.serviceId,
        rules: [
          { ...rule, ruleId: second, name: 'Zeal' },
          { ...rule, ruleId: first, name: 'Alarm', enabled: false },
        ],
        openIncidents: { triggered: 2, acknowledged: 1 },
      },
      { serviceId: shop.serviceId, rules: [], openIncidents: { triggered: 0, acknowledged: 0 } },
    ],
  });
  const key = await w.given.apiKey({ permissions: ['services:view'] });
  const { services } = await w.expectOk('list_services', {}, { key });
  expect(services).toMatchObject([{ openIncidents: null }, { openIncidents: null }]);
});

test('lists show what belongs to the services of a team, or of the teams of whoever looks', async () => {
  const w = await shared.forOrganization();
  const [till, shop] = [await w.given.service({ name: 'till' }), await w.given.service({ name: 'shop' })];
  const { userId, email } = await givenPerson(w, { role: 'responder' });
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  await w.expectOk('add_team_member', { teamId, userId });
  await w.context.db.sql.run('update services set team_id = $1 where id = $2', [teamId, till.serviceId]);
  for (const { serviceId } of [till, shop]) {
    await w.expectOk('create_alert_rule', { serviceId, name: 'New', kind: 'exception', config: {} });
    await givenIncidents(w, serviceId, { count: 1, status: 'triggered' });
    await groupAndStore(w, serviceId, [eventAt(w, {})]);
  }
  const browser = await signedIn(w, email);
  const read = async (action: string, input: object) => (await browser.invoke(w.orgId, action, input)).body.result;
  const ofTill = { serviceId: till.serviceId };
  for (const ownedBy of ['my_teams', teamId]) {
    expect(await read('search_services', { ownedBy })).toMatchObject({ services: [ofTill], total: 1 });
    expect(await read('search_incidents', { ownedBy })).toMatchObject({ incidents: [ofTill] });
    expect(await read('count_incidents', { ownedBy })).toMatchObject({ triggered: 1 });
    expect(await read('search_rules', { ownedBy })).toMatchObject({ rules: [ofTill] });
    expect(await read('browse_exception_groups', { assignedTo: ownedBy })).toMatchObject({ groups: [ofTill] });
  }
  // What somebody else works on is not theirs, though their team owns the service.
  await w.context.db.sql.run('update exception_groups set assigned_user_id = $1', [(await w.given.user()).userId]);
  expect(await read('browse_exception_groups', { assignedTo: 'my_teams' })).toMatchObject({ groups: [] });
});
