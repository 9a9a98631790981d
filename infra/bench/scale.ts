import { setTimeout as delay } from 'node:timers/promises';

import { openDatabase } from '#storage/postgres/database.ts';

import { realEvents } from './exceptions/real_events.ts';
import { count, duration, percent, ratio } from './figures.ts';
import { type Bench, printInputs, printTable, withFolder } from './harness.ts';
import { type ManyScrapes, manyScrapes } from './metrics/many_scrapes.ts';
import { canRecord, recordScrapes } from './metrics/recorded_scrapes.ts';
import { Fleet, type FleetOptions } from './scale/fleet.ts';
import { measureGrowth } from './scale/growth.ts';
import {
  all,
  EVENTS_PER_SECOND,
  PAGE_EVERY_MS,
  PAGES,
  prepareServices,
  sendEvents,
  sendPages,
  sendPoints,
  type Spent,
  spentWhile,
} from './scale/load.ts';
import { measureTakeOver } from './scale/take_over.ts';

const COUNTS = (process.env['BENCH_PROCESSES'] ?? '1,2,4,8').split(',').map(Number);
/** Of all API processes together, before they are measured. */
const WARM_UP_PER_SECOND = 600;
const EVENT_SECONDS = 20;
const SCRAPED = { requests: 6, instances: 48, rounds: 8 };
const SCRAPES_PER_SECOND = 400;
const IDLE_MS = 12_000;
/** What the stores still do after the last of it was stored counts, too, as far as it is done within this time. */
const SETTLED_MS = 3_000;
const PARTS = { rounds: measureRounds, take_over: measureTakeOver, growth: measureGrowth } as const;
/** All of them, or those that are named. */
const WANTED = process.env['BENCH_SCALE']?.split(',') ?? Object.keys(PARTS);

interface Round {
  readonly processes: number;
  /** In a millisecond in which nothing is sent. */
  readonly idle: Spent;
  /** Of these, what is spent besides. */
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
        for (const [name, measure] of Object.entries(PARTS)) if (WANTED.includes(name)) await measure(fleet, folder);
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
    points:
      recorded === null
        ? 'left out: Prometheus is not installed'
        : `${count(points)}, in ${SCRAPES_PER_SECOND} requests a second in all`,
    pages: `${PAGES}, one every ${PAGE_EVERY_MS} ms, each for an exception of a new group`,
    figures: 'without what the processes take while nothing is sent, which is a figure of its own ("idle")',
    stores: `PostgreSQL, ClickHouse, ${fleet.stores.redisUrl === null ? 'the queue in PostgreSQL (Redis is not installed)' : 'Redis'}`,
  });
  const db = await openDatabase({ url: fleet.stores.databaseUrl, poolMax: 2 });
  try {
    await fleet.start('api');
    const services = await prepareServices(fleet, db);
    const rounds: Round[] = [];
    for (const processes of COUNTS) {
      await scaleTo(fleet, processes);
      // A process compiles what it runs often, and announces each series once: only what follows is told. Each process
      // gets as much before it is measured as the one of the first round. Pages come first: nobody gets a fourth in a minute.
      await sendPages(fleet, db, services, `WarmUp${rounds.length}`);
      for (let turn = 0; turn < processes; turn += 1) {
        await sendEvents(fleet, db, realEvents(EVENTS_PER_SECOND * EVENT_SECONDS, 20), services[0], WARM_UP_PER_SECOND);
        await sendPoints(fleet, db, scrapesFrom(Date.now() - 7_200_000 - turn * 1_800_000), services[0]);
      }
      const idle = await idleOf();
      const scrapes = scrapesFrom(Date.now() - 3_600_000);
      const round = {
        processes,
        idle,
        events: await besides(idle, () => sendEvents(fleet, db, events, services[0])),
        points: scrapes && (await besides(idle, () => sendPoints(fleet, db, scrapes, services[0], SCRAPES_PER_SECOND))),
        pages: await besides(idle, () => sendPages(fleet, db, services, `Round${rounds.length}`)),
      };
      rounds.push(round);
    }
    print(rounds, events.length, points);
  } finally {
    await db.close();
  }
}

async function idleOf(): Promise<Spent> {
  await delay(SETTLED_MS);
  const began = performance.now();
  const spent = await spentWhile(() => delay(IDLE_MS));
  const tookMs = performance.now() - began;
  return new Map([...spent].map(([name, ms]) => [name, ms / tookMs]));
}

/** What the work takes besides what the processes take anyway. */
async function besides(idle: Spent, work: () => Promise<unknown>): Promise<Spent> {
  const began = performance.now();
  const spent = await spentWhile(async () => {
    await work();
    await delay(SETTLED_MS);
  });
  const tookMs = performance.now() - began;
  return new Map([...spent].map(([name, ms]) => [name, ms - (idle.get(name) ?? 0) * tookMs]));
}

async function scaleTo(fleet: Fleet, processes: number): Promise<void> {
  await fleet.scaleTo('api', processes);
  await fleet.scaleTo('worker', processes);
  await fleet.scaleTo('pager', Math.ceil(processes / 4));
}

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
      'idle, of a processor': percent(all(idle)),
    })),
  );
  const kinds = ['API', 'Worker', 'Pager', 'PostgreSQL', 'ClickHouse', 'Redis'];
  printTable(
    rounds.map(({ processes, idle }) => ({
      'idle, of a processor': `${processes} + ${processes}`,
      ...Object.fromEntries(kinds.map((kind) => [kind, percent(idle.get(kind) ?? 0)])),
    })),
  );
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
