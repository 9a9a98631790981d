import { describe, expect, onTestFinished, test } from 'vitest';

import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { pullConfiguration } from '#modules/configuration/pull_configuration.ts';
import { readPlan } from '#modules/configuration/read_plan.ts';
import { type World, world } from '#test/kit/world.ts';

const key = (character: string): string => character.repeat(32);

const fileWith = (publicKey: string, ...furtherKeys: readonly string[]): string => `
version: 1
services:
  - key: shop
    name: shop
    capabilities: [exceptions]
    sentry: { publicKey: '${publicKey}', projectNumber: 4507, furtherKeys: ${JSON.stringify(furtherKeys)} }
`;

function toolsOf(w: World) {
  const caller = operatorIn(w.orgId);
  const request = (text: string) => ({ text, fileName: 'tocsin.yaml', prune: false });
  return {
    apply: async (text: string) =>
      await applyConfiguration(w.context.actions, caller, { requestId: 'req_test', address: null }, request(text), {}),
    changesOf: async (text: string) =>
      (await readPlan(w.context.actions, caller, request(text))).plan.changes.map(({ kind, part }) => [
        kind,
        part?.part,
      ]),
    pull: async () => await pullConfiguration(w.context.actions, caller),
    /** Status of an event that an SDK sends with this key. */
    async send(publicKey: string): Promise<number> {
      w.clock.advance({ seconds: 3 });
      const answer = await w.app.inject({
        method: 'POST',
        url: `/api/4507/store/?sentry_version=7&sentry_key=${publicKey}`,
        payload: { message: 'broken', level: 'error' },
      });
      return answer.statusCode;
    },
  };
}

describe('a service that keeps several public keys of a project of Sentry', () => {
  test('takes events by each of them, and stands in the file with all', async () => {
    const w = await world();
    const { apply, changesOf, pull, send } = toolsOf(w);
    const file = fileWith(key('a'), key('c'), key('b'));
    await apply(file);
    expect(await changesOf(file)).toEqual([]);
    expect([await send(key('a')), await send(key('b')), await send(key('c')), await send(key('d'))]).toEqual([
      200, 200, 200, 401,
    ]);
    const pulled = await pull();
    for (const kept of [key('a'), key('b'), key('c')]) expect(pulled).toContain(kept);
    const [{ serviceId }] = (await w.expectOk('list_services', {})).services;
    expect((await w.expectOk('get_service', { serviceId })).dsn).toContain(`${key('a')}@`);
  });

  test('takes no more events by a key that the file leaves out, and changes which one its DSN has', async () => {
    const w = await world();
    const { apply, changesOf, send } = toolsOf(w);
    await apply(fileWith(key('1'), key('2'), key('3')));
    expect(await changesOf(fileWith(key('2'), key('1')))).toEqual([['service', 'dsn']]);
    await apply(fileWith(key('2'), key('1')));
    expect([await send(key('1')), await send(key('2')), await send(key('3'))]).toEqual([200, 200, 401]);
    await apply(fileWith(key('2'), key('1'), key('3')));
    expect(await send(key('3'))).toBe(200);
  });

  test('loses all of them when its keys are rotated', async () => {
    const w = await world();
    const { apply, send } = toolsOf(w);
    await apply(fileWith(key('5'), key('6')));
    const [{ serviceId }] = (await w.expectOk('list_services', {})).services;
    await w.expectOk('rotate_ingest_key', { serviceId });
    expect([await send(key('5')), await send(key('6'))]).toEqual([401, 401]);
  });

  test('never takes the key of another service, of whatever organization', async () => {
    const w = await world();
    await toolsOf(w).apply(fileWith(key('a'), key('b')));
    const other = toolsOf(await w.forOrganization('Other'));
    for (const taken of [key('a'), key('b')])
      await expect(other.apply(fileWith(key('e'), taken))).rejects.toMatchObject({ code: 'conflict' });
    await expect(other.apply(fileWith(key('b')))).rejects.toMatchObject({ code: 'conflict' });
  });
});
test('a key that is revoked or narrowed while its file is applied makes no further change', async () => {
  const w = await world();
  await w.context.db.sql.run(`
    create function change_key() returns trigger language plpgsql as $$ begin
      if new.name = 'Revoked' then update api_keys set revoked_at = now() where name = 'test' and org_id = new.org_id; end if;
      if new.name = 'Narrowed' then
        update api_keys set permissions = '{services:view,dashboards:view,oncall:view}'
        where name = 'test' and org_id = new.org_id;
      end if;
      return null;
    end $$`);
  await w.context.db.sql.run(
    'create trigger change_key after insert on teams for each row execute function change_key()',
  );
  onTestFinished(async () => {
    await w.context.db.sql.run('drop function change_key cascade');
  });
  for (const [name, message] of [
    ['Revoked', /change 3 of 3 .*unknown, revoked or expired.*The 2 before it are made/],
    ['Narrowed', /change 3 of 3 .*/],
  ] as const) {
    const home = await w.forOrganization(name);
    const file = JSON.stringify({
      version: 1,
      teams: ['First', name, 'Third'].map((team) => ({ key: team.toLowerCase(), name: team })),
    });
    const answer = await w.app.inject({
      method: 'POST',
      url: '/api/config/apply',
      headers: { authorization: `Bearer ${await home.given.apiKey()}`, 'content-type': 'application/json' },
      payload: { file },
    });
    expect(answer.statusCode).toBeGreaterThanOrEqual(401);
    expect(JSON.stringify(answer.json())).toMatch(message);
    const { teams } = await home.expectOk('list_teams');
    expect(teams.map((team: { name: string }) => team.name)).toEqual(['First', name]);
  }
});

test('a file says which team owns a service, leaves it where it says nothing, and reads it back', async () => {
  const w = await world();
  const { apply, changesOf, pull } = toolsOf(w);
  const file = (team: string) => `
version: 1
teams: [{ key: platform, name: Platform }, { key: storage, name: Storage }]
services: [{ key: shop, name: shop${team} }]
`;
  await apply(file(', team: platform'));
  const owner = async () => (await w.expectOk('list_services', {})).services[0].team?.name ?? null;
  expect(await owner()).toBe('Platform');
  expect(await changesOf(file(', team: platform'))).toEqual([]);
  expect(await changesOf(file(''))).toEqual([]);
  expect(await changesOf(file(', team: storage'))).toEqual([['service', 'team']]);
  await apply(file(', team: storage'));
  expect(await owner()).toBe('Storage');
  expect(await pull()).toMatch(/name: shop\n\s+team: storage/);
  await expect(apply(file(', team: nobody'))).rejects.toThrow(/services\[0\]\.team/);
});
