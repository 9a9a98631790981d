import type { IncomingHttpHeaders } from 'node:http';

import {
  classifyInboundRequest,
  isJsonContentType,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';

import type { AnyAction } from '#actions/action_context.ts';
import { findAction } from '#actions/registry.ts';
import { runTool } from '#entry/http/mcp/call_tool.ts';
import { type Exchange, SERVER_INFO } from '#entry/http/mcp/exchange.ts';

const MODERN = '2026-07-28';
const METHOD = 'tools/call';

/** Complete and valid call of an existing tool. */
interface PlainCall {
  readonly id: RequestId;
  readonly action: AnyAction;
  readonly input: unknown;
  readonly isModern: boolean;
}

/**
 * Returns the call in a request that consists of one valid call. Such a call needs no server and no transport of the
 * SDK, which cost more than most actions. Null for everything else: the SDK reads it, and answers its errors.
 */
export function plainCallOf(headers: IncomingHttpHeaders, body: unknown): PlainCall | null {
  if (!isRecord(body) || !hasOnly(body, ['jsonrpc', 'id', 'method', 'params'])) return null;
  const { jsonrpc, id, method, params } = body;
  if (jsonrpc !== '2.0' || method !== METHOD || !isId(id)) return null;
  if (!isRecord(params) || !hasOnly(params, ['name', 'arguments', '_meta'])) return null;
  const { name, arguments: input = {}, _meta: meta = {} } = params;
  const action = findAction(name);
  if (action === undefined || !isRecord(meta) || !isToken(meta['progressToken'])) return null;
  const { accept = '', 'content-type': type = null, 'mcp-protocol-version': version } = headers;
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) return null;
  if (!isJsonContentType(type)) return null;
  if (!(PROTOCOL_VERSION_META_KEY in meta)) {
    const isKnown = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(version));
    return isKnown && hasNone(meta) ? { id, action, input, isModern: false } : null;
  }
  const isNamed = headers['mcp-method'] === METHOD && headers['mcp-name'] === name;
  return isNamed && version === MODERN && isEnvelope(body) ? { id, action, input, isModern: true } : null;
}

/** Runs the call; returns the answer as JSON. */
export async function answerPlainCall({ id, action, input, isModern }: PlainCall, exchange: Exchange): Promise<string> {
  const { result, exact } = await runTool(exchange, action, input);
  const { structuredContent, ...others } = result;
  const answer = isModern
    ? { ...others, resultType: 'complete', _meta: { ...others._meta, [SERVER_INFO_META_KEY]: SERVER_INFO } }
    : others;
  const rest = JSON.stringify(answer);
  const structured = exact === null ? JSON.stringify(structuredContent) : `{"result":${exact}}`;
  const whole = structured === undefined ? rest : `{"structuredContent":${structured},${rest.slice(1)}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${whole}}`;
}

/** Whether the body is an envelope, as the SDK classifies it, which checks the client's own declaration. */
function isEnvelope(body: unknown): boolean {
  const classified = classifyInboundRequest({
    httpMethod: 'POST',
    protocolVersionHeader: MODERN,
    mcpMethodHeader: METHOD,
    body,
  });
  return (
    classified.kind === 'modern' &&
    classified.messageKind === 'request' &&
    classified.classification.revision === MODERN
  );
}

/** Whether there are no keys of the protocol, which only the SDK can handle. */
function hasNone(meta: Readonly<Record<string, unknown>>): boolean {
  return !Object.keys(meta).some((key) => key.startsWith('io.modelcontextprotocol/'));
}

function hasOnly(value: object, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name));
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function isToken(value: unknown): boolean {
  return value === undefined || isId(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
