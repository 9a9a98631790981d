import { spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { connected, rawApp } from '#test/auth/oauth/raw_app.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { fileListeningWorld, type Person } from '#test/auth/oauth/listening_world.ts';

/** The protocol's own conformance suite, run as a program against the product over HTTP. */
const require = createRequire(import.meta.url);
const SUITE = require.resolve('@modelcontextprotocol/conformance/dist/index.js');

let anna: Person;
let folder: string;
/** The endpoint behind a proxy that adds the token of a connection, since the suite cannot sign in there. */
let endpoint: string;
let closeProxy: () => Promise<unknown>;
const s = await fileListeningWorld();
beforeAll(async () => {
  anna = await s.person({ role: 'owner' });
  folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-conformance-'));
  const { tokens, connectionId } = await connected(s, anna);
  const responder = { agentId: connectionId, enabled: true };
  await anna.ask('POST', `/organizations/${anna.orgId}/actions/set_responder`, responder);
  const proxy = createServer((asked, answered) => {
    const headers = { ...asked.headers, authorization: `Bearer ${tokens.access_token}` };
    const onward = request(new URL(asked.url ?? '/', s.baseUrl), { method: asked.method, headers }, (answer) => {
      answered.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(answered);
      answered.on('close', () => answer.destroy());
    });
    onward.on('error', () => answered.destroy());
    asked.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  endpoint = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/api/mcp`;
  closeProxy = () => {
    proxy.closeAllConnections();
    proxy.close();
    return once(proxy, 'close');
  };
});
afterAll(async () => {
  await closeProxy();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the suite; `onOutput` sees all it has said so far. */
async function run(parameters: readonly string[], onOutput: (output: string) => void = () => {}) {
  const suite = spawn(process.execPath, [SUITE, ...parameters], { cwd: folder, env: { NO_COLOR: '1' } });
  let output = '';
  for (const stream of [suite.stdout, suite.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      onOutput(output);
    });
  }
  const [code] = await once(suite, 'close');
  return { code, output: stripVTControlCharacters(output) };
}

test.each(['2025-11-25', '2026-07-28'])('the authorization server conforms as of %s', async (version) => {
  const port = await findFreePort(0);
  const { clientId } = await rawApp(s, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const approvals: Promise<unknown>[] = [];
  const target = ['--url', s.baseUrl, '--client-id', clientId, '--resource', s.endpoint.href];
  const { code, output } = await run(
    ['authorization', ...target, '-p', String(port), '--spec-version', version],
    (said) => {
      const url = /^(http\S+\/oauth\/authorize\?\S+)\n/m.exec(said)?.[1];
      if (url === undefined || approvals.length > 0 || !said.includes('Callback server started')) return;
      approvals.push(anna.approve(url).then((called) => fetch(called)));
    },
  );
  await Promise.all(approvals);
  expect(output).toMatch(/Total: 3 passed, 0 failed/);
  expect(code).toBe(0);
});

const SCENARIOS = [
  ['2025-11-25', ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']],
  ['2026-07-28', ['tools-list', 'dns-rebinding-protection', 'http-header-validation']],
] as const;

test.each(
  ['', '/responder'].flatMap((path) => SCENARIOS.map(([version, scenarios]) => [path, version, scenarios] as const)),
)('the endpoint /api/mcp%s conforms as of %s', async (path, version, scenarios) => {
  const outcomes = scenarios.map(async (scenario) => {
    const target = ['--url', endpoint + path, '--scenario', scenario, '--spec-version', version];
    return { scenario, ...(await run(['server', ...target])) };
  });
  for (const { scenario, code, output } of await Promise.all(outcomes)) {
    expect(output, scenario).toMatch(/Passed: (\d+)\/\1, 0 failed, 0 warnings/);
    expect(code, scenario).toBe(0);
  }
});

/** They call a tool that only the suite's own example server has. */
const OF_THE_EXAMPLE = [
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-missing-capability-http-400',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2575-server-rejects-undeclared-capability',
];

test('the endpoint conforms as of 2026-07-28: server-stateless, as far as it applies', async () => {
  const { output } = await run([
    'server',
    '--url',
    endpoint,
    '--scenario',
    'server-stateless',
    '--spec-version',
    '2026-07-28',
  ]);
  const failed = [...output.matchAll(/\[(sep-[\w-]+) *\] FAILURE/g)].map(([, id]) => String(id));
  expect(failed.toSorted()).toEqual(OF_THE_EXAMPLE);
  expect(output).toMatch(/Passed: 24\/28/);
});
