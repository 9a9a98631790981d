import {
  auth as modernAuth,
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { auth as oldAuth } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';

import { ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import { CONTRACT } from '#test/contract/action_api.ts';
import { fileListeningWorld } from '#test/auth/oauth/listening_world.ts';

const s = await fileListeningWorld();

const INFO = { name: 'test', version: '1.0.0' };
const REDIRECT = 'http://127.0.0.1:4711/callback';

/** State that an app of either SDK keeps between its requests. */
class Memory {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = { client_name: 'Ada', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' };
  asked: URL | null = null;
  // eslint-disable-next-line typescript/no-explicit-any -- the SDKs have types of their own for the same
  known: any;
  // eslint-disable-next-line typescript/no-explicit-any -- the SDKs have types of their own for the same
  held: any;
  #verifier = '';
  state = () => 'a state';
  clientInformation = () => this.known;
  saveClientInformation = (information: unknown) => void (this.known = information);
  tokens = () => this.held;
  saveTokens = (held: unknown) => void (this.held = held);
  redirectToAuthorization = (url: URL) => void (this.asked = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  // eslint-disable-next-line typescript/no-explicit-any -- the SDKs have types of their own for the same
  #found: any;
  saveDiscoveryState = (state: unknown) => void (this.#found = state);
  discoveryState = () => this.#found;
  invalidateCredentials(what: string) {
    if (what === 'all' || what === 'client') this.known = undefined;
    if (what === 'all' || what === 'tokens') this.held = undefined;
  }
}

interface Connected {
  listTools(): Promise<{ tools: { name: string }[] }>;
  // eslint-disable-next-line typescript/no-explicit-any -- the two lines have types of their own for the same answer
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<any>;
}

interface Line {
  readonly connect: (memory: Memory) => Promise<Connected>;
  /** Hands over what the app was called back with. */
  readonly finish: (memory: Memory, called: URL) => Promise<unknown>;
  readonly refresh: (memory: Memory) => Promise<unknown>;
}

const LINES: [string, Line][] = [
  [
    'SDK 1',
    {
      async connect(memory) {
        const client = new OldClient(INFO);
        onTestFinished(() => client.close());
        await client.connect(new OldTransport(s.endpoint, { authProvider: memory }));
        return client;
      },
      finish: (memory, called) =>
        new OldTransport(s.endpoint, { authProvider: memory }).finishAuth(called.searchParams.get('code')!),
      refresh: (memory) => oldAuth(memory, { serverUrl: s.endpoint }),
    },
  ],
  ...(['2025-11-25', '2026-07-28'] as const).map((version): [string, Line] => [
    `SDK 2 as of ${version}`,
    {
      async connect(memory) {
        const mode = version === '2025-11-25' ? ('legacy' as const) : { pin: version };
        const client = new ModernClient(INFO, { versionNegotiation: { mode } });
        onTestFinished(() => client.close());
        await client.connect(new ModernTransport(s.endpoint, { authProvider: memory }));
        return client;
      },
      finish: (memory, called) =>
        new ModernTransport(s.endpoint, { authProvider: memory }).finishAuth(called.searchParams),
      refresh: (memory) => modernAuth(memory, { serverUrl: s.endpoint }),
    },
  ]),
];

const namesOf = async (client: Connected) => (await client.listTools()).tools.map(({ name }) => name);
const toolsFor = (permissions: readonly string[]) =>
  CONTRACT.filter(({ permission }) => permissions.includes(permission)).map(({ action }) => action);

test.each(LINES)(
  '%s signs a person in from nothing but the address, refreshes, and is disconnected',
  async (_, line) => {
    const anna = await s.person({ role: 'editor' });
    const memory = new Memory();
    await expect(line.connect(memory)).rejects.toThrow(/unauthorized/i);
    expect(memory.asked?.origin).toBe(new URL(s.baseUrl).origin);
    expect(Object.fromEntries(memory.asked!.searchParams)).toMatchObject({
      resource: s.endpoint.href,
      code_challenge_method: 'S256',
      state: 'a state',
    });

    const called = await anna.approve(memory.asked!);
    expect(called.href.split('?')[0]).toBe(REDIRECT);
    expect(Object.fromEntries(called.searchParams)).toEqual({
      code: expect.any(String),
      state: 'a state',
      iss: s.baseUrl,
    });
    await line.finish(memory, called);

    const client = await line.connect(memory);
    expect(await namesOf(client)).toEqual(toolsFor(ROLE_PERMISSIONS.editor));
    const made = await client.callTool({ name: 'create_team', arguments: { name: 'Payments' } });
    expect(made.isError).toBeUndefined();

    const first = memory.held;
    expect(await line.refresh(memory)).toBe('AUTHORIZED');
    expect(memory.held.access_token).not.toBe(first.access_token);
    expect(memory.held.refresh_token).not.toBe(first.refresh_token);
    expect(await namesOf(client)).toHaveLength(toolsFor(ROLE_PERMISSIONS.editor).length);

    const { connections } = (await anna.ask('POST', `/organizations/${anna.orgId}/actions/list_connections`, {})).body
      .result;
    expect(connections).toHaveLength(1);
    const { connectionId } = connections[0];
    await anna.ask('POST', `/organizations/${anna.orgId}/actions/disconnect_app`, { connectionId });
    memory.asked = null;
    await expect(client.listTools()).rejects.toThrow(/unauthorized/i);
    expect(memory.asked).not.toBeNull();
  },
);

// SDK 1 only refreshes upon such a refusal, and gives up.
test.each(LINES.slice(1))(
  '%s asks for more when it may only look, and goes on with what it is granted',
  async (_, line) => {
    const anna = await s.person({ role: 'editor' });
    const memory = new Memory();
    await expect(line.connect(memory)).rejects.toThrow(/unauthorized/i);
    await line.finish(memory, await anna.approve(memory.asked!, { access: 'read_only' }));
    expect(memory.held.scope).toBe('mcp:read');
    const client = await line.connect(memory);
    expect(await namesOf(client)).toEqual(
      toolsFor(ROLE_PERMISSIONS.editor.filter((permission) => permission.endsWith(':view'))),
    );

    memory.asked = null;
    const creation = { name: 'create_team', arguments: { name: 'Payments' } };
    await expect(client.callTool(creation)).rejects.toThrow(/unauthorized/i);
    expect(memory.asked).not.toBeNull();
    const again = memory.asked as unknown as URL;
    expect(again.searchParams.get('scope')).toContain('mcp:write');
    await line.finish(memory, await anna.approve(again, { access: 'changes' }));
    expect((await (await line.connect(memory)).callTool(creation)).isError).toBeUndefined();
  },
);
