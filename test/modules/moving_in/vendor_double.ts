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
  /** Keys that were sent. */
  readonly keys: Set<string>;
  /** Keys that are accepted. */
  readonly accepted: Set<string>;
  /** Faults by the number of the request, counted from 1. */
  readonly faults: Map<number, Fault>;
  close(): Promise<void>;
}

const PAGE = 2;
const DAY_MS = 86_400_000;

export async function pagerDutyDouble(): Promise<VendorDouble> {
  const [answered, keys, accepted, faults] = [
    [] as string[],
    new Set<string>(),
    new Set(['first-key']),
    new Map<number, Fault>(),
  ];
  let requests = 0;
  const server: Server = createServer((request, response) => {
    requests += 1;
    const key = (request.headers.authorization ?? '').replace('Token token=', '');
    keys.add(key);
    const fault = faults.get(requests);
    if (fault === 'expired') accepted.delete(key);
    if (!accepted.has(key)) send(response, 401, { error: { message: 'Unauthorized', code: 2006 } });
    else if (fault === 'limit')
      send(response, 429, { error: { message: 'Rate limit', code: 2020 } }, { 'retry-after': '7' });
    else if (fault === 'fault') send(response, 503, 'upstream is away');
    else if (fault === 'half a page')
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"users": [{"id": "PA');
    else if (fault === 'cut')
      response.writeHead(200, { 'content-length': '5000' }).write('{"users":', () => response.destroy());
    else answer(request, response, answered);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the double has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    answered,
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

function answer(request: IncomingMessage, response: ServerResponse, answered: string[]): void {
  const url = new URL(request.url ?? '/', 'http://double');
  answered.push(url.pathname + url.search);
  const [first = '', id, sub] = url.pathname.split('/').filter((part) => part !== '');
  if (first === 'v3') return send(response, 404, { error: { message: 'Not Found', code: 2100 } });
  if (sub === 'members')
    return send(response, 200, {
      members: USERS.map((user) => ({
        user: { id: user.id, type: 'user_reference', summary: user.name },
        role: 'responder',
      })),
      more: false,
    });
  if (sub === 'overrides') return send(response, 200, { overrides: [] });
  if (first === 'schedules' && id !== undefined) {
    const [since, until] = [
      Date.parse(url.searchParams.get('since') ?? ''),
      Date.parse(url.searchParams.get('until') ?? ''),
    ];
    if (url.searchParams.get('time_zone') !== 'UTC' || until - since > 90 * DAY_MS)
      return send(response, 400, { error: { message: 'Invalid Input Provided', code: 2001 } });
    return send(response, 200, {
      schedule: {
        ...LISTS['schedules']![0],
        teams: [],
        schedule_layers: [layer({ users: ['UADA', 'UBO'] })],
        final_schedule: { rendered_schedule_entries: rendered(since, until) },
      },
    });
  }
  const list = LISTS[first];
  if (list === undefined) return send(response, 404, { error: { message: 'Not Found', code: 2100 } });
  const offset = Number(url.searchParams.get('offset'));
  return send(response, 200, {
    [first]: list.slice(offset, offset + PAGE),
    limit: PAGE,
    offset,
    more: offset + PAGE < list.length,
    total: null,
  });
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
