import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { PERMISSIONS, type Permission, type Role, ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import { storesOf } from '#modules/stores.ts';
import { CONTRACT } from '#test/contract/action_api.ts';
import { buildFixture, EACH_ACTION_IN_TURN, exampleBody } from '#test/contract/fixture.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld, world, type World } from '#test/kit/world.ts';
import { happenings, hurry } from '#test/kit/when.ts';

const INFO = { name: 'test', version: '1.0.0' };

const w = await fileWorld();
let endpoint = new URL('/api/mcp', await w.app.listen({ port: 0, host: '127.0.0.1' }));

const withKey = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });

/** Methods of both lines of clients once they are connected. */
interface Connected {
  listTools(): Promise<{ tools: { name: string }[] }>;
  // eslint-disable-next-line typescript/no-explicit-any -- the two lines have types of their own for the same answer
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<any>;
}

async function connectOld(key: string): Promise<Connected> {
  const client = new OldClient(INFO);
  onTestFinished(() => client.close());
  await client.connect(new OldTransport(endpoint, withKey(key)));
  return client;
}

async function connectModern(key: string, mode: 'legacy' | 'auto' | { pin: string }): Promise<ModernClient> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  await client.connect(new ModernTransport(endpoint, withKey(key)));
  return client;
}

const CLIENTS: [string, (key: string) => Promise<Connected>][] = [
  ['the client of SDK 1', connectOld],
  ['the client of SDK 2 as of 2025-11-25', (key) => connectModern(key, 'legacy')],
  ['the client of SDK 2, negotiating', (key) => connectModern(key, 'auto')],
  ['the client of SDK 2 as of 2026-07-28', (key) => connectModern(key, { pin: '2026-07-28' })],
];

const namesOf = async (client: Connected) => (await client.listTools()).tools.map(({ name }) => name);

/** The tools for these permissions, in the order of the contract. */
const toolsFor = (permissions: readonly Permission[]) =>
  CONTRACT.filter(({ permission }) => permissions.includes(permission)).map(({ action }) => action);

describe('an organization that has one of everything', () => {
  let organization: Awaited<ReturnType<World['given']['organization']>>;
  let fixture: Awaited<ReturnType<typeof buildFixture>>;
  beforeEach(async () => {
    organization = await w.given.organization();
    fixture = await buildFixture(w, organization);
  });

  // Between them the clients call each tool; in the proof each client does.
  test.each(CLIENTS)(
    'is known to %s, which lists every tool and calls its own, whose results fit what was announced',
    async (named, connect) => {
      const client = await connect(organization.orgKey);
      expect(await namesOf(client)).toEqual(toolsFor(PERMISSIONS));
      const place = CLIENTS.findIndex(([other]) => other === named);
      for (const [name, action] of sweep(EACH_ACTION_IN_TURN, CLIENTS.length, place)) {
        const input = exampleBody(action, fixture);
        if (name === 'add_team_member') input['userId'] = (await w.given.user({ orgId: organization.orgId })).userId;
        const answer = await client.callTool({ name, arguments: input });
        expect(answer.isError, `${name} answered ${JSON.stringify(answer.content)}`).toBeUndefined();
        expect(Object.keys(answer.structuredContent)).toEqual(['result']);
      }
    },
  );
});

test.each(CLIENTS)('%s gets refusals as results, and an unknown tool as an error', async (_, connect) => {
  const client = await connect(await w.given.apiKey({ permissions: ['oncall:view'] }));
  await client.listTools();
  const refused = await client.callTool({ name: 'who_is_on_call', arguments: { teamId: 'team_nowhere' } });
  expect(refused).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^not_found: .*\nlist_teams /) }],
  });
  await expect(client.callTool({ name: 'who_is_on_cal', arguments: {} })).rejects.toThrow(
    /did you mean who_is_on_call/,
  );
});

test.each(CLIENTS)('%s is told to sign in when its key is bad', async (_, connect) => {
  await expect(connect('tocsin_key_bad')).rejects.toThrow(/401|unauthorized/i);
});

test.each(CLIENTS)(
  '%s sees other tools on the very next request after a change of role or key',
  async (named, connect) => {
    const { key, userId } = await w.given.user({ role: 'owner' });
    const client = await connect(key);
    const setRole = (role: Role) =>
      storesOf(w.context.db.session()).people.setMembership(w.orgId, userId, role, w.clock.now());
    const place = CLIENTS.findIndex(([other]) => other === named);
    for (const role of sweep(['owner', 'responder', 'viewer', 'editor'] as const, 2, place % 2)) {
      await setRole(role);
      expect(await namesOf(client)).toEqual(toolsFor(ROLE_PERMISSIONS[role]));
    }
    await setRole('viewer');
    const refused = await client.callTool({ name: 'create_team', arguments: { name: 'Payments' } });
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^forbidden: .*oncall:edit/) }],
    });
    await storesOf(w.context.db.session()).people.removeMembership(w.orgId, userId);
    await expect(client.listTools()).rejects.toThrow(/401|unauthorized/i);
  },
);

async function listen(key: string) {
  const client = await connectModern(key, { pin: '2026-07-28' });
  const { all: heard, happen: hear, reach } = happenings<number>();
  client.setNotificationHandler('notifications/tools/list_changed', async () => {
    hear((await client.listTools()).tools.length);
  });
  return { heard, reach, subscription: await client.listen({ toolsListChanged: true, promptsListChanged: true }) };
}

test('a client that listens hears when its own tools change, and is let go when its key ends', async () => {
  hurry();
  const { key, userId } = await w.given.user({ role: 'owner' });
  const [listening, bystander] = [await listen(key), await listen(w.orgKey)];
  expect(listening.subscription.honoredFilter).toEqual({ toolsListChanged: true });
  const people = storesOf(w.context.db.session()).people;
  await people.setMembership(w.orgId, userId, 'viewer', w.clock.now());
  await listening.reach(1);
  expect(listening.heard).toEqual([toolsFor(ROLE_PERMISSIONS.viewer).length]);
  await people.removeMembership(w.orgId, userId);
  expect(await listening.subscription.closed).toBe('graceful');
  expect([listening.heard.length, bystander.heard]).toEqual([1, []]);
  await bystander.subscription.close();
});

test('a credential may listen on ten streams at once', async () => {
  const { key } = await w.given.user();
  const open = await Promise.all(Array.from({ length: 10 }, () => listen(key)));
  const ends = happenings();
  w.app.server.on('request', (_request, response) => response.on('close', () => ends.happen()));
  await expect(listen(key)).rejects.toThrow(/too many event streams/);
  const ended = ends.reach(ends.all.length + 1);
  await open[0]!.subscription.close();
  await ended;
  expect(await listen(key)).toMatchObject({ heard: [] });
});

test('streams end in good order when the product stops', async () => {
  const other = await world({ fresh: true, keepOpen: true });
  const home = endpoint;
  endpoint = new URL('/api/mcp', await other.app.listen({ port: 0, host: '127.0.0.1' }));
  const { subscription } = await listen(other.orgKey);
  endpoint = home;
  await other.close();
  expect(await subscription.closed).toBe('graceful');
});
