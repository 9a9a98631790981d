import { setTimeout as delay } from 'node:timers/promises';

import { loadConfig, runningConfig } from '#entry/config.ts';
import { connect } from '#infra/demo/client.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import type { Database } from '#storage/postgres/database.ts';

import { rawRequest, sendAtRate, type Taken } from './exceptions/open_loop.ts';
import { measureMapping } from './exceptions/mapping.ts';
import { type EventRequest, realEvents } from './exceptions/real_events.ts';
import { count, duration, percent, spreadCells, spreadOf } from './figures.ts';
import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from './harness.ts';
import { openRunningDatabase } from './paging/fixture.ts';
import { countProcessorBelow } from './paging/processes.ts';

const PER_SECOND = Number(process.env['BENCH_EVENTS_PER_SECOND'] ?? 1_000);
const SECONDS = 30;
const WARM_UP_SECONDS = 5;
const CONNECTIONS = 64;
const VARIANTS = 20;
const SAMPLE_EVERY_MS = 250;
const DRAINED_WITHIN_MS = 60_000;
/** The API tells its figures to nobody without it. */
const METRICS_TOKEN = 'a-token-that-is-long-enough-for-benchmarks';

export const exceptions: Bench = {
  name: 'exceptions',
  about:
    'exception events accepted, grouped and queryable, the queue drained, everything on this machine (goals: ' +
    '1,000/s sustained, accept p99 20 ms)',
  run: () =>
    withInstallation(
      async (installation) => {
        const requests = await prepare(installation);
        const client = openClickHouse({ clickhouseUrl: await clickhouseUrl(installation) });
        const db = await openRunningDatabase(installation.dataDir);
        try {
          await measure(installation, client, db, requests);
          await printMapping(installation, db);
        } finally {
          await db.close();
          await client.close();
        }
      },
      { variables: { METRICS_TOKEN } },
    ),
};

async function prepare(installation: BenchInstallation): Promise<Buffer[]> {
  const events = realEvents((WARM_UP_SECONDS + SECONDS) * PER_SECOND, VARIANTS);
  const bytes = events.reduce((sum, { body }) => sum + body.length, 0);
  printInputs({
    events: `${count(PER_SECOND)}/s for ${SECONDS} s, after ${WARM_UP_SECONDS} s to warm up; recorded from real clients`,
    'a request': `${count(bytes / events.length)} bytes on average, as its client encodes it, on ${CONNECTIONS} connections`,
    stores: 'embedded, as durable as in production',
  });
  return inOneStretch(await addressed(installation, events));
}

async function measure(
  installation: BenchInstallation,
  client: ClickHouseClient,
  db: Database,
  requests: readonly Buffer[],
): Promise<void> {
  const { hostname: host, port } = new URL(installation.baseUrl);
  const send = (part: readonly Buffer[]): Promise<Taken[]> =>
    sendAtRate(part, { host, port: Number(port), connections: CONNECTIONS, perSecond: PER_SECOND });
  const warmUp = WARM_UP_SECONDS * PER_SECOND;
  await send(requests.slice(0, warmUp));
  await untilDrained(db);

  const before = await apiFigures(installation.baseUrl);
  const watch = watchQueue(db);
  const spentMs = countProcessorBelow(process.pid);
  const began = performance.now();
  const taken = await send(requests.slice(warmUp));
  const sentMs = performance.now() - began;
  await untilDrained(db);
  const drainedMs = performance.now() - began;
  const spent = [...spentMs()].toSorted(([, a], [, b]) => b - a);
  const most = await watch.stop();
  const after = await apiFigures(installation.baseUrl);

  printTable([
    { accept: 'from sent to answered', ...spreadCells(spreadOf(taken.map(({ answeredInMs }) => answeredInMs))) },
    { accept: 'from due to answered', ...spreadCells(spreadOf(taken.map(({ sinceDueMs }) => sinceDueMs))) },
  ]);
  const refused = taken.filter(({ status }) => status !== 200).length;
  const stored = await countStored(client);
  printTable([
    { what: 'accepted', figure: `${count((taken.length - refused) / (sentMs / 1_000))}/s, ${count(refused)} refused` },
    {
      what: 'queryable',
      figure: `${count(stored.events)} of ${count(requests.length - refused)} in ${stored.groups} groups`,
    },
    { what: 'queue drained after the last answer', figure: duration(Math.max(0, drainedMs - sentMs)) },
    { what: 'jobs in the queue at most', figure: count(most) },
    { what: "in the API's hands, on average", figure: duration(meanMs(before, after)) },
  ]);
  printTable(
    spent.map(([name, ms]) => ({
      process: name,
      'processor, an event': duration(ms / taken.length),
      'of one processor': percent(ms / drainedMs),
    })),
  );
}

