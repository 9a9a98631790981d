import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { givenPerson } from '#test/kit/programs/browser.ts';
import { runCommand, tocsin, tocsinWith } from '#test/kit/programs/command_line.ts';
import { world, type World } from '#test/kit/world.ts';

// eslint-disable-next-line typescript/no-explicit-any -- tests look into answers of any shape
async function tocsinJson(w: World, ...args: readonly string[]): Promise<any> {
  const { code, stdout, stderr } = await tocsin(w, ...args, '--json');
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout) as unknown;
}

async function auditOfCommands(w: World, orgId: string) {
  return await w.context.db.sql.rows<{ action: string; target: string; before: unknown; after: unknown }>(
    `select action, target, before, after from audit_log
     where org_id = $1 and via = 'cli' and actor ->> 'kind' = 'system' and result = 'done' order by at, id`,
    [orgId],
  );
}

// The process of all calls starts.
beforeAll(() => runCommand({ args: ['--version'], env: {}, input: '' }));

test('a key with all permissions may do all, and one that could do nothing is refused', async () => {
  const w = await world();
  const viewer = await givenPerson(w, { role: 'viewer', name: 'Vera' });
  const make = (...more: string[]) => tocsinJson(w, 'key', 'create', '--org', w.orgId, '--name', 'n', ...more);
  for (const { key } of await Promise.all([make(), make('--permissions', 'all')])) {
    expect((await w.call('create_service', { name: 'checkout' }, { key })).status).toBe(200);
    expect((await w.call('create_team', { name: 'Payments' }, { key })).status).toBe(200);
  }
  const { key: some } = await make('--permissions', 'services:view, oncall:view');
  expect((await w.call('list_teams', {}, { key: some })).status).toBe(200);
  expect((await w.call('create_team', { name: 'Payments' }, { key: some })).status).toBe(403);
  const narrowed = ['key', 'create', '--name', 'n', '--permissions', 'services:view,services:edit'];
  const [none, lacking] = await Promise.all([
    tocsin(w, 'key', 'create', '--org', w.orgId, '--name', 'n', '--permissions', ''),
    tocsin(w, ...narrowed, '--org', w.orgId, '--user', viewer.email),
  ]);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('Unknown: (nothing)') });
  expect(lacking).toMatchObject({ code: 2, stderr: expect.stringContaining('is viewer, and lacks services:edit') });
});

test('creates organizations, users and keys, and revokes keys at once', async () => {
  const w = await world();
  const { organizationId: org } = await tocsinJson(w, 'org', 'create', '--name', 'Acme');
  const person = ['--email', 'anna@example.com', '--name', 'Anna', '--org', org, '--role', 'responder', '--json'];
  const created = await tocsinWith(w, 'a long password\n', ['user', 'create', ...person]);
  expect(created).toMatchObject({ code: 0, stderr: '' });
  const user = JSON.parse(created.stdout) as Record<string, string>;
  expect(user).toEqual({ userId: expect.stringMatching(/^user_/) as string, organizationId: org });
  const { link } = await tocsinJson(w, 'user', 'password', '--email', 'ANNA@example.com');
  expect(link).toMatch(/\/reset\/tocsin_rst_\w{49}$/);
  const [ofOrg, ofUser] = await Promise.all([
    tocsinJson(w, 'key', 'create', '--org', org, '--permissions', 'services:view', '--name', 'CI'),
    tocsinJson(w, 'key', 'create', '--org', org, '--user', user['userId'] ?? '', '--name', 'Laptop'),
  ]);
  expect(Object.keys(ofOrg).toSorted()).toEqual(['key', 'keyId']);
  const statusFor = async ({ key }: { key: string }) => (await w.call('list_services', {}, { key })).status;
  expect([await statusFor(ofOrg), await statusFor(ofUser)]).toEqual([200, 200]);
  expect(await tocsinJson(w, 'key', 'revoke', ofOrg.keyId)).toMatchObject({ keyId: ofOrg.keyId });
  expect([await statusFor(ofOrg), await statusFor(ofUser)]).toEqual([401, 200]);
});

