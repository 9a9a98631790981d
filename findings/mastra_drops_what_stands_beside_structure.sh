#!/usr/bin/env bash
# Mastra: when the answer of an MCP tool has structuredContent, its images, links and further texts are dropped.
#
# The specification has structuredContent repeated as text for older clients; a chart of the data, a link to the incident or a
# warning are further blocks of `content`. Without structuredContent the client returns all blocks; with it the same tool
# loses the chart and the warning, without an error. A server has to say in the structure, or in the description of the tool,
# whatever an agent must know.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact @modelcontextprotocol/sdk@1.32.2 @mastra/mcp@2.0.0 @mastra/core@1.71.0 \
  >/dev/null
cat >server.mjs <<'JS'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'on-call', version: '1.0.0' });
const shift = { name: 'Anna', until: '2026-12-01T09:00:00Z' };
const content = [
  { type: 'text', text: JSON.stringify(shift) },
  { type: 'text', text: 'Anna stands in for Ben, who is ill.' },
  { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
];
const inputSchema = {};
const outputSchema = { name: z.string(), until: z.string() };
server.registerTool('plain', { description: 'Who is on call', inputSchema }, async () => ({ content }));
server.registerTool('structured', { description: 'Who is on call', inputSchema, outputSchema }, async () => {
  return { content, structuredContent: shift };
});
await server.connect(new StdioServerTransport());
JS
cat >try.mjs <<'JS'
import { MCPClient } from '@mastra/mcp';

const client = new MCPClient({ servers: { oncall: { command: process.execPath, args: ['server.mjs'] } } });
const tools = await client.listTools();
const seen = {};
for (const name of ['plain', 'structured']) {
  seen[name] = JSON.stringify(await tools[`oncall_${name}`].execute({}, {}));
  console.log(`${name}: ${seen[name]}`);
}
await client.disconnect();
const has = (text) => [text.includes('Anna'), text.includes('Ben'), text.includes('image/png')].join();
process.exit(has(seen.plain) === 'true,true,true' && has(seen.structured) === 'true,false,false' ? 0 : 1);
JS
echo '@mastra/mcp 2.0.0'
node try.mjs
