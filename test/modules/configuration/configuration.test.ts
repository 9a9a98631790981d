import { beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { operatorIn } from '#actions/operator.ts';
import { getConsoleOperation } from '#actions/registry.ts';
import { runAction } from '#actions/run_action.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { operationOf } from '#modules/configuration/decide/operation_calls.ts';
import { planJson, planText } from '#modules/configuration/decide/plan_text.ts';
import { pullConfiguration } from '#modules/configuration/pull_configuration.ts';
import { readPlan } from '#modules/configuration/read_plan.ts';
import { uuidOf } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld, type World, world } from '#test/kit/world.ts';

const FILE = `
version: 1
people:
  - { key: anna, name: Anna Vos, email: anna.vos@example.com, phones: ['+31600000001'] }
  - { key: bram, name: Bram, email: bram@example.com, role: editor }
teams:
  - key: payments
    name: Payments
    members:
      - { person: anna }
      - { person: bram, email: false }
schedules:
  - key: primary
    team: payments
    name: Primary
    timezone: Europe/Amsterdam
    layers:
      - name: Week
        rotation: { every: 1, unit: weeks }
        turns: [{ people: [anna] }, { people: [bram] }]
        startsAt: 2026-01-05T09:00
    overrides:
      - { person: bram, startsAt: 2031-02-06T09:00, endsAt: 2031-02-07T09:00 }
policies:
  - key: wake
    team: payments
    name: Wake somebody
    steps:
      - { afterMinutes: 0, channels: [push, sms], onCall: true }
      - { afterMinutes: 10, channels: [call], people: [bram] }
services:
  - key: checkout
    name: checkout
    environment: production
    repository: { owner: northwind, name: checkout }
    policy: wake
    capabilities: [oncall, metrics, exceptions]
    retentionDays: { exceptions: 60 }
    sentry: { publicKey: 9f2c4b7d1e8a4f60b3c5d7e9f1a2b4c6, projectNumber: 4507 }
rules:
  - key: slow
    service: checkout
    name: Slow
    kind: metric_threshold
    config: { metricName: latency_ms, comparator: '>', threshold: 900 }
    policy: wake
    settings: { forMinutes: 5 }
  - { key: errors, service: checkout, name: Errors, kind: exception, config: { minSeverity: error } }
maintenance:
  - key: upgrade
    name: Upgrade
    rule: slow
    timezone: Europe/Amsterdam
    startsAt: 2031-02-06T02:00
    endsAt: 2031-02-06T04:00
dashboards:
  - key: glance
    name: At a glance
    service: checkout
    layout:
      - { type: oncall, title: Now, options: { teamId: payments }, grid: { x: 0, y: 0, w: 4, h: 4 } }
`;

/** People, teams, schedules and policies of the file. */
const OF_TEAMS = FILE.slice(0, FILE.indexOf('services:'));

const shared = await fileWorld();
const organization = async (): Promise<World> => await shared.forOrganization();

const PUBLIC_KEY = '9f2c4b7d1e8a4f60b3c5d7e9f1a2b4c6';
/** The installation has each public key once: every organization has one of its own. */
const publicKeyOf = ({ orgId }: World): string => uuidOf(orgId).replaceAll('-', '');

const EVERYTHING = { phones: true, keys: true };

const ORIGIN = { requestId: 'req_test', address: null };

function toolsOf(w: World) {
  const caller = operatorIn(w.orgId);
  const request = (text: string, prune = false) => {
    return { text: text.replace(PUBLIC_KEY, publicKeyOf(w)), fileName: 'tocsin.yaml', prune };
  };
  return {
    plan: async (text: string, prune = false) => await readPlan(w.context.actions, caller, request(text, prune)),
    apply: async (text: string, options: { prune?: boolean; expects?: string; stopAfter?: number } = {}) =>
      await applyConfiguration(
        w.context.actions,
        caller,
        ORIGIN,
        { ...request(text, options.prune), expects: options.expects },
        {
          onChange: (_change, index) => {
            if (index + 1 === options.stopAfter) throw new Error('the process is killed');
          },
        },
      ),
    pull: async () => (await pullConfiguration(w.context.actions, caller)).replace(publicKeyOf(w), PUBLIC_KEY),
  };
}

