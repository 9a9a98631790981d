import { randomUUID } from 'node:crypto';

import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';

import { API_PATHS } from '#kernel/api_paths.ts';
import { fileListeningWorld, type Person } from '#test/auth/oauth/listening_world.ts';
import { connected } from '#test/auth/oauth/raw_app.ts';
import { buildFixture } from '#test/contract/fixture.ts';
import { happenings } from '#test/kit/when.ts';

const INFO = { name: 'night agent', version: '1.0.0' };
const NINE = [
  'get_incident',
  'take_lease',
  'renew_lease',
  'release_lease',
  'write_note',
  'propose_action',
  'ask_person',
  'get_proposal',
  'get_load_on_people',
];

const s = await fileListeningWorld();
const { serviceId } = await buildFixture(s);
const [olga, anna] = [await s.person({ role: 'owner', name: 'Olga' }), await s.person({ role: 'responder' })];

const does = async (person: Person, name: string, input: object) =>
  await person.ask('POST', `/organizations/${s.orgId}/actions/${name}`, input);

/** A new incident, and an app of Anna's that may only look. */
async function night() {
  const declared = await does(anna, 'declare_incident', {
    serviceId,
    title: 'Checkout is slow',
    severity: 'error',
    escalationPolicyId: null,
    requestKey: randomUUID(),
  });
  const { incidentId } = declared.body.result;
  const { tokens, connectionId } = await connected(s, anna, { access: 'read_only' });
  const enable = (enabled = true) => does(olga, 'set_responder', { agentId: connectionId, enabled });
  return { incidentId, token: tokens.access_token, connectionId, enable };
}

const proposing = (incidentId: string) => ({
  incidentId,
  input: { incidentId },
  reason: 'The rollback of 2.4.1 is under way.',
  evidence: ['release 2.4.1 at 03:02'],
});

/** One call as of 2025-11-25, by hand. */
async function callWith(token: string, name: string, input: object, path: string = API_PATHS.responder) {
  const response = await fetch(s.baseUrl + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
  });
  // eslint-disable-next-line typescript/no-explicit-any -- a test says by what it reads what the answer is
  const body: any = await response.json();
  const text: string = body.result?.content[0].text ?? body.error.message;
  return { status: response.status, isError: body.result?.isError === true, text };
}

interface Opened {
  readonly message: string;
  readonly url: string;
}

interface Connected {
  // eslint-disable-next-line typescript/no-explicit-any -- the two lines have types of their own for the same answer
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<any>;
  listTools(): Promise<{ tools: { name: string }[] }>;
}

/** A client whose person opens the links that it is given; the links. */
type Connect = (token: string, onOpen: ((link: Opened) => void) | null) => Promise<Connected>;

const withToken = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });
const endpointOf = () => new URL(s.baseUrl + API_PATHS.responder);
const capabilitiesFor = (onOpen: unknown) => ({ capabilities: onOpen === null ? {} : { elicitation: { url: {} } } });

const connectOld: Connect = async (token, onOpen) => {
  const client = new OldClient(INFO, capabilitiesFor(onOpen));
  onTestFinished(() => client.close());
  if (onOpen !== null) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      if (params.mode === 'url') onOpen(params);
      return { action: 'accept' as const };
    });
  }
  await client.connect(new OldTransport(endpointOf(), withToken(token)));
  return client;
};

const connectModern =
  (mode: 'legacy' | { pin: string }): Connect =>
  async (token, onOpen) => {
    const client = new ModernClient(INFO, { ...capabilitiesFor(onOpen), versionNegotiation: { mode } });
    onTestFinished(() => client.close());
    if (onOpen !== null) {
      client.setRequestHandler('elicitation/create', ({ params }) => {
        if (params.mode === 'url') onOpen(params);
        return { action: 'accept' as const };
      });
    }
    await client.connect(new ModernTransport(endpointOf(), withToken(token)));
    return client;
  };

const CLIENTS: [string, Connect][] = [
  ['the client of SDK 1', connectOld],
  ['the client of SDK 2 as of 2025-11-25', connectModern('legacy')],
  ['the client of SDK 2 as of 2026-07-28', connectModern({ pin: '2026-07-28' })],
];

test('a connected app responds once an owner has enabled this connection, and is refused at once when it may no longer', async () => {
  const { incidentId, token, connectionId, enable } = await night();
  const other = await connected(s, anna, { access: 'read_only' });
  const lease = (key: string) => callWith(key, 'take_lease', { incidentId });
  expect(await lease(token)).toMatchObject({ status: 403, text: expect.stringContaining('an owner can enable it') });
  expect((await does(anna, 'set_responder', { agentId: connectionId, enabled: true })).status).toBe(403);
  expect((await enable()).status).toBe(200);
  expect(await lease(token)).toMatchObject({ status: 200, isError: false });
  expect((await lease(other.tokens.access_token)).status).toBe(403);
  // What it may propose there, it may not do by itself.
  expect((await callWith(token, 'acknowledge_incident', { incidentId }, API_PATHS.mcp)).status).toBe(403);
  expect((await enable(false)).status).toBe(200);
  expect((await lease(token)).status).toBe(403);
  await enable();
  await does(anna, 'disconnect_app', { connectionId });
  expect((await lease(token)).status).toBe(401);
});

