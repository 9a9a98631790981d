import { setTimeout as delay } from 'node:timers/promises';

import { createClient } from '@clickhouse/client';

import { openDatabase } from '#storage/postgres/database.ts';

import { realEvents } from './exceptions/real_events.ts';
import { count, duration, percent, ratio } from './figures.ts';
import { type Bench, printInputs, printTable, withFolder } from './harness.ts';
import { canRecord, manyScrapes, type ManyScrapes, recordScrapes } from '#infra/bench/metrics/many_scrapes.ts';
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
const MOST = Math.max(...COUNTS);
/** Load on all API processes together before they are measured. */
const WARM_UP_PER_SECOND = 600;
const WARM_UP_EVENTS = 2_000;
const EVENT_SECONDS = 15;
const SCRAPED = { requests: 6, instances: 48, rounds: 8 };
const SCRAPES_PER_SECOND = 400;
/** A small load lasts longer: what little it takes is a difference to what is taken anyway. */
const SMALL_LOAD_LASTS = 2;
const IDLE_MS = 15_000;
/** Time after the last store within which the work of the stores still counts. */
const SETTLED_MS = 3_000;
const PARTS = { rounds: measureRounds, take_over: measureTakeOver, growth: measureGrowth } as const;
/** All of them, or those that are named. */
const WANTED = process.env['BENCH_SCALE']?.split(',') ?? Object.keys(PARTS);
const LOADS = process.env['BENCH_LOADS']?.split(',') ?? ['events', 'points', 'pages'];

/** Processor time besides that of idle processes, by kind of process, in milliseconds. */
interface Costs {
  /** Each; null where it is not measured. */
  readonly event: Spent | null;
  readonly 'million points': Spent | null;
  readonly page: Spent | null;
}

interface Round {
  readonly processes: number;
  /** Processor time in a millisecond without load. */
  readonly idle: Spent;
  /** The same load for any number of processes: each gets the less, the more there are. */
  readonly sameLoad: Costs;
  /** A load that grows with the processes: each gets as much as each of the largest fleet. */
  readonly grownLoad: Costs;
}

/** All of a load or a part of it. */
interface Load {
  readonly share: number;
  readonly name: string;
}

export const scale: Bench = {
  name: 'scale',
  about:
    '1, 2, 4 and 8 API and worker processes: processor time an event, a point, a page (goal: at most 1.1 × one process), ' +
    'under the same load and under one that grows with them; and what grows with series and open incidents',
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
  const recorded = LOADS.includes('points') && canRecord() ? await recordScrapes(folder, SCRAPED.requests) : null;
  const scrapesFrom = (startMs: number, rounds = SCRAPED.rounds): ManyScrapes | null =>
    recorded && manyScrapes(recorded, { ...SCRAPED, rounds, lines: SCRAPED.instances, startMs });
  const points = scrapesFrom(Date.now())?.points ?? 0;
  printInputs({
    processes: `${COUNTS.join(', ')} API processes and as many workers; a pager for each four of them`,
    'same load': `is sent to all API processes alike, so that each of ${MOST} gets a part of what the only one gets (strong scaling)`,
    'grown load': `with fewer processes, less is sent: each gets what each of ${MOST} gets (weak scaling)`,
    events: `${count(EVENTS_PER_SECOND)}/s for ${EVENT_SECONDS} s in all, recorded from real clients`,
    points:
      recorded === null
        ? 'left out: not asked for, or Prometheus is not installed'
        : `${count(points)}, in ${SCRAPES_PER_SECOND} requests a second in all`,
    pages: `${PAGES}, one every ${PAGE_EVERY_MS} ms, each for an exception of a new group`,
    figures: 'without what the processes take while nothing is sent, which is a figure of its own ("idle")',
    stores: `PostgreSQL, ClickHouse, ${fleet.stores.redisUrl === null ? 'the queue in PostgreSQL (Redis is not installed)' : 'Redis'}`,
  });
  const db = await openDatabase({ url: fleet.stores.databaseUrl, poolMax: 2 });
  try {
    await fleet.start('api');
    const services = await prepareServices(fleet, db);
    const costsOf = async (idle: Spent, { share, name }: Load): Promise<Costs> => {
      const events = Math.round(EVENTS_PER_SECOND * EVENT_SECONDS * share);
      const pages = Math.round(PAGES * share);
      const rounds = Math.min(SCRAPED.rounds, Math.ceil(SCRAPED.rounds * share * SMALL_LOAD_LASTS));
      const scrapes = scrapesFrom(Date.now() - 3_600_000, rounds);
      const [service] = services;
      const ofEvents =
        LOADS.includes('events') &&
        (await besides(idle, () => sendEvents(fleet, db, realEvents(events, 20), service, EVENTS_PER_SECOND * share)));
      const ofPoints =
        scrapes && (await besides(idle, () => sendPoints(fleet, db, scrapes, service, SCRAPES_PER_SECOND * share)));
      const ofPages =
        LOADS.includes('pages') &&
        (await besides(idle, () => sendPages(fleet, db, services, { name, pages, everyMs: PAGE_EVERY_MS / share })));
      return {
        event: ofEvents ? each(ofEvents, events) : null,
        'million points': ofPoints && each(ofPoints, scrapes.points / 1_000_000),
        page: ofPages ? each(ofPages, pages) : null,
      };
    };
    const rounds: Round[] = [];
    for (const processes of COUNTS) {
      await scaleTo(fleet, processes);
      // A process compiles what it runs often, and announces each series once: only what follows is told. Each process
      // gets as much before it is measured as the one of the first round. Pages come first: nobody gets a fourth in a minute.
      if (LOADS.includes('pages')) {
        await sendPages(fleet, db, services, { name: `WarmUp${processes}`, pages: PAGES, everyMs: PAGE_EVERY_MS });
      }
      for (let turn = 0; turn < processes; turn += 1) {
        await sendEvents(fleet, db, realEvents(WARM_UP_EVENTS, 20), services[0], WARM_UP_PER_SECOND);
        await sendPoints(fleet, db, scrapesFrom(Date.now() - 7_200_000 - turn * 1_800_000), services[0]);
      }
      await mergeTables(fleet);
      const idle = await idleOf();
      const sameLoad = await costsOf(idle, { share: 1, name: `Same${processes}` });
      const share = processes / MOST;
      const grownLoad = share === 1 ? sameLoad : await costsOf(idle, { share, name: `Grown${processes}` });
      rounds.push({ processes, idle, sameLoad, grownLoad });
      const inShort = ({ event, 'million points': points, page }: Costs) =>
        [event, points, page].map((spent) => (spent === null ? '–' : duration(all(spent)))).join(', ');
      console.log(`  ${processes} + ${processes}: ${inShort(sameLoad)}; grown load: ${inShort(grownLoad)}`);
    }
    print(rounds);
  } finally {
    await db.close();
  }
}