describe('a configuration file', () => {
  test('is planned as a diff, applied, and has nothing to change then', async () => {
    const w = await organization();
    const { plan, apply } = toolsOf(w);
    const planned = await plan(FILE);
    expect(planJson(planned, EVERYTHING).changes.map(({ action, kind, key }) => `${action} ${kind} ${key}`)).toContain(
      'create schedule primary',
    );
    expect(planText(planned)).toContain('+ team payments');
    expect((await w.expectOk('list_teams', {})).teams).toEqual([]);

    const done = await apply(FILE, { expects: planned.fingerprint });
    expect(done.applied).toBe(planned.plan.changes.length);
    const again = await plan(FILE);
    expect(planJson(again, EVERYTHING)).toMatchObject({ changes: [], unrecorded: 0, notInFile: [] });

    const [team] = (await w.expectOk('list_teams', {})).teams;
    expect(team).toMatchObject({ name: 'Payments' });
    const [service] = (await w.expectOk('list_services', {})).services;
    const { dsn } = await w.expectOk('get_service', { serviceId: service.serviceId });
    expect(dsn).toContain(`${publicKeyOf(w)}@tocsin.test/4507`);
  });

  test.each(sweep([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 12, 6))(
    'goes on where it was broken off, after change %i or any twelfth one from there',
    async (from) => {
      const whole = await organization();
      const first = toolsOf(whole);
      const total = (await first.apply(FILE)).applied;
      const expected = await first.pull();
      for (let broken = from; broken <= total; broken += 12) {
        const other = await whole.forOrganization(`Broken after ${broken}`);
        const { plan, apply, pull } = toolsOf(other);
        await expect(apply(FILE, { stopAfter: broken })).rejects.toThrow('killed');
        await apply(FILE);
        expect((await plan(FILE)).plan.changes, `broken off after ${broken}`).toEqual([]);
        const pulled = await pull();
        const withoutOwner = (file: string) => {
          const { people, ...rest } = parse(file) as { people: { role: string }[] };
          return { ...rest, people: people.filter(({ role }) => role !== 'owner') };
        };
        expect(withoutOwner(pulled)).toEqual(withoutOwner(expected));
      }
    },
  );

  test('changes nothing that does not stand in the plan', async () => {
    const w = await organization();
    const { apply, plan } = toolsOf(w);
    const by = await w.given.user({ name: 'By hand' });
    const { teamId } = await w.expectOk('create_team', { name: 'By hand' });
    await w.expectOk('add_team_member', { teamId, userId: by.userId, phone: '+31612345699' });
    const rows = async () =>
      await w.context.db.sql.rows<{ action: string; target: string }>(
        'select action, target from audit_log where org_id = $1 order by at, id',
        [w.orgId],
      );
    const [before, { plan: planned }] = [await rows(), await plan(FILE)];
    await apply(FILE);
    const made = (await rows()).slice(before.length).map(({ action }) => action);
    const inPlan = planned.changes.map((change) => operationOf(change));
    expect(made.filter((action) => action !== 'record_keys').toSorted()).toEqual(inPlan.toSorted());
    const { teams } = await w.expectOk('list_teams');
    expect(teams).toContainEqual(expect.objectContaining({ teamId, name: 'By hand' }));
  });

  test('renames by its key, and tells whose shifts change and what pages less', async () => {
    const w = await organization();
    const { plan, apply } = toolsOf(w);
    await apply(FILE);
    const changed = FILE.replace('name: Primary', 'name: First')
      .replace('[{ people: [anna] }, { people: [bram] }]', '[{ people: [bram] }]')
      .replace('afterMinutes: 0, channels: [push, sms]', 'afterMinutes: 5, channels: [push]')
      .replace('name: Errors,', 'name: Errors, enabled: false,');
    const { plan: planned, meaning } = await plan(changed);
    expect(planned.changes.map(({ action, kind, key }) => `${action} ${kind} ${key}`)).toEqual([
      'update schedule primary',
      'update policy wake',
      'update rule errors',
    ]);
    expect(meaning.join('\n')).toMatch(/Primary: from .* Bram is on call instead of Anna Vos/);
    expect(meaning).toEqual(
      expect.arrayContaining([
        'Anna Vos is in no schedule and no step of a policy any more.',
        'Wake somebody: whoever is on call is paged after 5 minutes instead of 0.',
        'Wake somebody: whoever is on call is not paged by sms any more.',
        'Errors is disabled and opens no incident any more.',
      ]),
    );
    await apply(changed);
    expect((await plan(changed)).plan.changes).toEqual([]);
  });

  test('tells whom it leaves on call, or puts there, with a role that may not answer', async () => {
    const w = await organization();
    const { plan, apply } = toolsOf(w);
    await apply(FILE);
    const bram = (by: string) =>
      `Bram is paged by ${by}, but the role viewer may neither acknowledge nor resolve: give them the role responder, or take them out.`;
    const lowered = FILE.replace('role: editor', 'role: viewer');
    const { meaning } = await plan(lowered);
    expect(meaning).toEqual([bram('"Primary", "Wake somebody"')]);
    await apply(lowered);
    expect((await plan(lowered)).meaning).toEqual([]);
    // People who are not in the file stay on call, too, and members of a team whom a step pages.
    const without = lowered
      .replace(/schedules:[^]*?services:/, 'services:')
      .replace('    policy: wake\n', '')
      .replace('    policy: wake\n', '')
      .replace('role: viewer', 'role: editor');
    await apply(without);
    expect((await plan(without.replace('role: editor', 'role: viewer'))).meaning).toEqual([
      bram('"Primary", "Wake somebody"'),
    ]);
    const viewer = '  - { key: vera, name: Vera, email: vera@example.com, role: viewer }\nteams:';
    const joined = FILE.replace('teams:', viewer)
      .replace('- { person: anna }', '- { person: anna }\n      - { person: vera }')
      .replace('channels: [call], people: [bram]', 'channels: [call], teams: [payments]');
    expect((await plan(joined)).meaning).toContain(bram('"Wake somebody"').replace('Bram', 'Vera'));
    const standIn = FILE.replace('teams:', viewer).replace(
      'overrides:',
      'overrides:\n      - { person: vera, startsAt: 2031-03-06T09:00, endsAt: 2031-03-07T09:00 }',
    );
    expect((await plan(standIn)).meaning).toContain(bram('"Primary"').replace('Bram', 'Vera'));
  });

  describe('that makes less than before', () => {
    let w: World;
    let tools: ReturnType<typeof toolsOf>;
    beforeEach(async () => {
      w = await organization();
      tools = toolsOf(w);
      await tools.apply(FILE);
    });
    const smaller = FILE.slice(0, FILE.indexOf('maintenance:'));

    test('deletes what it made only with prune', async () => {
      const left = await tools.plan(smaller);
      expect(left.plan.changes).toEqual([]);
      expect(planJson(left, EVERYTHING).notInFile.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
        'maintenance upgrade',
        'dashboard glance',
      ]);
      await tools.apply(smaller, { prune: true });
      expect((await w.expectOk('list_dashboards', {})).dashboards).toEqual([]);
      expect((await w.expectOk('list_teams', {})).teams).toHaveLength(1);
    });

    test('deletes only what it made', async () => {
      const byHand = await w.expectOk('create_team', { name: 'By hand' });
      const nothing = await tools.apply('version: 1', { prune: true });
      expect(nothing.applied).toBeGreaterThan(0);
      const { teams } = await w.expectOk('list_teams', {});
      expect(teams.map(({ teamId }: { teamId: string }) => teamId)).toEqual([byHand.teamId]);
      expect((await tools.plan('version: 1', true)).plan.changes).toEqual([]);
    });
  });

  test('leaves a team in which somebody has made something by hand', async () => {
    const w = await organization();
    const { plan, apply } = toolsOf(w);
    await apply(OF_TEAMS);
    const [team] = (await w.expectOk('list_teams', {})).teams;
    await w.expectOk('create_schedule', { teamId: team.teamId, name: 'Second' });
    const { plan: planned, notes } = await plan('version: 1', true);
    expect(planned.changes.some(({ kind }) => kind === 'team')).toBe(false);
    expect(notes).toEqual(['The team payments stays: the schedule Second in it was not made by this file.']);
  });

  test('shows what people have changed since, and refuses a plan that is not the reviewed one', async () => {
    const w = await organization();
    const { plan, apply } = toolsOf(w);
    await apply(OF_TEAMS);
    const reviewed = await plan(OF_TEAMS.replace('name: Payments', 'name: Paying'));
    const [team] = (await w.expectOk('list_teams', {})).teams;
    await w.expectOk('update_team', { teamId: team.teamId, name: 'Renamed by hand' });
    expect((await plan(OF_TEAMS)).plan.changes.map(({ fields }) => fields)).toEqual([
      [{ field: 'name', before: 'Renamed by hand', after: 'Payments' }],
    ]);
    await expect(apply(OF_TEAMS, { expects: reviewed.fingerprint })).rejects.toMatchObject({ code: 'conflict' });
    expect((await w.expectOk('list_teams', {})).teams[0].name).toBe('Renamed by hand');
  });

  test('refuses changes by hand where the organization has chosen so', async () => {
    const w = await organization();
    await toolsOf(w).apply(OF_TEAMS);
    const [team] = (await w.expectOk('list_teams', {})).teams;
    await w.context.db.sql.run("update organizations set managed_changes = 'refused' where id = $1", [w.orgId]);
    const refused = await w.call('update_team', { teamId: team.teamId, name: 'By hand' });
    expect(refused).toMatchObject({ status: 409 });
    expect(JSON.stringify(refused.body)).toContain('tocsin.yaml');
    await w.expectOk('create_team', { name: 'Another' });
    await toolsOf(w).apply(OF_TEAMS.replace('name: Payments', 'name: Paying'));
  });

  test('pulled and applied to an empty organization, gives the same answers', async () => {
    const w = await organization();
    const first = toolsOf(w);
    await first.apply(FILE.replace(/    sentry: .*\n/, ''));
    expect((await first.plan(await first.pull())).plan.changes).toEqual([]);
    const other = await w.forOrganization('Empty');
    const second = toolsOf(other);
    await second.apply(await first.pull());
    const answers = async (of: World) => {
      const { teams } = await of.expectOk('list_teams', {});
      const { services } = await of.expectOk('list_services', {});
      const { dashboards } = await of.expectOk('list_dashboards', {});
      const onCall = await of.expectOk('who_is_on_call', { teamId: teams[0].teamId });
      return { teams, services, dashboards, onCall };
    };
    const withoutIds = (value: unknown) =>
      JSON.stringify(value, (name, inner: unknown) => (/(Id|scheduleIds|At)$/.test(name) ? undefined : inner));
    expect(withoutIds(await answers(other))).toBe(withoutIds(await answers(w)));
  });

  test('is planned and applied with an API key that holds the permission of each change', async () => {
    const w = await organization();
    const file = 'version: 1\nteams: [{ key: payments, name: Payments }]\n';
    const ask = async (path: string, body: object, key: string) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const payload = JSON.stringify(body);
      const response = await w.app.inject({ method: 'POST', url: `/api/config/${path}`, headers, payload });
      return { status: response.statusCode, body: response.json() };
    };
    const viewer = await w.given.apiKey({ permissions: ['services:view', 'dashboards:view', 'oncall:view'] });
    const planned = await ask('plan', { file }, viewer);
    expect(planned).toMatchObject({ status: 200, body: { changes: [{ action: 'create', operation: 'create_team' }] } });
    expect(await ask('apply', { file }, viewer)).toMatchObject({ status: 403 });
    expect(await ask('plan', { file: 'version: 1\nteams: [{}]' }, viewer)).toMatchObject({ status: 400 });
    expect(await ask('plan', { file }, await w.given.apiKey({ permissions: ['oncall:edit'] }))).toMatchObject({
      status: 403,
    });
    const { fingerprint } = planned.body;
    expect(await ask('apply', { file, fingerprint }, w.orgKey)).toMatchObject({ status: 200, body: { applied: 1 } });
    expect(await ask('apply', { file, fingerprint }, w.orgKey)).toMatchObject({ status: 409 });
    const people = 'version: 1\npeople: [{ key: nora, name: Nora, email: nora@example.com }]\n';
    expect(await ask('apply', { file: people }, w.orgKey)).toMatchObject({ status: 403 });
    expect((await w.app.inject({ url: '/api/config/schema' })).json()).toMatchObject({ title: expect.any(String) });
    const padded = (mebibytes: number): string => `${file}# ${'x'.repeat(mebibytes * 1024 * 1024 - 1_000)}`;
    expect(await ask('plan', { file: padded(4) }, viewer)).toMatchObject({ status: 200 });
    expect(await ask('plan', { file: padded(5) }, viewer)).toMatchObject({ status: 413 });
  });

  test('adds people in the console only where the organization vouches for their addresses', async () => {
    const w = await world();
    const { openId } = storesOf(w.context.db.session());
    const add = async (email: string, caller: object = {}) => {
      const by = { ...operatorIn(w.orgId), actor: { kind: 'user', userId: w.owner.userId, apiKeyId: null } } as const;
      const person: Caller = { ...by, via: 'console', appliesFile: true, ...caller };
      const origin = { requestId: 'req_vouch', address: null };
      const input = { email, name: 'Nora', role: 'responder' };
      return await runAction(w.context.actions, getConsoleOperation('add_person'), person, input, origin);
    };
    expect(await add('a@alone.example.com')).toMatchObject({ isNew: true });
    await w.given.organization('Another');
    await expect(add('b@example.com')).rejects.toThrow('prove the mail domain');
    const now = w.clock.now();
    const domain = { orgId: w.orgId, domain: 'example.com', token: 't', createdAt: now };
    await openId.saveDomain({ ...domain, provenBy: 'dns', provenAt: now });
    expect(await add('c@example.com')).toMatchObject({ isNew: true });
    await expect(add('d@other.example')).rejects.toThrow('prove the mail domain');
    await expect(add('e@example.com', { appliesFile: undefined })).rejects.toThrow('prove the mail domain');
  });

  test('reaches nothing of another organization', async () => {
    const w = await organization();
    await toolsOf(w).apply(OF_TEAMS);
    const other = await w.forOrganization('Other');
    const stranger = `
version: 1
teams: [{ key: mine, name: Mine }]
policies:
  - { key: p, team: payments, name: P, steps: [{ afterMinutes: 0, channels: [sms], people: [anna] }] }
`;
    await expect(toolsOf(other).plan(stranger)).rejects.toMatchObject({
      faults: [
        { path: 'tocsin.yaml:5 policies[0].team', message: expect.any(String) },
        { path: 'tocsin.yaml:5 policies[0].steps[0].people[0]', message: expect.any(String) },
      ],
    });
  });
});
