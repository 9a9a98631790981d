import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { DAY_MS, HOUR_MS } from '#modules/metrics/decide/rollup_plan.ts';
import { MIGRATIONS_DIR } from '#entry/schema_age.ts';
import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { type Id, newId, uuidOf } from '#kernel/ids.ts';
import { systemClock, Temporal } from '#kernel/time.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { migrateClickHouse } from '#storage/clickhouse/migrate.ts';
import { RollupWriter } from '#modules/metrics/store/rollup_writer.ts';

import { count, duration } from '#infra/bench/figures.ts';
import { withFolder } from '#infra/bench/harness.ts';

/** First a counter of the queried service, which restarts now and then; then gauges of another service. */
const METRICS = Number(process.env['BENCH_METRICS'] ?? 7);
export const ASKED_METRIC = 'metric_0';
const SERIES = 1_750;
export const SERIES_A_METRIC = Math.floor(SERIES / METRICS);
const POINTS_A_DAY = METRICS * SERIES_A_METRIC * 1_440;
const POINTS = Number(process.env['BENCH_MILLION_POINTS'] ?? 1_008) * 1_000_000;
/** A point a minute of each series, for so long: 400 days if not told otherwise. */
export const HISTORY_DAYS = Math.round(POINTS / POINTS_A_DAY);

/** The history; that of the service is rolled up as far as its hours are over. */
export interface LongHistory {
  readonly client: ClickHouseClient;
  readonly serviceId: Id<'service'>;
  /** Just after the newest points, between two hours. */
  readonly now: Temporal.Instant;
  /** A description of it, for people. */
  readonly inputs: Readonly<Record<string, string>>;
}

interface Kept {
  readonly serviceId: Id<'service'>;
  readonly otherId: Id<'service'>;
  readonly nowMs: number;
  /** Settings with which it was made; absent until then. */
  readonly made?: string;
}

/**
 * The history is made by the store, and that of the service rolled up by the product: some minutes for a billion points. It is kept
 * in the folder that `BENCH_HISTORY` names, where a run that was broken off goes on; without that it is removed.
 */
export async function withLongHistory<Result>(work: (history: LongHistory) => Promise<Result>): Promise<Result> {
  const folder = process.env['BENCH_HISTORY'];
  if (folder === undefined) return await withFolder((temporary) => withHistoryIn(temporary, work));
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o711);
  return await withHistoryIn(folder, work);
}

async function withHistoryIn<Result>(folder: string, work: (history: LongHistory) => Promise<Result>): Promise<Result> {
  const store = await startClickHouse(path.join(folder, 'clickhouse'));
  // The store may be busy for long while it makes the points.
  const client = openClickHouse({ clickhouseUrl: store.url }, 600_000);
  try {
    await migrateClickHouse(client, path.join(MIGRATIONS_DIR, 'clickhouse'));
    const file = path.join(folder, 'history.json');
    const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : begin(file);
    const { serviceId, nowMs } = kept;
    const made = kept.made ?? (await make(client, kept));
    writeFileSync(file, JSON.stringify({ ...kept, made }));
    return await work({
      client,
      serviceId,
      now: Temporal.Instant.fromEpochMilliseconds(nowMs),
      inputs: { points: made },
    });
  } finally {
    await client.close();
    await store.stop();
  }
}

function begin(file: string): Kept {
  const hour = Math.floor(systemClock.now().epochMilliseconds / HOUR_MS) * HOUR_MS;
  const kept: Kept = { serviceId: newId('service'), otherId: newId('service'), nowMs: hour + 25 * 60_000 };
  writeFileSync(file, JSON.stringify(kept));
  return kept;
}

async function make(client: ClickHouseClient, kept: Kept): Promise<string> {
  const { serviceId, nowMs } = kept;
  const began = performance.now();
  await insertSeries(client, kept);
  const firstMs = nowMs - HISTORY_DAYS * DAY_MS;
  const filled = await numbersOf(
    client,
    "SELECT toInt64(toUnixTimestamp(toDateTime(ts, 'UTC'))) AS day FROM (SELECT toStartOfDay(ts) AS ts FROM metric_points GROUP BY ts)",
  );
  const done = new Set(filled.map((second) => second * 1_000));
  for (let day = nowMs - (nowMs % DAY_MS); day + DAY_MS > firstMs; day -= DAY_MS) {
    if (!done.has(day)) await insert(client, kept, Math.max(day, firstMs), Math.min(day + DAY_MS, nowMs));
  }
  const insertedMs = performance.now() - began;
  const points = await numbersOf(client, 'SELECT count() FROM metric_points');
  await rollUp(client, serviceId, nowMs);
  const rolledUpMs = performance.now() - began - insertedMs;
  return (
    `${count(points[0] ?? 0)} of ${METRICS} metrics × ${SERIES_A_METRIC} series, one a minute for ${HISTORY_DAYS} days; ` +
    `the store made them in ${duration(insertedMs)}, the product rolled up those of the first metric in ${duration(rolledUpMs)}`
  );
}