test('says what is wrong with a call, with status 2', async () => {
  const w = await world();
  const person = ['--email', 'b@example.com', '--name', 'Bram', '--org', 'org_1', '--role', 'owner'];
  const calls: (readonly [args: readonly string[], says: RegExp, input?: string])[] = [
    [['org', 'create'], /required option '--name <name>' not specified/],
    [['org', 'create', '--name', ' '], /must not be blank/],
    [['user', 'create', ...person], /at least 12 characters/, 'short'],
    [['user', 'create', ...person], /give the password by standard input/],
    [['user', 'create', ...person, '--password', 'a long password'], /can see a password[\s\S]*no organization org_1/],
    [['user', 'create', ...person], /there is no organization org_1/, 'a long password'],
    [['user', 'create', ...person], /commonest/, 'Password1234'],
    [['user', 'password', '--email', 'nobody@example.com'], /there is no user nobody@example.com/],
    [['key', 'create', '--org', 'org_1', '--permissions', 'fly', '--name', 'n'], /Unknown: fly/],
    [['key', 'revoke', 'apikey_1'], /no key apikey_1/],
    [['fly'], /unknown command 'fly'/],
  ];
  const answers = await Promise.all(calls.map(([args, , input = '']) => tocsinWith(w, input, args)));
  for (const [index, [args, says]] of calls.entries()) {
    const stderr = expect.stringMatching(says) as string;
    expect({ args, ...answers[index] }).toMatchObject({ code: 2, stderr });
  }
});

test('a member is never changed by "user create", and the only owner stays one', async () => {
  const w = await world();
  const person = ['user', 'create', '--name', 'Someone else', '--role', 'viewer'];
  const create = (email: string, org = w.orgId) =>
    tocsinWith(w, 'a long password', [...person, '--email', email, '--org', org]);
  const before = await w.context.db.sql.row('select name, password_hash from users where id = $1', [w.owner.userId]);
  expect(await create(w.owner.email)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/is a member of org_\w+ already, as owner; nothing was changed.*tocsin user role/),
  });
  const role = ['user', 'role', '--email', w.owner.email, '--org', w.orgId, '--role'];
  expect(await tocsin(w, ...role, 'viewer')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the last owner can neither leave nor change to a lower role'),
  });
  const other = await w.given.organization('Other');
  expect(await create(w.owner.email, other.orgId)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('its name and password are as they were'),
  });
  expect(await w.context.db.sql.row('select name, password_hash from users where id = $1', [w.owner.userId])).toEqual(
    before,
  );
  const { users } = await tocsinJson(w, 'user', 'list');
  const ownUsers = users.filter(({ userId }: { userId: string }) => userId === w.owner.userId);
  expect(ownUsers.map(({ role: held }: { role: string }) => held).toSorted()).toEqual(['owner', 'viewer']);
});

test('every change by the command line is in the audit log of its organization', async () => {
  const w = await world();
  const { organizationId: org } = await tocsinJson(w, 'org', 'create', '--name', 'Beta');
  const person = ['--email', 'anna@example.com', '--name', 'Anna', '--org', org, '--role', 'editor', '--json'];
  const created = await tocsinWith(w, 'a long password\r\n', ['user', 'create', ...person]);
  const { userId } = JSON.parse(created.stdout) as { userId: string };
  await tocsinJson(w, 'user', 'role', '--email', 'anna@example.com', '--org', org, '--role', 'owner');
  const { keyId, key } = await tocsinJson(w, 'key', 'create', '--org', org, '--user', userId, '--name', 'Laptop');
  const team = await w.expectOk('create_team', { name: 'Payments' }, { key });
  const turns = {
    rotationType: 'daily',
    rotationConfig: { userIds: [userId] },
    timezone: 'UTC',
    name: 'Days',
    teamId: team.teamId,
  };
  const schedule = await w.expectOk('create_schedule', turns, { key });
  await tocsinJson(w, 'user', 'password', '--email', 'anna@example.com');
  await tocsinJson(w, 'calendar', 'create', '--schedule', schedule.scheduleId);
  await tocsinJson(w, 'calendar', 'revoke', '--schedule', schedule.scheduleId);
  await tocsinJson(w, 'key', 'revoke', keyId);
  const log = await auditOfCommands(w, org);
  expect(log.map(({ action, target }) => [action, target])).toEqual([
    ['create_organization', org],
    ['create_user', userId],
    ['change_role', userId],
    ['create_api_key', keyId],
    ['request_password_reset', userId],
    ['create_calendar_feed', schedule.scheduleId],
    ['revoke_calendar_feed', schedule.scheduleId],
    ['revoke_api_key', keyId],
  ]);
  expect(log[2]).toMatchObject({ before: { role: 'editor' }, after: { role: 'owner' } });
  expect(JSON.stringify(log)).not.toMatch(new RegExp(`${key}|a long password|tocsin_rst`));
});

