import {
  createMcpHandler,
  isLegacyRequest,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

import type { Exchange } from '#entry/http/mcp/exchange.ts';
import { serverFor } from './server.ts';
import type { Listener, ToolListWatch } from '#entry/http/mcp/tool_list_watch.ts';
import { invalidInput } from '#kernel/errors.ts';

/** Messages without the arguments of tools, and those arguments by the id of each request. */
interface ExtractedInputs {
  readonly body: unknown;
  readonly inputs: ReadonlyMap<RequestId, unknown>;
}

/**
 * Extracts the arguments of tools from a message or a batch, so that they reach their action exactly as they were sent:
 * the SDK would refuse a non-object with its own message, and drop a property named `__proto__`.
 */
function extractToolInputs(body: unknown): ExtractedInputs {
  const inputs = new Map<RequestId, unknown>();
  const take = (message: unknown): unknown => {
    if (!isToolCall(message)) return message;
    const { id, params } = message;
    if (inputs.has(id)) throw invalidInput([{ path: 'id', message: 'two requests of one batch have the same id' }]);
    const { arguments: input = {}, ...others } = params;
    inputs.set(id, input);
    return { ...message, params: others };
  };
  return { body: Array.isArray(body) ? body.map(take) : take(body), inputs };
}

interface ToolCall {
  readonly id: RequestId;
  readonly params: { readonly arguments?: unknown };
}

function isToolCall(message: unknown): message is ToolCall {
  if (!isObject(message) || message['method'] !== 'tools/call') return false;
  return isObject(message['params']) && (typeof message['id'] === 'string' || typeof message['id'] === 'number');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Request of either generation, with its body as JSON. */
export interface McpRequest {
  readonly request: Request;
  readonly body: unknown;
}

/** Answers one request in JSON, except for the stream that a modern client listens on. */
export async function answer(
  { request, body }: McpRequest,
  exchange: Exchange,
  watch: ToolListWatch,
  listener: Omit<Listener, 'end'>,
  makeServer: typeof serverFor = serverFor,
): Promise<Response> {
  const { body: parsedBody, inputs } = extractToolInputs(body);
  if (await isLegacyRequest(request, parsedBody)) {
    return await answerLegacy({ request, body: parsedBody }, makeServer(exchange, inputs, 'legacy'));
  }
  if (hasMethod(body) && body.method === 'subscriptions/listen') watch.admit(listener.credential);
  const handler = createMcpHandler(() => makeServer(exchange, inputs, 'modern'), {
    legacy: 'reject',
    onerror: (error) => exchange.log.debug({ err: error, requestId: exchange.origin.requestId }, 'MCP request refused'),
    bus: watch.busOf({ ...listener, end: () => handler.close() }),
  });
  return await handler.fetch(request, { parsedBody });
}

/**
 * Answers an older client in JSON; the SDK's own way to serve them without sessions answers with event streams. A
 * cancelled request is never answered, which would leave a JSON answer waiting for ever: as nothing outlives its
 * request, there is nothing to cancel, and notifications are ignored.
 */
async function answerLegacy({ request, body }: McpRequest, server: Server): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const parsedBody: unknown = Array.isArray(body) ? body.filter((message) => !isNotification(message)) : body;
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
}

function hasMethod(body: unknown): body is { readonly method: unknown } {
  return typeof body === 'object' && body !== null && 'method' in body;
}

function isNotification(message: unknown): boolean {
  return hasMethod(message) && !('id' in message);
}