const SERVICE_ID = 'if(metric = 0, {service:UUID}, {other:UUID})';

function servicesOf({ serviceId, otherId }: Kept): Record<string, string> {
  return { service: uuidOf(serviceId), other: uuidOf(otherId) };
}

async function insertSeries(client: ClickHouseClient, kept: Kept): Promise<void> {
  await client.command({
    query: `INSERT INTO metric_series (service_id, metric, series, last_at, tags)
      SELECT ${SERVICE_ID}, concat('metric_', toString(metric)), cityHash64(number),
        fromUnixTimestamp64Milli({now:Int64}, 'UTC'),
        map('host', concat('host-', toString(number % ${SERIES_A_METRIC})), 'zone', toString(number % 3))
      FROM (SELECT number, intDiv(number, ${SERIES_A_METRIC}) AS metric FROM numbers(${METRICS * SERIES_A_METRIC}))`,
    query_params: { ...servicesOf(kept), now: kept.nowMs },
  });
}

/** Inserts a value a minute for each series: one that changes a little, or a sum that restarts every 14,000 minutes. */
const INSERT = `INSERT INTO metric_points (service_id, metric, series, ts, value, kind)
  SELECT ${SERVICE_ID}, concat('metric_', toString(metric)), cityHash64(place), fromUnixTimestamp64Milli(minute * 60000 + place % 60 * 1000, 'UTC'),
    if(metric = 0, (minute + place * 57) % 14000 * 20 + noise % 20, noise % 100 + 100), if(metric = 0, 'counter', 'gauge')
  FROM (
    SELECT intDiv(number, hours * ${SERIES_A_METRIC} * 60) AS metric, toUInt32({hours:UInt32}) AS hours,
      metric * ${SERIES_A_METRIC} + intDiv(number, 60) % ${SERIES_A_METRIC} AS place,
      toInt64({first:Int64}) + intDiv(number, ${SERIES_A_METRIC} * 60) % hours * 60 + number % 60 AS minute,
      cityHash64(place, minute) AS noise
    FROM numbers({rows:UInt64}))
  WHERE minute >= {from:Int64} AND minute < {to:Int64}`;

/** Inserts points in the order of the table: by metric, hour, series. */
async function insert(client: ClickHouseClient, kept: Kept, fromMs: number, toMs: number): Promise<void> {
  const first = Math.floor(fromMs / HOUR_MS);
  const hours = Math.ceil(toMs / HOUR_MS) - first;
  await client.command({
    query: INSERT,
    query_params: {
      ...servicesOf(kept),
      first: first * 60,
      hours,
      rows: hours * METRICS * SERIES_A_METRIC * 60,
      from: fromMs / 60_000,
      to: toMs / 60_000,
    },
    clickhouse_settings: {
      insert_deduplicate: 0,
      optimize_on_insert: 0,
      max_threads: 1,
      min_insert_block_size_rows: '3000000',
      min_insert_block_size_bytes: '0',
    },
  });
}

/** The worker's own calls, without its rests. Of older weeks each call looks at one. */
async function rollUp(client: ClickHouseClient, serviceId: Id<'service'>, nowMs: number): Promise<void> {
  const writer = new RollupWriter(client, { insertMs: 0, queryMs: 0 });
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  const tiers = [{ days: HISTORY_DAYS, serviceIds: [serviceId] }];
  for (let run = 0; run < 60; run += 1) {
    const { failures } = await writer.rollUp(tiers, now, () => true);
    if (failures.length > 0) throw new AggregateError(failures, 'some hours could not be rolled up');
  }
}

async function numbersOf(client: ClickHouseClient, query: string): Promise<number[]> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  return (await result.json<unknown[]>()).flat().map(Number);
}
