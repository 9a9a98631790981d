import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { openDatabase } from '#storage/postgres/database.ts';

import { realEvents } from './exceptions/real_events.ts';
import { count, duration, megabytes, ratio } from './figures.ts';
import { type Bench, printInputs, printTable, withFolder } from './harness.ts';
import { canRecord, manyScrapes, type ManyScrapes, recordScrapes } from '#infra/bench/metrics/many_scrapes.ts';
import { Fleet } from './scale/fleet.ts';
import {
  EVENTS_PER_SECOND,
  PAGE_EVERY_MS,
  PAGES,
  prepareServices,
  sendEvents,
  sendPages,
  sendPoints,
  type Spent,
} from './scale/load.ts';

const EVENT_SECONDS = 15;
const SCRAPED = { requests: 6, instances: 48, rounds: 8 };
/** The processes of the product: what the stores spend does not depend on it. */
const OWN = ['API', 'Worker', 'Pager'];

interface Costs {
  readonly events: Spent;
  readonly points: Spent | null;
  readonly pages: Spent;
}

interface Collector {
  readonly url: string;
  readonly requests: number;
  readonly bytes: number;
  close(): void;
}

export const tracing: Bench = {
  name: 'tracing',
  about:
    'processor time of the product for an event, a point and a page, with traces sent by OpenTelemetry and without',
  run: () =>
    withFolder(async (folder) => {
      const recorded = canRecord() ? await recordScrapes(path.join(folder, 'recorded'), SCRAPED.requests) : null;
      const scrapesFrom = (startMs: number): ManyScrapes | null =>
        recorded && manyScrapes(recorded, { ...SCRAPED, lines: SCRAPED.instances, startMs });
      const points = scrapesFrom(Date.now())?.points ?? 0;
      printInputs({
        processes: 'one API process, one worker, one pager',
        events: `${count(EVENTS_PER_SECOND)}/s for ${EVENT_SECONDS} s, recorded from real clients`,
        points: recorded === null ? 'left out: Prometheus is not installed' : count(points),
        pages: `${PAGES}, one every ${PAGE_EVERY_MS} ms, each for an exception of a new group`,
        traces: 'every one, to a collector that only answers',
      });
      const collector = await startCollector();
      const off = await costsOf(path.join(folder, 'off'), {}, scrapesFrom);
      const on = await costsOf(path.join(folder, 'on'), { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, scrapesFrom);
      collector.close();
      const events = EVENTS_PER_SECOND * EVENT_SECONDS;
      const row = (what: string, spentOf: (costs: Costs) => Spent | null, each: number) => {
        const [without, with_] = [ownOf(spentOf(off)), ownOf(spentOf(on))];
        return {
          'processor of the product': what,
          'without traces': duration(without / each),
          'with traces': duration(with_ / each),
          'of without': ratio(with_, without),
        };
      };
      printTable([
        row('an event', (costs) => costs.events, events),
        row('a million points', (costs) => costs.points, points / 1_000_000),
        row('a page, with its exception', (costs) => costs.pages, PAGES),
      ]);
      printTable([
        { 'sent to the collector': `${count(collector.requests)} requests`, together: megabytes(collector.bytes) },
      ]);
    }),
};

async function costsOf(
  folder: string,
  variables: Readonly<Record<string, string>>,
  scrapesFrom: (startMs: number) => ManyScrapes | null,
): Promise<Costs> {
  const limits = { NEW_GROUPS_PER_MINUTE: '0', INCIDENTS_PER_SERVICE: '0', INGEST_SERIES_PER_DAY: '0' };
  const fleet = await Fleet.open(folder, { queue: 'Redis', variables: { ...limits, ...variables } });
  try {
    await fleet.migrate();
    for (const role of ['api', 'worker', 'pager'] as const) await fleet.start(role);
    const db = await openDatabase({ url: fleet.stores.databaseUrl, poolMax: 2 });
    try {
      const services = await prepareServices(fleet, db);
      const events = () => realEvents(EVENTS_PER_SECOND * EVENT_SECONDS, 20);
      // A process compiles what it runs often, and announces each series once: only what follows is told.
      await sendEvents(fleet, db, events(), services[0]);
      await sendPoints(fleet, db, scrapesFrom(Date.now() - 7_200_000), services[0]);
      await sendPages(fleet, db, services, { name: 'First', pages: PAGES, everyMs: PAGE_EVERY_MS });
      return {
        events: await sendEvents(fleet, db, events(), services[0]),
        points: await sendPoints(fleet, db, scrapesFrom(Date.now() - 3_600_000), services[0]),
        pages: await sendPages(fleet, db, services, { name: 'Second', pages: PAGES, everyMs: PAGE_EVERY_MS }),
      };
    } finally {
      await db.close();
    }
  } finally {
    await fleet.close();
  }
}

function ownOf(spent: Spent | null): number {
  return OWN.reduce((sum, kind) => sum + (spent?.get(kind) ?? 0), 0);
}

async function startCollector(): Promise<Collector> {
  let requests = 0;
  let bytes = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    get bytes() {
      return bytes;
    },
    close: () => server.close(),
  };
}
