import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';

import { plainCallOf } from '#entry/http/mcp/plain_call.ts';
import { buildFixture } from '#test/contract/fixture.ts';
import { type Era, ERAS, post } from '#test/contract/mcp_call.ts';
import { fileWorld } from '#test/kit/world.ts';

const VERSIONS = { modern: '2026-07-28', legacy: '2025-11-25' } as const;
const JSON_TYPE = 'application/json';
const BOTH = `${JSON_TYPE}, text/event-stream`;
const CLIENT = {
  [PROTOCOL_VERSION_META_KEY]: VERSIONS.modern,
  [CLIENT_INFO_META_KEY]: { name: 'test', version: '1' },
  [CLIENT_CAPABILITIES_META_KEY]: {},
};

const w = await fileWorld();
const fixture = await buildFixture(w);

const messageOf = (era: Era, name: string, input: unknown) => ({
  jsonrpc: '2.0',
  id: 'call 1',
  method: 'tools/call',
  params: { name, arguments: input, ...(era === 'modern' && { _meta: CLIENT }) },
});
const headersOf = (era: Era, name: string) => ({
  accept: BOTH,
  'content-type': JSON_TYPE,
  'mcp-protocol-version': VERSIONS[era],
  ...(era === 'modern' && { 'mcp-method': 'tools/call', 'mcp-name': name }),
});

/** The same call in a form that only the SDK reads: as a batch of one, or from a client that takes no events. */
async function bySdk(era: Era, name: string, input: unknown, key: string) {
  const message = messageOf(era, name, input);
  const [body, accept] = era === 'modern' ? [message, JSON_TYPE] : [[message], BOTH];
  const headers = { ...headersOf(era, name), accept };
  expect(plainCallOf(headers, body)).toBeNull();
  return await post(w, JSON.stringify(body), { key, headers });
}

test.each(ERAS)('a plain call is answered as the SDK answers it (%s)', async (era) => {
  const [blind, viewer] = [
    await w.given.apiKey({ permissions: ['oncall:view'] }),
    await w.given.apiKey({ permissions: ['services:view', 'oncall:view', 'exceptions:view'] }),
  ];
  const calls: [string, unknown, string?][] = [
    ['list_services', {}],
    ['list_services', {}, viewer],
    ['list_services', undefined],
    ['get_incident', { incidentId: fixture.incidentId }, viewer],
    ['get_exception_group', { groupId: fixture.groupId }, viewer],
    ['get_incident', { incidentId: 'incident_nowhere' }],
    ['get_service', { serviceId: fixture.serviceId }, blind],
    ['create_team', { title: 1 }],
    ['create_team', []],
    ['update_team', { teamId: fixture.teamId, name: 'Payments' }],
  ];
  for (const [name, input, key = w.orgKey] of calls) {
    expect(plainCallOf(headersOf(era, name), messageOf(era, name, input))).not.toBeNull();
    const plain = await post(w, JSON.stringify(messageOf(era, name, input)), { key, headers: headersOf(era, name) });
    const outcome = await bySdk(era, name, input, key);
    expect([plain.status, outcome.status]).toEqual([200, 200]);
    expect(String(plain.headers['content-type'])).toMatch(/^application\/json/);
    expect(comparable(plain.body), `${name} ${JSON.stringify(input)}`).toEqual(comparable(outcome.body));
  }
});

/** Returns the body without the parts that differ between any two calls. */
function comparable(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body)
      .replaceAll(/"(requestId|updatedAt|now)":"[^"]*"/g, '"$1":""')
      .replaceAll(/req_\w+/g, ''),
  );
}

test('whatever is not plainly right is left to the SDK', () => {
  const name = 'list_services';
  for (const era of ERAS) {
    const [headers, body] = [headersOf(era, name), messageOf(era, name, {})];
    expect(plainCallOf(headers, body)).toMatchObject({ id: 'call 1', isModern: era === 'modern' });
    const { params } = body;
    const bodies: unknown[] = [
      null,
      [body],
      { ...body, jsonrpc: '1.0' },
      { ...body, id: null },
      { ...body, id: 1.5 },
      { ...body, method: 'tools/list' },
      { ...body, extra: 1 },
      { ...body, params: [] },
      { ...body, params: { ...params, name: 'list_servces' } },
      { ...body, params: { ...params, name: 7 } },
      { ...body, params: { ...params, task: {} } },
      { ...body, params: { ...params, requestState: 'x' } },
      { ...body, params: { ...params, _meta: [] } },
      { ...body, params: { ...params, _meta: { ...CLIENT, progressToken: {} } } },
      { ...body, params: { ...params, _meta: { ...CLIENT, [PROTOCOL_VERSION_META_KEY]: '2027-01-01' } } },
      { ...body, params: { ...params, _meta: { ...CLIENT, [CLIENT_INFO_META_KEY]: 'test' } } },
      { ...body, params: { ...params, _meta: { [CLIENT_INFO_META_KEY]: 'test' } } },
    ];
    for (const other of bodies) expect(plainCallOf(headers, other), JSON.stringify(other)).toBeNull();
    for (const changed of [
      { accept: JSON_TYPE },
      { accept: 'text/event-stream' },
      { 'content-type': 'text/plain' },
      { 'mcp-protocol-version': '2020-01-01' },
      { 'mcp-protocol-version': VERSIONS[era === 'modern' ? 'legacy' : 'modern'] },
      ...(era === 'modern' ? [{ 'mcp-method': 'tools/list' }, { 'mcp-name': 'list_teams' }] : []),
    ]) {
      expect(plainCallOf({ ...headers, ...changed }, body), JSON.stringify(changed)).toBeNull();
    }
  }
});
