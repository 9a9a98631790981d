import { type RequestId, Server } from '@modelcontextprotocol/server';

import { callTool } from '#entry/http/mcp/call_tool.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import { complete } from '#entry/http/mcp/complete.ts';
import { instructionsFor } from '#entry/http/mcp/instructions.ts';
import { getPrompt, PROMPTS } from '#entry/http/mcp/prompts.ts';
import { readResource, RESOURCE_TEMPLATES, RESOURCES } from '#entry/http/mcp/resources.ts';
import { SERVER_INFO } from '#entry/http/mcp/server_info.ts';
import { toolsOf } from '#entry/http/mcp/tools.ts';

/** Protocol era: `modern` is 2026-07-28; `legacy` are the versions that begin with `initialize`, up to 2025-11-25. */
type Era = 'modern' | 'legacy';

/** Cache hints: tools change with a role at any moment, so clients may not cache them; the description has the time. */
const CACHE_HINTS = {
  'tools/list': { ttlMs: 0, cacheScope: 'private' },
  'resources/read': { ttlMs: 0, cacheScope: 'private' },
  'server/discover': { ttlMs: 0, cacheScope: 'private' },
} as const;

/**
 * Returns the server of one request, with the arguments of its tools: nothing is kept between two requests. Without a
 * session, only the modern generation can learn that the tools have changed.
 */
export function serverFor(exchange: Exchange, inputs: ReadonlyMap<RequestId, unknown>, era: Era): Server {
  const server = new Server(SERVER_INFO, {
    capabilities: { tools: era === 'modern' ? { listChanged: true } : {}, resources: {}, prompts: {}, completions: {} },
    instructions: instructionsFor(exchange.caller, exchange.runtime.clock.now()),
    cacheHints: CACHE_HINTS,
  });
  server.setRequestHandler('tools/list', () => ({ tools: toolsOf(exchange.caller) }));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    callTool(exchange, params.name, inputs.get(mcpReq.id)),
  );
  server.setRequestHandler('resources/list', () => ({ resources: [...RESOURCES] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...RESOURCE_TEMPLATES] }));
  server.setRequestHandler('resources/read', ({ params }) => readResource(exchange, params.uri));
  server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS }));
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(params.name, params.arguments));
  server.setRequestHandler('completion/complete', ({ params }) => complete(exchange, params));
  return server;
}
