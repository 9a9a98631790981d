import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';

import { MCP_PATH } from '#entry/http/mcp/resource_metadata.ts';
import type { Answer, World } from '#test/kit/world.ts';

export const ERAS = ['modern', 'legacy'] as const;
export type Era = (typeof ERAS)[number];

interface Sending {
  readonly era?: Era;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly url?: string;
}

const ENVELOPE = {
  [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
  [CLIENT_INFO_META_KEY]: { name: 'test', version: '1' },
  [CLIENT_CAPABILITIES_META_KEY]: {},
};

/** Sends bytes to the endpoint as a client of the Streamable HTTP transport does. */
export async function post(
  w: World,
  payload: string,
  { key = w.orgKey, headers = {}, url = MCP_PATH }: Sending = {},
): Promise<Answer> {
  const response = await w.app.inject({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    payload,
  });
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return { status: response.statusCode, headers: response.headers, body: isJson ? response.json() : response.body };
}

/** One message of either generation, as it is on the wire. */
export async function send(w: World, method: string, params: object = {}, sending: Sending = {}): Promise<Answer> {
  const { era = 'modern', headers = {} } = sending;
  const name = 'name' in params && typeof params.name === 'string' ? params.name : null;
  const message = { jsonrpc: '2.0', id: 1, method, params: era === 'modern' ? { ...params, _meta: ENVELOPE } : params };
  const own =
    era === 'legacy'
      ? { 'mcp-protocol-version': '2025-11-25' }
      : { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name === null ? {} : { 'mcp-name': name }) };
  return await post(w, JSON.stringify(message), { ...sending, headers: { ...own, ...headers } });
}

/** Calls a tool; the body of the answer is the result of the call. */
export async function call(w: World, name: string, input: unknown, sending: Sending = {}): Promise<Answer> {
  const answer = await send(w, 'tools/call', { name, arguments: input }, sending);
  return { ...answer, body: answer.body.result ?? answer.body };
}