/** Prints the work that source maps add to an event. */
async function printMapping(installation: BenchInstallation, db: Database): Promise<void> {
  const { dataDir: folder, organizationId } = installation;
  const service = await db.sql.row<{ id: string }>('select id from services where org_id = $1 limit 1', [
    organizationId,
  ]);
  const figures = await measureMapping(db, { organizationId, serviceId: service?.id ?? '', folder });
  const { codeBytes, mapBytes, frames, mappedShare, eventMs, coldMs } = figures;
  printTable([
    {
      'source maps': `code of ${count(codeBytes)} bytes, a map of ${count(mapBytes)}, ${frames} frames an event, ${percent(mappedShare)} mapped`,
      'processor, an event': `${duration(eventMs)} with the map in memory (goal 300 µs)`,
      'first event': `${duration(coldMs)}, which loads the map`,
    },
  ]);
}

/** Each event as the bytes of its request. */
async function addressed(installation: BenchInstallation, events: readonly EventRequest[]): Promise<Buffer[]> {
  const client = connect({ ...installation, stop: async () => {} });
  const { serviceId, dsn } = await client.action<{ serviceId: string; dsn: string }>('create_service', {
    name: 'shop',
  });
  await client.action('enable_capability', { serviceId, capability: 'exceptions' });
  const { username, pathname } = new URL(dsn);
  return events.map(({ kind, headers, body }) =>
    rawRequest(`/api${pathname}/${kind}/?sentry_key=${username}`, headers, body),
  );
}

/** The same in memory outside the heap, so that garbage collection does not affect the figures. */
function inOneStretch(parts: readonly Buffer[]): Buffer[] {
  const stretch = Buffer.concat(parts);
  let end = 0;
  return parts.map(({ length }) => stretch.subarray(end, (end += length)));
}

async function clickhouseUrl({ dataDir }: BenchInstallation): Promise<string> {
  const { clickhouseUrl: url } = await runningConfig(loadConfig({ DATA_DIR: dataDir }));
  if (url === undefined) throw new Error(`no ClickHouse runs on ${dataDir}`);
  return url;
}

async function countStored(client: ClickHouseClient): Promise<{ events: number; groups: number }> {
  const result = await client.query({
    query:
      'SELECT toUInt32(uniqExact(event_id)) AS events, toUInt32(uniqExact(group_id)) AS groups FROM exception_events',
    format: 'JSONEachRow',
  });
  const [row = { events: 0, groups: 0 }] = await result.json<{ events: number; groups: number }>();
  return row;
}

interface ApiFigures {
  readonly requests: number;
  readonly seconds: number;
}

/** The API's own metrics of all requests with events. */
async function apiFigures(baseUrl: string): Promise<ApiFigures> {
  const response = await fetch(`${baseUrl}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`the API did not tell its figures: ${response.status} ${text}`);
  const sum = (pattern: RegExp) => [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return {
    requests: sum(/^tocsin_http_request_duration_seconds_count\{.*projectId.*\} (\S+)$/gm),
    seconds: sum(/^tocsin_http_request_duration_seconds_sum\{.*projectId.*\} (\S+)$/gm),
  };
}

function meanMs(before: ApiFigures, after: ApiFigures): number {
  return ((after.seconds - before.seconds) * 1_000) / Math.max(1, after.requests - before.requests);
}

async function jobsInQueue(db: Database): Promise<number> {
  const row = await db.sql.row<{ jobs: number }>('select count(*)::int as jobs from durable_jobs');
  return row?.jobs ?? 0;
}

async function untilDrained(db: Database): Promise<void> {
  const deadline = performance.now() + DRAINED_WITHIN_MS;
  while ((await jobsInQueue(db)) > 0) {
    if (performance.now() > deadline)
      throw new Error(`the queue was not drained within ${duration(DRAINED_WITHIN_MS)}`);
    await delay(50);
  }
}

/** The largest number of jobs seen in the queue before it is stopped. */
function watchQueue(db: Database): { stop(): Promise<number> } {
  const stopping = new AbortController();
  const watching = (async () => {
    let most = 0;
    while (!stopping.signal.aborted) {
      most = Math.max(most, await jobsInQueue(db));
      await delay(SAMPLE_EVERY_MS);
    }
    return most;
  })();
  return {
    async stop() {
      stopping.abort();
      return await watching;
    },
  };
}