/** Merges the tables, so that parts of earlier loads are not merged during the next measurements. */
async function mergeTables({ stores }: Fleet): Promise<void> {
  const clickhouse = createClient({ url: stores.clickhouseUrl });
  try {
    for (const table of ['metric_points', 'metric_series', 'metric_names', 'exception_events', 'exception_origins']) {
      await clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
    }
  } finally {
    await clickhouse.close();
  }
}

function each(spent: Spent, times: number): Spent {
  return new Map([...spent].map(([name, ms]) => [name, ms / times]));
}

async function idleOf(): Promise<Spent> {
  await delay(SETTLED_MS);
  const began = performance.now();
  const spent = await spentWhile(() => delay(IDLE_MS));
  const tookMs = performance.now() - began;
  return new Map([...spent].map(([name, ms]) => [name, ms / tookMs]));
}

/** Returns the processor time of the work besides that of idle processes. */
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

const KINDS = ['API', 'Worker', 'Pager', 'PostgreSQL', 'ClickHouse', 'Redis'];

function print(rounds: readonly Round[]): void {
  printTable(
    rounds.map(({ processes, idle }) => ({
      'idle, of a processor': `${processes} + ${processes}`,
      all: percent(all(idle)),
      ...Object.fromEntries(KINDS.map((kind) => [kind, percent(idle.get(kind) ?? 0)])),
    })),
  );
  for (const [load, costsOf] of [
    ['same load', (round: Round) => round.sameLoad],
    ['grown load', (round: Round) => round.grownLoad],
  ] as const) {
    for (const what of ['event', 'million points', 'page'] as const) {
      const base = rounds[0] && costsOf(rounds[0])[what];
      if (!base) continue;
      printTable(
        rounds.map((round) => {
          const spent = costsOf(round)[what] ?? new Map<string, number>();
          return {
            [`${load}, processor, a${what === 'event' ? 'n' : ''} ${what}`]: `${round.processes} + ${round.processes}`,
            all: duration(all(spent)),
            [`of ${rounds[0]?.processes} + ${rounds[0]?.processes}`]: ratio(all(spent), all(base)),
            ...Object.fromEntries(KINDS.map((kind) => [kind, duration(spent.get(kind) ?? 0)])),
          };
        }),
      );
    }
  }
}
