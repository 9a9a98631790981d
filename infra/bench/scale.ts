import { setTimeout as delay } from 'node:timers/promises';

import { connect } from '#infra/demo/client.ts';
import { openDatabase } from '#storage/postgres/database.ts';
import type { Database } from '#storage/postgres/database.ts';

import { rawRequest, sendAtRate } from './exceptions/open_loop.ts';
import { realEvents } from './exceptions/real_events.ts';
import { count, duration, percent, ratio } from './figures.ts';
import { type Bench, printInputs, printTable, withFolder } from './harness.ts';
import { type ManyScrapes, manyScrapes } from './metrics/many_scrapes.ts';
import { canRecord, recordScrapes } from './metrics/recorded_scrapes.ts';
import { sendScrapes } from './metrics/send_scrapes.ts';
import { alertOnExceptions, createPagedService, createTeam, type PagedService } from './paging/fixture.ts';
import { isAllDone } from './paging/pages.ts';
import { countProcessorBelow } from './paging/processes.ts';
import { newEventId, sendException } from './paging/sender.ts';
import { at, Fleet, type FleetOptions } from './scale/fleet.ts';
import { measureGrowth } from './scale/growth.ts';
import { measureTakeOver } from './scale/take_over.ts';

const COUNTS = [1, 2, 4, 8];
/** Of all API processes together, before they are measured. */
const WARM_UP_PER_SECOND = 600;
const EVENTS_PER_SECOND = Number(process.env['BENCH_EVENTS_PER_SECOND'] ?? 300);
const EVENT_SECONDS = 20;
const CONNECTIONS = 64;
const SCRAPED = { requests: 6, instances: 48, rounds: 8 };
const PAGES = 200;
const PAGE_EVERY_MS = 75;
/** Each pages a person of its own, who gets two messages in a round: a fourth in a minute would go into a digest. */
const SERVICES = 100;
const IDLE_MS = 8_000;
const GIVEN_UP_AFTER_MS = 120_000;

/** Milliseconds of processor by kind of process, without this program. */
type Spent = ReadonlyMap<string, number>;

interface Round {
  readonly processes: number;
  readonly idle: Spent;
  readonly events: Spent;
  readonly points: Spent | null;
  readonly pages: Spent;
}

export const scale: Bench = {
  name: 'scale',
  about:
    '1, 2, 4 and 8 API and worker processes: processor time an event, a point, a page (goal: at most 1.1 × one process); ' +
    'and what grows with series and open incidents',
  minutesMax: 40,
  run: () =>
    withFolder(async (folder) => {
      const options: FleetOptions = {
        queue: 'Redis',
        variables: { NEW_GROUPS_PER_MINUTE: '0', INCIDENTS_PER_SERVICE: '0', INGEST_SERIES_PER_DAY: '0' },
      };
      const fleet = await Fleet.open(folder, options);
      try {
        await fleet.migrate();
        await measureRounds(fleet, folder);
        await measureTakeOver(fleet);
        await measureGrowth(fleet);
      } finally {
        await fleet.close();
      }
    }),
};

async function measureRounds(fleet: Fleet, folder: string): Promise<void> {
  const events = realEvents(EVENTS_PER_SECOND * EVENT_SECONDS, 20);
  const recorded = canRecord() ? await recordScrapes(folder, SCRAPED.requests) : null;
  const scrapesFrom = (startMs: number): ManyScrapes | null =>
    recorded && manyScrapes(recorded, { ...SCRAPED, lines: SCRAPED.instances, startMs });
  const points = scrapesFrom(Date.now())?.points ?? 0;
  printInputs({
    processes: `${COUNTS.join(', ')} API processes and as many workers; a pager for each four of them`,
    events: `${count(EVENTS_PER_SECOND)}/s for ${EVENT_SECONDS} s in all, recorded from real clients, to all API processes alike`,
    points: recorded === null ? 'left out: Prometheus is not installed' : `${count(points)}, as fast as they are taken`,
    pages: `${PAGES}, one every ${PAGE_EVERY_MS} ms, each for an exception of a new group`,
    stores: `PostgreSQL, ClickHouse, ${fleet.stores.redisUrl === null ? 'the queue in PostgreSQL (Redis is not installed)' : 'Redis'}`,
  });
  const db = await openDatabase({ url: fleet.stores.databaseUrl, poolMax: 2 });
  try {
    await fleet.start('api');
    const services = await prepare(fleet, db);
    const rounds: Round[] = [];
    for (const processes of COUNTS) {
      await scaleTo(fleet, processes);
      // A process compiles what it runs often, and announces each series once: only what follows is told. Each process
      // gets as much before it is measured as the one of the first round.
      for (let turn = 0; turn < processes; turn += 1) {
        await sendEvents(fleet, db, realEvents(EVENTS_PER_SECOND * EVENT_SECONDS, 20), services[0], WARM_UP_PER_SECOND);
        await sendPoints(fleet, db, scrapesFrom(Date.now() - 7_200_000 - turn * 1_800_000), services[0]);
      }
      const round = {
        processes,
        idle: await spentWhile(() => delay(IDLE_MS)),
        events: await sendEvents(fleet, db, events, services[0]),
        points: await sendPoints(fleet, db, scrapesFrom(Date.now() - 3_600_000), services[0]),
        pages: await sendPages(fleet, db, services, `Round${rounds.length}`),
      };
      rounds.push(round);
    }
    print(rounds, events.length, points);
  } finally {
    await db.close();
  }
}