test('lists organizations, people and keys with their ids, and tells its version', async () => {
  const w = await world();
  const bram = await w.given.user({ name: 'Bram' });
  const [orgs, users, keys, text, version, versionJson] = await Promise.all([
    tocsinJson(w, 'org', 'list'),
    tocsinJson(w, 'user', 'list', '--org', w.orgId),
    tocsinJson(w, 'key', 'list', '--org', w.orgId),
    tocsin(w, 'user', 'list'),
    tocsin(w, '--version'),
    tocsinJson(w, '--version'),
  ]);
  expect(orgs.organizations).toEqual([{ organizationId: w.orgId, name: 'Acme', createdAt: expect.any(String) }]);
  const { userId, name, email } = bram;
  expect(users.users).toContainEqual({ userId, name, email, organizationId: w.orgId, role: 'responder' });
  expect(keys.keys).toContainEqual(
    expect.objectContaining({ keyId: expect.stringMatching(/^apikey_/), user: { userId, name }, permissions: null }),
  );
  expect(JSON.stringify(keys)).not.toContain(bram.key);
  expect(text.stdout).toContain(userId);
  expect(version.stdout).toMatch(/^tocsin \d+\.\d+\.\d+ \(time zone rules \d{4}[a-z]\)\n$/);
  expect(versionJson).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    timeZoneRules: expect.stringMatching(/^\d{4}[a-z]$/),
  });
});

test('"audit verify" ends with 0 for whole logs, and with 1 for a broken one, whose first broken row it names', async () => {
  const w = await world();
  await w.expectOk('create_team', { name: 'Platform' });
  await w.expectOk('create_team', { name: 'Payments' });
  const { auditLogs } = await tocsinJson(w, 'audit', 'verify');
  const noted = (auditLogs as { head: string }[])[0]!.head;
  expect(auditLogs).toEqual([
    { organizationId: w.orgId, kind: 'whole', rows: 2, head: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
  await w.expectOk('create_team', { name: 'Search' });
  const expecting = (hash: string) => tocsin(w, 'audit', 'verify', '--org', w.orgId, '--expect', hash);
  expect(await expecting(noted)).toMatchObject({ code: 0, stdout: expect.stringContaining('3') });
  expect(await expecting('0'.repeat(64))).toMatchObject({ code: 1, stdout: expect.stringContaining('was cut off') });
  expect(await tocsin(w, 'audit', 'verify', '--expect', noted)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--org'),
  });
  const { sql } = w.context.db;
  const row = await sql.row<{ id: string }>('select audit_id as id from audit_links where number = 2');
  await sql.run('alter table audit_log disable trigger audit_log_no_update');
  await sql.run(`update audit_log set action = 'delete_team' where id = $1`, [row!.id]);
  const { code, stdout } = await tocsin(w, 'audit', 'verify', '--org', w.orgId);
  expect([code, stdout]).toEqual([1, expect.stringContaining(`BROKEN  at row 2, ${row!.id}: it was changed`)]);
});

test('"alert-key" shows, rotates and revokes the key of a service, and lets its last route page a policy', async () => {
  const w = await world();
  const { serviceId } = await w.given.service();
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [w.owner.userId] }];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Wake', steps });
  const command = (name: string, ...more: string[]) =>
    tocsinJson(w, 'alert-key', name, '--service', serviceId, ...more);
  const { alertKey } = await command('show', '--policy', policyId);
  expect(alertKey).toMatch(/^[a-z0-9]{32}$/);
  expect(await command('show')).toMatchObject({ serviceId, alertKey });
  const routes = await w.context.db.sql.rows('select policy_id from alert_routes where service_id = $1', [serviceId]);
  expect(routes).toEqual([{ policy_id: policyId }]);
  const { alertKey: next } = await command('rotate');
  expect(next).toMatch(/^[a-z0-9]{32}$/);
  expect(next).not.toBe(alertKey);
  expect(await command('revoke')).toMatchObject({ serviceId, revoked: true });
  expect(await tocsin(w, 'alert-key', 'show', '--service', 'service_unknown')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no service service_unknown'),
  });
  const audited = (await auditOfCommands(w, w.orgId)).map(({ action }) => action);
  expect(new Set(audited)).toEqual(new Set(['show_alert_key', 'rotate_alert_key', 'revoke_alert_key']));
});

test('the guide of moving is followed as it is written', async () => {
  const commands = [...readFileSync('src/docs/moving.md', 'utf8').matchAll(/^npm run --silent tocsin -- ([^#\n]+)/gm)];
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'moving-')), 'acme');
  const [exported, imported] = commands.map(([, line = '']) =>
    [...line.replace('/tmp/acme', folder).matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word),
  );
  const [from, to] = [await world(), await world({ settings: { appSecret: 'the secret of another installation' } })];
  await from.given.service({ name: 'shop' });
  expect(await tocsin(from, ...(exported ?? []))).toMatchObject({ code: 0, stderr: '' });
  expect(await tocsin(from, ...(imported ?? []))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--as-copy'),
  });
  const arrived = await tocsin(to, ...(imported ?? []));
  expect(arrived).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Imported Acme as org_') });
  expect(await tocsin(from, ...(imported ?? []), '--as-copy')).toMatchObject({ code: 0, stderr: '' });
  rmSync(path.dirname(folder), { recursive: true });
});