test('one switch stops every app at both endpoints with its next request, and the cap counts for an app too', async () => {
  const { incidentId, token, enable } = await night();
  await enable();
  await does(olga, 'set_agent_limits', { writesAnHour: 2, holdMinutes: 0 });
  const note = (text: string) => callWith(token, 'write_note', { incidentId, text });
  expect([await note('one'), await note('two')]).toMatchObject([{ isError: false }, { isError: false }]);
  expect(await note('three')).toMatchObject({ isError: true, text: expect.stringMatching(/^rate_limited/) });
  await does(olga, 'set_agent_limits', { writesAnHour: null, holdMinutes: 0 });
  const look = async (path: string) => (await callWith(token, 'get_incident', { incidentId }, path)).status;
  const both = async () => [await look(API_PATHS.mcp), await look(API_PATHS.responder)];
  expect(await both()).toEqual([200, 200]);
  await does(olga, 'stop_agents', { stopped: true });
  expect(await both()).toEqual([403, 403]);
  await does(olga, 'stop_agents', { stopped: false });
  expect(await both()).toEqual([200, 200]);
});

test.each(CLIENTS)(
  '%s opens the page of a proposal for its person, and gets the address in the text where it cannot',
  async (_, connect) => {
    const { incidentId, token, connectionId, enable } = await night();
    await enable();
    const propose = async (client: Connected, action: string) => {
      const proposal = { ...proposing(incidentId), action };
      const answer = await client.callTool({ name: 'propose_action', arguments: proposal });
      expect(answer.isError).toBeUndefined();
      return JSON.parse(answer.content[0].text);
    };
    const plain = await connect(token, null);
    const told = await propose(plain, 'resolve_incident');
    const pageOf = ({ number }: { number: number }) =>
      `${s.baseUrl}/incidents/${incidentId}?org=${s.orgId}#proposal-${number}`;
    expect(told).toMatchObject({ state: 'proposed', isRepeated: false, answerUrl: pageOf(told) });

    const { all: opened, happen: open, reach: openedAre } = happenings<Opened>();
    const client = await connect(token, open);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NINE);
    const proposal = await propose(client, 'acknowledge_incident');
    expect(proposal).toMatchObject({ state: 'proposed' });
    await openedAre(1);
    expect(opened).toMatchObject([{ url: pageOf(proposal), message: expect.stringContaining('acknowledge incident') }]);
    // What waits already is not shown a second time.
    await propose(client, 'acknowledge_incident');
    expect(opened).toHaveLength(1);

    // The address speaks for nobody, and the token of the agent opens nothing there.
    const { proposalId } = proposal;
    const work = `${s.baseUrl}/api/console/organizations/${s.orgId}/actions/answer_proposal`;
    const byAgent = await fetch(work, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: s.baseUrl, authorization: `Bearer ${token}` },
      body: JSON.stringify({ proposalId, answer: 'yes' }),
    });
    expect(byAgent.status).toBe(401);
    expect((await does(anna, 'answer_proposal', { proposalId, answer: 'yes', text: 'Go on.' })).status).toBe(200);
    const after = await client.callTool({ name: 'get_proposal', arguments: { proposalId } });
    expect(JSON.parse(after.content[0].text)).toMatchObject({ state: 'carried_out', answer: 'Go on.' });
    const rows = await s.context.db.sql.rows<{ actor: object }>(
      `select actor from audit_log where action = 'acknowledge_incident' and result = 'done' and target = $1`,
      [incidentId],
    );
    expect(rows).toMatchObject([{ actor: { userId: anna.userId, proposal: { proposalId, agentId: connectionId } } }]);
  },
);

test('a question and what the person answers are told to the agent, in the work of agents, and in the timeline', async () => {
  const { incidentId, token, enable } = await night();
  await enable();
  const question = 'Was the rollout of 2.4.1 stopped by somebody?';
  const { proposalId, number } = JSON.parse((await callWith(token, 'ask_person', { incidentId, question })).text);
  await does(anna, 'answer_proposal', { proposalId, answer: 'no', text: 'It is still running' });
  const parsed = JSON.parse((await callWith(token, 'get_proposal', { proposalId })).text);
  expect(parsed).toMatchObject({ state: 'rejected', answer: 'It is still running', decidedBy: 'Anna by the console' });
  const { proposals } = (await does(anna, 'get_agent_work', { incidentId })).body.result;
  expect(proposals).toMatchObject([{ kind: 'question', sentence: question, answer: 'It is still running' }]);
  const { timeline } = await s.expectOk('get_incident', { incidentId });
  const texts = timeline.map(({ text }: { text: string }) => text);
  expect(texts).toContainEqual(expect.stringContaining(`asks (#${number}): ${question}`));
  expect(texts).toContainEqual(
    expect.stringMatching(new RegExp(`^Anna .*said no to #${number} .*: It is still running`)),
  );
});