async function scaleTo(fleet: Fleet, processes: number): Promise<void> {
  await fleet.scaleTo('api', processes);
  await fleet.scaleTo('worker', processes);
  await fleet.scaleTo('pager', Math.ceil(processes / 4));
}

async function prepare(fleet: Fleet, db: Database): Promise<PagedService[]> {
  const [api] = fleet.of('api');
  const firstRun = fleet.firstRun();
  const client = connect({ ...firstRun, baseUrl: api?.url ?? '', phoneUrl: fleet.phone.url, stop: async () => {} });
  const { teamId, userIds } = await createTeam(db, client, firstRun.organizationId, SERVICES);
  const services: PagedService[] = [];
  for (const [index, target] of userIds.entries()) {
    const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [target] }];
    const service = await createPagedService(client, teamId, `service ${index}`, steps);
    // The first takes the events that page nobody.
    if (index > 0) await alertOnExceptions(client, service);
    services.push(service);
  }
  return services;
}

async function sendEvents(
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
    const apis = fleet.of('api');
    const taken = await Promise.all(
      apis.map(({ url }, index) =>
        sendAtRate(
          requests.filter((_, place) => place % apis.length === index),
          {
            host: '127.0.0.1',
            port: Number(new URL(url).port),
            connections: Math.ceil(CONNECTIONS / apis.length),
            perSecond: perSecond / apis.length,
          },
        ),
      ),
    );
    const refused = taken.flat().filter(({ status }) => status !== 200);
    if (refused.length > 0) throw new Error(`${refused.length} events were refused, with ${refused[0]?.status} first`);
    await untilDrained(db);
  });
}

async function sendPoints(
  fleet: Fleet,
  db: Database,
  scrapes: ManyScrapes | null,
  service: PagedService | undefined,
): Promise<Spent | null> {
  if (scrapes === null) return null;
  const apis = fleet.of('api');
  const credentials = { authorization: `Bearer ${service?.ingestionKey}` };
  return await spentWhile(async () => {
    await Promise.all(
      apis.map(({ url }, index) => {
        const lines = scrapes.lines.filter((_, place) => place % apis.length === index);
        return sendScrapes({ ...scrapes, lines }, `${url}/api/ingest/prometheus/write`, credentials);
      }),
    );
    await untilDrained(db);
  });
}

async function sendPages(fleet: Fleet, db: Database, services: readonly PagedService[], name: string): Promise<Spent> {
  return await spentWhile(async () => {
    const sending: Promise<unknown>[] = [];
    for (let page = 0; page < PAGES; page += 1) {
      const apis = fleet.of('api');
      const api = apis[page % apis.length];
      const service = services[1 + (page % (services.length - 1))];
      if (api === undefined || service === undefined) throw new Error('nothing runs');
      sending.push(sendException(at(service.dsn, api), `${name}x${page}`, newEventId()));
      await delay(PAGE_EVERY_MS);
    }
    await Promise.all(sending);
    await untilDrained(db);
    const isPaged = async () => (await countPages(db, name)) === PAGES && (await isAllDone(db));
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
  await until(async () => (await db.sql.row('select 1 from kept_jobs limit 1')) === null, 'the queue is drained');

async function until(isReached: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + GIVEN_UP_AFTER_MS;
  while (!(await isReached())) {
    if (performance.now() > deadline) throw new Error(`waited ${GIVEN_UP_AFTER_MS / 1_000} s in vain until ${what}`);
    await delay(50);
  }
}

async function spentWhile(work: () => Promise<unknown>): Promise<Spent> {
  const spent = countProcessorBelow(process.pid);
  await work();
  return new Map([...spent()].filter(([name]) => name !== 'Supervisor (this program)'));
}

const all = (spent: Spent): number => [...spent.values()].reduce((sum, ms) => sum + ms, 0);

function print(rounds: readonly Round[], events: number, points: number): void {
  const [first] = rounds;
  if (first === undefined) return;
  const cells = (spent: Spent, base: Spent, each: number, unit = 1) => ({
    each: duration((all(spent) / each) * unit),
    'of one process': ratio(all(spent), all(base)),
  });
  const named = (prefix: string, found: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(found).map(([name, value]) => [`${prefix} ${name}`, value]));
  printTable(
    rounds.map(({ processes, idle, events: ofEvents, points: ofPoints, pages }) => ({
      processes: `${processes} + ${processes}`,
      ...named('event,', cells(ofEvents, first.events, events)),
      ...(ofPoints && first.points && named('million points,', cells(ofPoints, first.points, points, 1_000_000))),
      ...named('page,', cells(pages, first.pages, PAGES)),
      'idle, of a processor': percent(all(idle) / IDLE_MS),
    })),
  );
  const kinds = ['API', 'Worker', 'Pager', 'PostgreSQL', 'ClickHouse', 'Redis'];
  const works = [
    ['event', (round: Round) => round.events, events],
    ['million points', (round: Round) => round.points ?? new Map(), points / 1_000_000],
    ['page', (round: Round) => round.pages, PAGES],
  ] as const;
  for (const [what, spentOf, each] of works) {
    printTable(
      rounds.map((round) => ({
        [`processor, a${what === 'event' ? 'n' : ''} ${what}`]: `${round.processes} + ${round.processes}`,
        ...Object.fromEntries(kinds.map((kind) => [kind, duration((spentOf(round).get(kind) ?? 0) / each)])),
      })),
    );
  }
}
