import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import autocannon from 'autocannon';

import { buildApp } from '#entry/http/app.ts';
import { silentLog } from '#kernel/log.ts';

import { count, duration, ratio } from './figures.ts';
import { type Bench, printInputs, printTable, withStores } from './harness.ts';

const SECONDS = 5;
const CONNECTIONS = 10;
const SERVICES = 20;
const ROUNDS = 2;

/** A way to invoke an action: the address, the headers, and the body around the input. */
interface Way {
  readonly path: (action: string) => string;
  readonly headers: (action: string) => Record<string, string>;
  readonly wrap: (action: string, input: object) => object;
}

const ENVELOPE = {
  [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
  [CLIENT_INFO_META_KEY]: { name: 'bench', version: '1' },
  [CLIENT_CAPABILITIES_META_KEY]: {},
};

const toolsCall = (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });

const WAYS = {
  REST: { path: (action) => `/api/rest/actions/${action}`, headers: () => ({}), wrap: (_, input) => input },
  'MCP 2026-07-28': {
    path: () => '/api/mcp',
    headers: (action) => ({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': action }),
    wrap: (name, input) => toolsCall({ name, arguments: input, _meta: ENVELOPE }),
  },
  'MCP 2025-11-25': {
    path: () => '/api/mcp',
    headers: () => ({ 'mcp-protocol-version': '2025-11-25' }),
    wrap: (name, input) => toolsCall({ name, arguments: input }),
  },
} as const satisfies Record<string, Way>;

export const mcp: Bench = {
  name: 'mcp',
  about: 'tools/call of both generations against the same action over REST (goal: within 1.5 ×)',
  run: () =>
    withStores(async ({ context, firstRun }) => {
      printInputs({ services: SERVICES, connections: CONNECTIONS, seconds: SECONDS, rounds: ROUNDS });
      const app = await buildApp({ ...context, log: silentLog });
      const url = await app.listen({ port: 0, host: '127.0.0.1' });
      const invoke = invoker(url, firstRun.apiKey);
      for (let index = 0; index < SERVICES; index += 1) await invoke('create_service', { name: `service ${index}` });
      const { teamId } = await invoke('create_team', { name: 'Payments' });
      printTable([
        ...(await compare(url, firstRun.apiKey, 'list_services', () => ({}))),
        ...(await compare(url, firstRun.apiKey, 'update_team', (nth) => ({ teamId, name: `Payments ${nth}` }))),
      ]);
      await app.close();
    }),
};

function invoker(url: string, key: string) {
  return async (action: string, input: object): Promise<Record<string, string>> => {
    const response = await fetch(url + WAYS.REST.path(action), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    return ((await response.json()) as { result: Record<string, string> }).result;
  };
}

/** Runs all in turn, several times, so that none profits from a warmer machine; the last round counts. */
async function compare(url: string, key: string, action: string, input: (nth: number) => object) {
  const last = new Map<string, Fired>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, way] of Object.entries(WAYS)) last.set(name, await fire(url, key, action, way, input));
  }
  const rest = last.get('REST');
  return [...last].map(([name, { perSecond, latency, cpuMs }]) => ({
    action,
    over: name,
    'calls/s': count(perSecond),
    p50: duration(latency.p50),
    p99: duration(latency.p99),
    'REST ÷ this': ratio(rest?.perSecond ?? 0, perSecond),
    CPU: duration(cpuMs),
    'this ÷ REST': ratio(cpuMs, rest?.cpuMs ?? 0),
  }));
}

interface Fired {
  readonly perSecond: number;
  readonly latency: autocannon.Histogram;
  /** Processor time of this process per call, including the sender's: steadier than calls per second on a busy machine. */
  readonly cpuMs: number;
}

async function fire(
  url: string,
  key: string,
  action: string,
  way: Way,
  input: (nth: number) => object,
): Promise<Fired> {
  let sent = 0;
  const before = process.cpuUsage();
  const result = await autocannon({
    url: url + way.path(action),
    connections: CONNECTIONS,
    duration: SECONDS,
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...way.headers(action),
    },
    requests: [
      {
        setupRequest: (request) => {
          sent += 1;
          return { ...request, body: JSON.stringify(way.wrap(action, input(sent))) };
        },
      },
    ],
    verifyBody: (body) => !String(body).includes('"isError":true') && !String(body).includes('"error":{'),
  });
  if (result.non2xx > 0 || result.mismatches > 0) throw new Error(`${action} failed over ${way.path(action)}`);
  const { user, system } = process.cpuUsage(before);
  const { requests, latency } = result;
  return { perSecond: requests.average, latency, cpuMs: (user + system) / 1_000 / requests.total };
}
