import type { AppContext } from '#entry/compose.ts';
import type { FirstRun } from '#entry/first_run.ts';
import { type Id, newId, uuidOf } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import type { Database } from '#storage/postgres/database.ts';

import { count, duration } from '#infra/bench/figures.ts';
import { type BenchStores, withStores } from '#infra/bench/harness.ts';

export const SERVICES = 10;
export const METRICS_A_SERVICE = 100;
export const SERIES_A_METRIC = 10;
export const SERIES = SERVICES * METRICS_A_SERVICE * SERIES_A_METRIC;
const STEP_SECONDS = 15;
const POINTS = Number(process.env['BENCH_MILLION_POINTS'] ?? 100) * 1_000_000;
/** Points younger than this are inserted second by second, as they would arrive; the store merges them as usual. */
const RECENT_MINUTES = 10;
const SETTLED_WITHIN_MS = 60_000;

export interface History {
  readonly context: AppContext;
  readonly firstRun: FirstRun;
  readonly services: readonly Id<'service'>[];
  /** The time just after the newest points. */
  readonly now: Temporal.Instant;
  /** Lets it go on, second by second: points of the stretch of time, which begins where the last one ended. */
  continueFor(fromMs: number, toMs: number): Promise<void>;
  /** A description of it, for people. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** Odd metrics are counters, the others gauges. */
export function metricName(metric: number): string {
  return `metric_${metric}`;
}

let opened: { readonly history: Promise<History>; readonly close: () => Promise<void> } | null = null;

/** Creates the history at the first call, which takes a minute, and keeps it until `closeHistory`. */
export async function withHistory<Result>(work: (history: History) => Promise<Result>): Promise<Result> {
  opened ??= open();
  return await work(await opened.history);
}

export async function closeHistory(): Promise<void> {
  const closing = opened;
  opened = null;
  await closing?.close();
}

function open(): { history: Promise<History>; close: () => Promise<void> } {
  const { promise: history, resolve, reject } = Promise.withResolvers<History>();
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  const held = withStores(async (stores) => {
    resolve(await make(stores));
    await isOver;
  });
  held.catch(reject);
  return {
    history,
    async close() {
      end();
      await held;
    },
  };
}

async function make({ context, firstRun }: BenchStores): Promise<History> {
  const began = performance.now();
  const services = await insertServices(context.db, firstRun.organizationId as Id<'org'>);
  const nowMs = Math.floor(context.clock.now().epochMilliseconds / 1_000) * 1_000;
  await insertSeries(context.clickhouse, services, nowMs);
  const insert = inserter(context.clickhouse, services);
  const points = await insertPoints(context.clickhouse, insert, nowMs);
  return {
    continueFor: (fromMs, toMs) => insertBySeconds(insert, fromMs, toMs),
    context,
    firstRun,
    services,
    now: Temporal.Instant.fromEpochMilliseconds(nowMs),
    inputs: {
      points: `${count(points)}, made up by the store in ${duration(performance.now() - began)}`,
      series: `${count(SERIES)}: ${SERVICES} services × ${METRICS_A_SERVICE} metrics × ${SERIES_A_METRIC}, every ${STEP_SECONDS} s for ${(((points / SERIES) * STEP_SECONDS) / 3_600).toFixed(1)} h; half are counters`,
      'recent parts': `the last ${RECENT_MINUTES} min were inserted second by second`,
    },
  };
}

async function insertServices(db: Database, orgId: Id<'org'>): Promise<Id<'service'>[]> {
  const services = Array.from({ length: SERVICES }, () => newId('service'));
  await db.sql.run(
    `insert into services (id, org_id, name, created_at, updated_at)
     select id, $2, 'service', now(), now() from unnest($1::text[]) as s (id)`,
    [services, orgId],
  );
  await db.sql.run(
    `insert into service_capabilities (service_id, capability, is_enabled, enabled_at, billing_anchor, billed_until)
     select id, capability, true, now(), now(), now() + interval '1 month'
     from unnest($1::text[]) as s (id) cross join unnest(array['metrics', 'oncall']) as c (capability)`,
    [services],
  );
  return services;
}

/** The columns of a series, computed from its index. */
const SERVICE_ID = `{services:Array(UUID)}[intDiv(place, ${METRICS_A_SERVICE * SERIES_A_METRIC}) + 1]`;
const METRIC = `intDiv(place, ${SERIES_A_METRIC}) % ${METRICS_A_SERVICE}`;
const KIND = `if(${METRIC} % 2 = 1, 'counter', 'gauge')`;

async function insertSeries(
  client: ClickHouseClient,
  services: readonly Id<'service'>[],
  nowMs: number,
): Promise<void> {
  await client.command({
    query: `INSERT INTO metric_series (service_id, metric, series, last_at, tags)
      SELECT ${SERVICE_ID}, concat('metric_', toString(${METRIC})), cityHash64(place),
        fromUnixTimestamp64Milli({now:Int64}, 'UTC'),
        map('host', concat('host-', toString(place % ${SERIES_A_METRIC})), 'zone', toString(place % 3))
      FROM (SELECT number AS place FROM numbers(${SERIES}))`,
    query_params: { services: services.map(uuidOf), now: nowMs },
  });
}

type Insert = (fromMs: number, toMs: number) => Promise<void>;

function inserter(client: ClickHouseClient, services: readonly Id<'service'>[]): Insert {
  return async (fromMs, toMs) => {
    await client.command({
      query: INSERT,
      query_params: { services: services.map(uuidOf), from: fromMs, to: toMs },
      clickhouse_settings: {
        insert_deduplicate: 0,
        optimize_on_insert: 0,
        max_threads: 1,
        min_insert_block_size_rows: '3000000',
      },
    });
  };
}

async function insertBySeconds(insert: Insert, fromMs: number, toMs: number): Promise<void> {
  for (let atMs = fromMs; atMs < toMs; atMs += 1_000) await insert(atMs, atMs + 1_000);
}

/** Inserts the older points, two hours at a time, then the recent ones; returns how many. */
async function insertPoints(client: ClickHouseClient, insert: Insert, nowMs: number): Promise<number> {
  const recentMs = nowMs - RECENT_MINUTES * 60_000;
  const firstMs = nowMs - Math.round(POINTS / SERIES) * STEP_SECONDS * 1_000;
  const hours = hoursOf(firstMs, recentMs).values();
  const runThrough = async (): Promise<void> => {
    for (const [fromMs, toMs] of hours) await insert(fromMs, toMs);
  };
  await Promise.all([runThrough(), runThrough()]);
  await untilMerged(client);
  await insertBySeconds(insert, recentMs, nowMs);
  return (await numbersOf(client, 'SELECT count() FROM metric_points'))[0] ?? 0;
}

/** Splits the range at full hours, because the table is ordered by hours. */
function hoursOf(fromMs: number, toMs: number): (readonly [fromMs: number, toMs: number])[] {
  const hourMs = 3_600_000;
  const parts: (readonly [number, number])[] = [];
  for (let start = fromMs; start < toMs;) {
    const end = Math.min(toMs, Math.floor(start / hourMs + 1) * hourMs);
    parts.push([start, end]);
    start = end;
  }
  return parts;
}

/** Every series has a point every 15 s, spread over the seconds, in the order of the table. */
const INSERT = `
  INSERT INTO metric_points (service_id, metric, series, ts, value, kind)
  SELECT ${SERVICE_ID}, concat('metric_', toString(${METRIC})), cityHash64(place),
    fromUnixTimestamp64Milli(at * 1000, 'UTC'),
    if(${METRIC} % 2 = 1, toFloat64(at), toFloat64(cityHash64(place, at) % 1000)), ${KIND}
  FROM (
    SELECT intDiv(number, steps) AS place, first + (number % steps) * ${STEP_SECONDS} + place % ${STEP_SECONDS} AS at,
      intDiv({from:Int64}, 1000) AS from_at, intDiv({to:Int64}, 1000) AS to_at,
      intDiv(from_at, ${STEP_SECONDS}) * ${STEP_SECONDS} AS first, intDiv(to_at - first - 1, ${STEP_SECONDS}) + 1 AS steps
    FROM numbers(${SERIES} * (intDiv(intDiv({to:Int64}, 1000) - intDiv(intDiv({from:Int64}, 1000), ${STEP_SECONDS}) * ${STEP_SECONDS} - 1, ${STEP_SECONDS}) + 1)))
  WHERE at >= from_at AND at < to_at`;

/** Merges the old parts; on a machine that is too slow for that it goes on without. */
async function untilMerged(client: ClickHouseClient): Promise<void> {
  const deadline = performance.now() + SETTLED_WITHIN_MS;
  let quiet = 0;
  while (quiet < 4 && performance.now() < deadline) {
    const [merges = 0] = await numbersOf(client, 'SELECT count() FROM system.merges');
    quiet = merges === 0 ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function numbersOf(client: ClickHouseClient, query: string): Promise<number[]> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  return (await result.json<unknown[]>()).flat().map(Number);
}
