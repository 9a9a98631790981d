import { setTimeout as delay } from 'node:timers/promises';

import { connect } from '#infra/demo/client.ts';
import type { Database } from '#storage/postgres/database.ts';

import { rawRequest, sendAtRate } from '#infra/bench/exceptions/open_loop.ts';
import type { realEvents } from '#infra/bench/exceptions/real_events.ts';
import { type ManyScrapes, REMOTE_WRITE_HEADERS, sendScrapes } from '#infra/bench/metrics/many_scrapes.ts';
import { alertOnExceptions, createPagedService, createTeam, type PagedService } from '#infra/bench/paging/fixture.ts';
import { isAllDone } from '#infra/bench/paging/pages.ts';
import { countProcessorBelow } from '#infra/bench/paging/processes.ts';
import { newEventId, sendException } from '#infra/bench/paging/sender.ts';
import { at, type Fleet } from './fleet.ts';

export const EVENTS_PER_SECOND = Number(process.env['BENCH_EVENTS_PER_SECOND'] ?? 300);
const CONNECTIONS = 64;
export const PAGES = 200;
export const PAGE_EVERY_MS = 75;
/** Each pages a person of its own, who gets two messages in a round: a fourth in a minute would go into a digest. */
const SERVICES = 100;
const GIVEN_UP_AFTER_MS = 120_000;

/** Milliseconds of processor by kind of process, without this program. */
export type Spent = ReadonlyMap<string, number>;

/** Services that page a person each for exceptions; the first takes the events that page nobody. */
export async function prepareServices(fleet: Fleet, db: Database): Promise<PagedService[]> {
  const [api] = fleet.of('api');
  const firstRun = fleet.firstRun();
  const client = connect({ ...firstRun, baseUrl: api?.url ?? '', phoneUrl: fleet.phone.url, stop: async () => {} });
  const { teamId, userIds } = await createTeam(db, client, firstRun.organizationId, SERVICES);
  const services: PagedService[] = [];
  for (const [index, target] of userIds.entries()) {
    const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [target] }];
    const service = await createPagedService(client, teamId, `service ${index}`, steps);
    if (index > 0) await alertOnExceptions(client, service);
    services.push(service);
  }
  return services;
}

export async function sendEvents(
  fleet: Fleet,
  db: Database,
  events: ReturnType<typeof realEvents>,
  service: PagedService | undefined,
  perSecond = EVENTS_PER_SECOND,
): Promise<Spent> {
  const { username, pathname } = new URL(service?.dsn ?? '');
  const requests = events.map(({ kind, headers, body }) =>
    rawRequest(`/api${pathname}/${kind}/?sentry_key=${username}`, headers, body),
  );
  return await spentWhile(async () => {
    await sendToAll(
      fleet.of('api').map(({ url }) => url),
      requests,
      perSecond,
    );
    await untilDrained(db);
  });
}

/** Sends an equal part to each process. */
export async function sendToAll(
  urls: readonly string[],
  requests: readonly Buffer[],
  perSecond: number,
): Promise<void> {
  await Promise.all(
    urls.map(async (url, index) => {
      const share = requests.filter((_, place) => place % urls.length === index);
      await sendAllAtRate(url, share, perSecond / urls.length, urls.length);
    }),
  );
}

/** Each instance to one of the processes: so many requests a second in all, or as fast as they are taken. */
export async function sendPoints(
  fleet: Fleet,
  db: Database,
  scrapes: ManyScrapes | null,
  service: PagedService | undefined,
  perSecond?: number,
): Promise<Spent | null> {
  if (scrapes === null) return null;
  const apis = fleet.of('api');
  const path = '/api/ingest/prometheus/write';
  const credentials = { authorization: `Bearer ${service?.ingestionKey}` };
  const linesOf = (api: number) => scrapes.lines.filter((_, line) => line % apis.length === api);
  const requests = apis.map((_, index) =>
    perSecond === undefined
      ? []
      : inTurn(linesOf(index)).map((body) => rawRequest(path, { ...REMOTE_WRITE_HEADERS, ...credentials }, body)),
  );
  return await spentWhile(async () => {
    await Promise.all(
      apis.map(async ({ url }, index) => {
        if (perSecond === undefined)
          await sendScrapes({ ...scrapes, lines: linesOf(index) }, `${url}${path}`, credentials);
        else await sendAllAtRate(url, requests[index] ?? [], perSecond / apis.length, apis.length);
      }),
    );
    await untilDrained(db);
  });
}

/** The first of each, then the second of each. */
function inTurn(lines: readonly (readonly Buffer[])[]): Buffer[] {
  const longest = Math.max(0, ...lines.map(({ length }) => length));
  return Array.from({ length: longest }, (_, place) => lines.flatMap((line) => line[place] ?? [])).flat();
}

async function sendAllAtRate(
  url: string,
  requests: readonly Buffer[],
  perSecond: number,
  processes: number,
): Promise<void> {
  const { hostname: host, port } = new URL(url);
  const connections = Math.ceil(CONNECTIONS / processes);
  const taken = await sendAtRate(requests, { host, port: Number(port), connections, perSecond });
  const refused = taken.filter(({ status }) => status < 200 || status > 299);
  if (refused.length > 0) throw new Error(`${refused.length} requests were refused, with ${refused[0]?.status} first`);
}

/** Exceptions of new groups, at an even pace. */
interface Paging {
  /** Name, which is unique. */
  readonly name: string;
  readonly pages: number;
  readonly everyMs: number;
}

export async function sendPages(
  fleet: Fleet,
  db: Database,
  services: readonly PagedService[],
  { name, pages, everyMs }: Paging,
): Promise<Spent> {
  return await spentWhile(async () => {
    const sending: Promise<unknown>[] = [];
    for (let page = 0; page < pages; page += 1) {
      const apis = fleet.of('api');
      const api = apis[page % apis.length];
      const service = services[1 + (page % (services.length - 1))];
      if (api === undefined || service === undefined) throw new Error('nothing runs');
      sending.push(sendException(at(service.dsn, api), `${name}x${page}`, newEventId()));
      await delay(everyMs);
    }
    await Promise.all(sending);
    await untilDrained(db);
    const isPaged = async () => (await countPages(db, name)) === pages && (await isAllDone(db));
    await until(isPaged, 'every page has left');
    await fleet.phone.settled();
  });
}

async function countPages({ sql }: Database, name: string): Promise<number> {
  const row = await sql.row<{ pages: number }>(
    `select count(*)::int as pages from notifications n join incidents i on i.id = n.incident_id
     where i.title like $1 and n.kind = 'page'`,
    [`${name}x%`],
  );
  return row?.pages ?? 0;
}

const untilDrained = async (db: Database): Promise<void> =>
  await until(async () => (await db.sql.row('select 1 from durable_jobs limit 1')) === null, 'the queue is drained');

async function until(isReached: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + GIVEN_UP_AFTER_MS;
  while (!(await isReached())) {
    if (performance.now() > deadline) throw new Error(`waited ${GIVEN_UP_AFTER_MS / 1_000} s in vain until ${what}`);
    await delay(50);
  }
}

export async function spentWhile(work: () => Promise<unknown>): Promise<Spent> {
  const spent = countProcessorBelow(process.pid);
  await work();
  return new Map([...spent()].filter(([name]) => name !== 'Supervisor (this program)'));
}

/** Sums the time of all processes. */
export const all = (spent: Spent): number => [...spent.values()].reduce((sum, ms) => sum + ms, 0);
