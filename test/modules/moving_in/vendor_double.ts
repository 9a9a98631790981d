import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';

import { NOW, layer } from '#test/modules/moving_in/answers.ts';
import { layOver } from '#modules/moving_in/decide/timeline.ts';

/** A fault that the double answers with in place of the answer whose turn it is. */
export type Fault = 'limit' | 'fault' | 'half a page' | 'cut' | 'expired';

/** PagerDuty's REST API with some people, teams and a schedule, in pages of two. */
export interface VendorDouble {
  readonly url: string;
  /** Paths that were asked for and answered. */
  readonly answered: string[];
  /** Number of requests so far, whatever became of them. */
  readonly requests: () => number;
  readonly keys: Set<string>;
  readonly accepted: Set<string>;
  /** Faults by the number of the request, counted from 1. */
  readonly faults: Map<number, Fault>;
  close(): Promise<void>;
}

const PAGE = 2;
const DAY_MS = 86_400_000;

/** Answer of a double to a request; null for a path that it does not have. */
export type Respond = (url: URL, body: string) => { readonly value: object; readonly link?: string } | null;

/** PagerDuty with some people, a team and a schedule. */
export async function pagerDutyDouble(): Promise<VendorDouble> {
  return await vendorDouble(answer, ({ authorization = '' }) => authorization.replace('Token token=', ''));
}

/** Starts the API of a tool, which accepts `first-key` and fails as its faults say. */
export async function vendorDouble(
  respond: Respond,
  keyOf: (headers: IncomingMessage['headers']) => string,
): Promise<VendorDouble> {
  const [answered, keys, accepted, faults] = [
    [] as string[],
    new Set<string>(),
    new Set(['first-key']),
    new Map<number, Fault>(),
  ];
  let requests = 0;
  const handle = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    requests += 1;
    const key = keyOf(request.headers);
    keys.add(key);
    const fault = faults.get(requests);
    if (fault === 'expired') accepted.delete(key);
    if (!accepted.has(key)) return send(response, 401, { error: { message: 'Unauthorized', code: 2006 } });
    if (fault === 'limit')
      return send(response, 429, { error: { message: 'Rate limit', code: 2020 } }, { 'retry-after': '7' });
    if (fault === 'fault') return send(response, 503, 'upstream is away');
    if (fault === 'half a page')
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"users": [{"id": "PA');
    if (fault === 'cut')
      return void response.writeHead(200, { 'content-length': '5000' }).write('{"users":', () => response.destroy());
    const url = new URL(request.url ?? '/', 'http://double');
    const found = respond(url, body);
    if (found === null) return send(response, 404, { error: { message: 'Not Found', code: 2100 } });
    answered.push(url.pathname + url.search + body);
    send(response, 200, found.value, found.link === undefined ? {} : { link: found.link });
  };
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => (body += part));
    request.on('end', () => handle(request, response, body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the double has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    answered,
    requests: () => requests,
    keys,
    accepted,
    faults,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function send(
  response: ServerResponse,
  status: number,
  body: object | string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const USERS = ['Ada', 'Bo', 'Cy'].map((name) => ({
  id: `U${name.toUpperCase()}`,
  type: 'user',
  name,
  email: `${name.toLowerCase()}@example.com`,
  role: 'user',
  contact_methods: [
    {
      id: `M${name.toUpperCase()}`,
      type: 'sms_contact_method',
      address: '612345678',
      country_code: 31,
      label: 'Mobile',
    },
  ],
  notification_rules: [],
}));

const LISTS: Record<string, readonly object[]> = {
  users: USERS,
  teams: [{ id: 'PTEAM', type: 'team', name: 'Team' }],
  schedules: [{ id: 'PSCHED', type: 'schedule', name: 'Primary', time_zone: 'UTC' }],
  escalation_policies: [],
  services: [],
  maintenance_windows: [],
};

function answer(url: URL): { value: object } | null {
  const [first = '', id, sub] = url.pathname.split('/').filter((part) => part !== '');
  if (sub === 'members')
    return {
      value: {
        members: USERS.map((user) => ({
          user: { id: user.id, type: 'user_reference', summary: user.name },
          role: 'responder',
        })),
        more: false,
      },
    };
  if (sub === 'overrides') return { value: { overrides: [] } };
  if (first === 'schedules' && id !== undefined) {
    const [since, until] = [
      Date.parse(url.searchParams.get('since') ?? ''),
      Date.parse(url.searchParams.get('until') ?? ''),
    ];
    if (url.searchParams.get('time_zone') !== 'UTC' || until - since > 90 * DAY_MS) return null;
    return {
      value: {
        schedule: {
          ...LISTS['schedules']![0],
          teams: [],
          schedule_layers: [layer({ users: ['UADA', 'UBO'] })],
          final_schedule: { rendered_schedule_entries: rendered(since, until) },
        },
      },
    };
  }
  const list = LISTS[first];
  if (first === 'v3' || list === undefined) return null;
  const offset = Number(url.searchParams.get('offset'));
  return {
    value: {
      [first]: list.slice(offset, offset + PAGE),
      limit: PAGE,
      offset,
      more: offset + PAGE < list.length,
      total: null,
    },
  };
}

/** Ada and Bo by weeks from 2026-01-05T08:00Z on. */
function rendered(since: number, until: number): object[] {
  const start = Date.parse('2026-01-05T08:00:00Z');
  const duties = Array.from({ length: 120 }, (_, week) => ({
    from: start + week * 7 * DAY_MS,
    to: start + (week + 1) * 7 * DAY_MS,
    people: [week % 2 === 0 ? 'UADA' : 'UBO'],
    level: 0,
  }));
  return layOver(duties, since, until).map(({ from, to, people }) => ({
    start: new Date(from).toISOString(),
    end: new Date(to).toISOString(),
    user: { id: people[0], type: 'user_reference' },
  }));
}

export const READING = { now: NOW, proofFrom: Date.parse('2026-07-01T00:00:00Z') };
