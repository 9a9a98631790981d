import { setTimeout as delay } from 'node:timers/promises';

import { loadConfig, runningConfig } from '#entry/config.ts';
import { connect } from '#infra/demo/client.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';

import { duration, percent, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable, withInstallation } from './harness.ts';
import { countProcessorBelow } from './paging/processes.ts';
import { newEventId, sendException } from './paging/sender.ts';

const SERVICES = 50;
const POINTS_A_REQUEST = 200;
const TIMES_SHARE = 10;
const EXCEPTIONS_PER_SECOND = 300;
const WARM_UP_SECONDS = 8;
const SECONDS = 25;
const LOOK_MS = 40;
/** Label that tells a request from others of its service. */
const MARK = 'fairness_mark';

interface Service {
  readonly name: string;
  readonly ingestionKey: string;
  readonly dsn: string;
}

interface Phase {
  readonly about: string;
  /** Requests a second of the first service, where others send one. */
  readonly times: number;
  readonly exceptionsPerSecond: number;
}

const PHASES: readonly Phase[] = [
  { about: 'all alike', times: 1, exceptionsPerSecond: 0 },
  { about: `one at ${TIMES_SHARE} times its share`, times: TIMES_SHARE, exceptionsPerSecond: 0 },
  {
    about: `the same, and ${EXCEPTIONS_PER_SECOND} exceptions a second of it`,
    times: TIMES_SHARE,
    exceptionsPerSecond: EXCEPTIONS_PER_SECOND,
  },
];

export const fairness: Bench = {
  name: 'fairness',
  about: `points of ${SERVICES} services until they can be queried, while one floods (goal: no other is later by more than 1 s)`,
  async run() {
    printInputs({
      services: `${SERVICES}, each sends ${POINTS_A_REQUEST} points of as many series once a second`,
      'a phase': `${SECONDS} s, after ${WARM_UP_SECONDS} s to warm up`,
      'measured from': 'the answer to a request to the first query that sees its points',
    });
    await withInstallation(async ({ baseUrl, dataDir, ...installation }) => {
      const client = connect({ ...installation, baseUrl, stop: async () => {} });
      const services: Service[] = [];
      for (let index = 0; index < SERVICES; index += 1) {
        const name = `service ${index}`;
        const made = await client.action<Service & { serviceId: string }>('create_service', { name });
        for (const capability of ['metrics', 'exceptions']) {
          await client.action('enable_capability', { serviceId: made.serviceId, capability });
        }
        services.push({ name, ingestionKey: made.ingestionKey, dsn: made.dsn });
      }
      const { clickhouseUrl = '' } = await runningConfig(loadConfig({ DATA_DIR: dataDir }));
      const store = openClickHouse({ clickhouseUrl });
      try {
        const rows: Record<string, string>[] = [];
        let base: ReturnType<typeof spreadOf> | null = null;
        for (const phase of PHASES) {
          const late = await lateness(phase, services, { baseUrl, store });
          const others = spreadOf(late.others);
          base ??= others;
          rows.push({
            phase: phase.about,
            'others p50': duration(others.p50),
            'others p99': duration(others.p99),
            'others max': duration(Math.max(...late.others)),
            'p99 later than alike': duration(Math.max(0, others.p99 - base.p99)),
            'the one, max': duration(Math.max(...late.one)),
            'ClickHouse, of a processor': percent(late.clickhouse),
            refused: String(late.refused),
          });
        }
        printTable(rows);
      } finally {
        await store.close();
      }
    });
  },
};

interface Stores {
  readonly baseUrl: string;
  readonly store: ClickHouseClient;
}

let marks = 0;

/** Returns the time until the points of each request could be read, in milliseconds. */
async function lateness(phase: Phase, services: readonly Service[], { baseUrl, store }: Stores) {
  const others: number[] = [];
  const one: number[] = [];
  let refused = 0;
  const answered = new Map<number, { readonly at: number; readonly into: number[] | null }>();
  const spentMs = countProcessorBelow(process.pid);
  const beganAt = performance.now();
  const endsAt = performance.now() + (WARM_UP_SECONDS + SECONDS) * 1_000;
  const countsFrom = performance.now() + WARM_UP_SECONDS * 1_000;
  const sending = services.flatMap((service, index) =>
    Array.from({ length: index === 0 ? phase.times : 1 }, async (_, connection) => {
      // Not all at the same moment.
      await delay((index * 1_000) / SERVICES + connection * 97);
      while (performance.now() < endsAt) {
        const began = performance.now();
        const mark = (marks += 1);
        const status = await send(baseUrl, service, connection, mark);
        const at = performance.now();
        if (status !== 202) refused += 1;
        else answered.set(mark, { at, into: at < countsFrom ? null : index === 0 ? one : others });
        await delay(Math.max(0, 1_000 - (at - began)));
      }
    }),
  );
  const [first] = services;
  const reporting = Array.from({ length: phase.exceptionsPerSecond === 0 ? 0 : 20 }, async (_, connection) => {
    await delay(connection * 50);
    if (first === undefined) return;
    while (performance.now() < endsAt) {
      const began = performance.now();
      await sendException(first.dsn, `flood ${connection}`, newEventId());
      await delay(Math.max(0, (20 * 1_000) / phase.exceptionsPerSecond - (performance.now() - began)));
    }
  });
  const state = { isSending: true };
  const looking = (async () => {
    const giveUpAt = endsAt + 60_000;
    while ((state.isSending || answered.size > 0) && performance.now() < giveUpAt) {
      const seen = await marksIn(store);
      const now = performance.now();
      for (const mark of seen) {
        const request = answered.get(mark);
        if (request === undefined) continue;
        request.into?.push(Math.max(0, now - request.at));
        answered.delete(mark);
      }
      await delay(LOOK_MS);
    }
  })();
  await Promise.all([...sending, ...reporting]);
  state.isSending = false;
  const clickhouse = (spentMs().get('ClickHouse') ?? 0) / (performance.now() - beganAt);
  await looking;
  if (answered.size > 0) throw new Error(`${answered.size} accepted requests were not stored within a minute`);
  return { others, one, refused, clickhouse };
}

async function send(baseUrl: string, { ingestionKey }: Service, connection: number, mark: number): Promise<number> {
  const points = Array.from({ length: POINTS_A_REQUEST }, (_, index) =>
    index === 0
      ? { name: MARK, value: mark, labels: { connection: String(connection) } }
      : { name: 'load', value: index, labels: { connection: String(connection), index: String(index) } },
  );
  const response = await fetch(`${baseUrl}/api/ingest/metrics`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ingestionKey}` },
    body: JSON.stringify({ points }),
  }).catch(() => null);
  await response?.text();
  return response?.status ?? 0;
}

/** Returns the marks of the last two minutes, which cover every request that is waited for. */
async function marksIn(store: ClickHouseClient): Promise<number[]> {
  const result = await store.query({
    query: `SELECT value FROM metric_points WHERE metric = '${MARK}' AND ts > now() - INTERVAL 2 MINUTE`,
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[number]>()).map(([value]) => value);
}
