import type { ClickHouseSettings } from '@clickhouse/client';

import { DAY_MS, HOUR_MS } from '#modules/metrics/decide/rollup_plan.ts';
import { isUnavailable } from '#kernel/errors.ts';
import { readRows } from '#storage/clickhouse/read_rows.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import type { RetentionTier } from '#storage/clickhouse/expired_rows.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';
import {
  chunksOf,
  keyOf,
  NEW_PERIOD,
  newVersion,
  type Period,
  type RolledUp,
  RollupRun,
  type Span,
  timeOf,
  WEEK_MS,
  weekOf,
} from '#modules/metrics/store/rollup_periods.ts';
import { dayStates, hourStates, OF_POINTS, OF_SHORTER, ROLLUP_COLUMNS } from './rollups.ts';

/** Times to wait before data counts as settled; shorter in tests. */
interface Rests {
  /** An hour is rolled up when nothing was inserted for so long: longer than one insert takes from its first row to its last. */
  readonly insertMs: number;
  /** A rollup that is no longer valid is replaced after so long: longer than the query that still reads it. */
  readonly queryMs: number;
}

const RESTS: Rests = { insertMs: 600_000, queryMs: 60_000 };

const FOUND_MAX = 20_000;
const RESPITE_MS = HOUR_MS;
/** Age of late points that are sought in each run. Of older weeks, each run looks at one. */
const RECENT_MS = 2 * WEEK_MS;
const OLDEST_MS = 401 * DAY_MS;
/** Stands for all services: a day of which every hour that has points was rolled up at least once. */
const EVERY_SERVICE = '00000000-0000-0000-0000-000000000000';

/** Settings of work that runs beside what people wait for. */
const IN_BACKGROUND: ClickHouseSettings = {
  ...SEES_ALL_ACKNOWLEDGED,
  max_threads: 1,
  insert_deduplicate: 0,
  optimize_aggregation_in_order: 1,
  do_not_merge_across_partitions_select_final: 1,
  max_partitions_per_insert_block: '0',
  max_execution_time: 50,
};

/**
 * Settings of inserts, as in `insertRows`: a read that sees all that was acknowledged needs inserts one after another.
 */
const BY_MAJORITY: ClickHouseSettings = {
  insert_quorum: 'auto',
  insert_quorum_parallel: 0,
  insert_quorum_timeout: 30_000,
};

/** Rolls up hours that have come to rest, and days whose hours have. Runs safely twice, also at the same time. */
export class RollupWriter {
  readonly #client: ClickHouseClient;
  readonly #rests: Rests;
  readonly #settings: ClickHouseSettings;
  /** Periods that could not be rolled up, and until when they are left alone. */
  readonly #resting = new Map<string, number>();
  #oldWeek = 0;

  constructor(client: ClickHouseClient, rests = RESTS) {
    this.#client = client;
    this.#rests = rests;
    this.#settings = { ...IN_BACKGROUND, ...(client.layout.cluster !== null && BY_MAJORITY) };
  }

  /**
   * Rolls up what is due for the services of `tiers`, the newest first: hours that got points, then days that were never
   * looked at, as those from before there were rollups. Begins nothing more once `mayGoOn` says no; the next call goes on.
   * Throws when the store is away. Without services nothing is asked: these queries take 45 MB of an idle ClickHouse.
   */
  async rollUp(tiers: readonly RetentionTier[], now: Temporal.Instant, mayGoOn: () => boolean): Promise<RolledUp> {
    if (tiers.length === 0) return { serviceIds: [], failures: [] };
    const run = new RollupRun(tiers, now.epochMilliseconds, mayGoOn);
    const thisWeek = weekOf(now.epochMilliseconds);
    await this.#rollUpBetween(thisWeek + WEEK_MS - RECENT_MS, thisWeek + WEEK_MS, run);
    const oldWeeks = Math.ceil((OLDEST_MS - RECENT_MS) / WEEK_MS);
    this.#oldWeek = (this.#oldWeek % oldWeeks) + 1;
    const oldWeek = thisWeek + WEEK_MS - RECENT_MS - this.#oldWeek * WEEK_MS;
    await this.#rollUpBetween(oldWeek, oldWeek + WEEK_MS, run);
    await this.#rollUpHistory(run);
    for (const [key, untilMs] of this.#resting) if (untilMs <= run.nowMs) this.#resting.delete(key);
    return { serviceIds: [...run.rolledUp], failures: run.failures };
  }

  /** Hours with inserts, then days, within whole weeks. */
  async #rollUpBetween(fromMs: number, toMs: number, run: RollupRun): Promise<void> {
    if (!run.mayGoOn()) return;
    const hasRested = `last_at <= now64(3, 'UTC') - toIntervalMillisecond(${this.#rests.insertMs})`;
    const hours = await this.#hoursIn(fromMs, toMs, run, `NOT is_valid AND ${hasRested}`);
    const due = hours.filter(
      ({ service, start }) => run.keeps(service, start) && this.#isOver(start * 1_000 + HOUR_MS, run.nowMs),
    );
    await this.#rollUpPeriods('hour', due, run);
    await this.#rollUpDays(fromMs, toMs, run);
  }

  async #rollUpDays(fromMs: number, toMs: number, run: RollupRun): Promise<void> {
    const days = await this.#daysIn(fromMs, toMs, run);
    await this.#rollUpPeriods(
      'day',
      days.filter(({ service, start }) => run.keeps(service, start)),
      run,
    );
  }

  /** Days that were never looked at, newest first: all hours that have points and no rollup. */
  async #rollUpHistory(run: RollupRun): Promise<void> {
    if (!(await this.#isMarking())) return;
    for (const day of await this.#daysNeverSeen(run.nowMs)) {
      if (!run.mayGoOn()) return;
      const rows = await this.#rows<[service: string, start: number, points: string]>(
        `SELECT toString(service_id), toUnixTimestamp(toStartOfHour(ts)) AS hour, count() FROM metric_points
         WHERE toDate(ts) = toDate(toDateTime({day:UInt32}, 'UTC')) GROUP BY service_id, hour`,
        { day: day / 1_000 },
      );
      const rolledUp = await this.#hoursIn(day, day + DAY_MS, run, '1');
      const seen = new Set(rolledUp.map((hour) => keyOf('hour', hour)));
      // Those of which something is known are found with the rest, when they have come to rest. Those that are no longer
      // kept are rolled up, too: a day is valid only if all of its points were.
      const fresh = rows
        .map(([service, start, points]) => ({ ...NEW_PERIOD, service, start, points: Number(points) }))
        .filter((hour) => run.knows(hour.service) && !seen.has(keyOf('hour', hour)));
      if (!(await this.#rollUpPeriods('hour', fresh, run))) continue;
      const mark = { ...NEW_PERIOD, service: EVERY_SERVICE, start: day / 1_000 };
      await this.#note('day', [mark], newVersion(run.nowMs, [mark]), true);
      await this.#rollUpDays(day, day + DAY_MS, run);
    }
  }

  /** Whether every insert that may still be under way is noted: those that began before there was a view are not. */
  async #isMarking(): Promise<boolean> {
    const [row] = await this.#rows<[number]>(
      `SELECT toUInt8(max(applied_at) <= now64(3) - toIntervalMillisecond(${this.#rests.insertMs})) FROM migrations
       WHERE name LIKE '0014%'`,
    );
    return row?.[0] === 1;
  }

  async #daysNeverSeen(nowMs: number): Promise<number[]> {
    const { layout, database } = this.#client;
    const rows = await this.#rows<[partition: string]>(
      `SELECT DISTINCT partition_id FROM ${layout.system('parts')}
       WHERE database = {database:String} AND table = {table:String} AND active ORDER BY partition_id DESC`,
      { database, table: layout.stored('metric_points') },
    );
    const seen = await this.#rows<[start: number]>(
      `SELECT toUnixTimestamp(start) FROM metric_rollups WHERE service_id = {every:UUID} AND span = 'day' AND is_complete`,
      { every: EVERY_SERVICE },
    );
    const done = new Set(seen.map(([start]) => start * 1_000));
    return rows
      .map(([id]) => Date.UTC(Number(id.slice(0, 4)), Number(id.slice(4, 6)) - 1, Number(id.slice(6, 8))))
      .filter((day) => Number.isFinite(day) && !done.has(day) && this.#isOver(day + DAY_MS, nowMs));
  }

  async #hoursIn(fromMs: number, toMs: number, run: RollupRun, condition: string): Promise<Period[]> {
    const rows = await this.#rows<PeriodRow>(
      `SELECT toString(service_id), toUnixTimestamp(start), toString(stamp), toString(points), toString(version), is_complete
       FROM (${hourStates(SCOPE)}) WHERE ${condition} ORDER BY start DESC, service_id LIMIT ${FOUND_MAX}`,
      { services: run.services, since: fromMs / 1_000, until: toMs / 1_000 },
    );
    return rows.map(toPeriod);
  }

  /** Days that are over and not rolled up, and of which all hours are. */
  async #daysIn(fromMs: number, toMs: number, run: RollupRun): Promise<Period[]> {
    const rows = await this.#rows<PeriodRow>(
      `SELECT toString(service_id), toUnixTimestamp(day), toString(whole), '0', toString(days.version), days.is_complete
       FROM (
         SELECT service_id, toStartOfDay(start) AS day, sum(stamp) AS whole, min(is_valid) AS are_valid
         FROM (${hourStates(SCOPE)}) GROUP BY service_id, day HAVING are_valid = 1) AS hours
       LEFT JOIN (SELECT service_id, start AS day, version, is_complete, is_valid FROM (${dayStates(SCOPE)})) AS days
       USING (service_id, day)
       WHERE NOT days.is_valid AND day IN (
         SELECT start FROM metric_rollups WHERE service_id = {every:UUID} AND span = 'day' AND is_complete)
       ORDER BY day DESC, service_id LIMIT ${FOUND_MAX}`,
      { services: run.services, since: fromMs / 1_000, until: toMs / 1_000, every: EVERY_SERVICE },
    );
    return rows.map(toPeriod);
  }

  /**
   * A rollup that queries may be reading is first declared invalid, and replaced in a later run, when they have ended.
   * False when not all could be done.
   */
  async #rollUpPeriods(span: Span, due: readonly Period[], run: RollupRun): Promise<boolean> {
    const outdated = due.filter(({ isComplete }) => isComplete);
    if (outdated.length > 0) await this.#note(span, outdated, newVersion(run.nowMs, outdated), false);
    const ready = due.filter(
      ({ isComplete, version }) => !isComplete && timeOf(version) <= run.nowMs - this.#rests.queryMs,
    );
    const rested = ready.filter((period) => (this.#resting.get(keyOf(span, period)) ?? 0) <= run.nowMs);
    const failuresBefore = run.failures.length;
    for (const some of chunksOf(rested)) {
      if (!run.mayGoOn()) return false;
      await this.#rollUpSome(span, some, run);
    }
    return rested.length === ready.length && run.failures.length === failuresBefore;
  }

  /** Rolls up periods; too many at once are tried in halves, and one that is too large by itself rests for an hour. */
  async #rollUpSome(span: Span, wanted: readonly Period[], run: RollupRun): Promise<void> {
    try {
      await this.#rollUpAtOnce(span, wanted, run);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const middle = Math.ceil(wanted.length / 2);
      const [period] = wanted;
      if (wanted.length > 1) {
        await this.#rollUpSome(span, wanted.slice(0, middle), run);
        await this.#rollUpSome(span, wanted.slice(middle), run);
      } else if (period !== undefined) {
        this.#resting.set(keyOf(span, period), run.nowMs + RESPITE_MS);
        run.failures.push(error);
      }
    }
  }

  async #rollUpAtOnce(span: Span, wanted: readonly Period[], run: RollupRun): Promise<void> {
    const version = newVersion(run.nowMs, wanted);
    await this.#note(span, wanted, version, false);
    const taken = await this.#takenByOthers(span, wanted, version);
    const due = wanted.filter((period) => !taken.has(keyOf(span, period)));
    if (due.length === 0) return;
    await this.#command(INSERTS[span], { ...periodParameters(due), version });
    await this.#note(span, due, version, true);
    for (const { service } of due) run.add(service);
  }

  /** Returns the periods that another process has begun meanwhile: a later run rolls them up again. */
  async #takenByOthers(span: Span, periods: readonly Period[], version: string): Promise<ReadonlySet<string>> {
    const rows = await this.#rows<[service: string, start: number, newest: string]>(
      `SELECT toString(service_id), toUnixTimestamp(start), concat(toString(max(version)), ' ', toString(argMax(is_complete, (version, is_complete))))
       FROM metric_rollups
       WHERE span = {span:String} AND version != {version:UInt64} AND ${OF_PERIODS('start')} GROUP BY service_id, start`,
      { ...periodParameters(periods), span, version },
    );
    const newest = new Map(rows.map(([service, start, newestAt]) => [`${span} ${service} ${start}`, newestAt]));
    const isTaken = (period: Period): boolean => (newest.get(keyOf(span, period)) ?? '0 0') !== `${period.version} 0`;
    return new Set(periods.filter(isTaken).map((period) => keyOf(span, period)));
  }

  async #note(span: Span, periods: readonly Period[], version: string, isComplete: boolean): Promise<void> {
    await this.#command(
      `INSERT INTO metric_rollups (service_id, span, start, version, is_complete, stamp)
       SELECT period.1, {span:String}, toDateTime(period.2, 'UTC'), {version:UInt64}, {complete:UInt8}, period.3
       FROM (SELECT arrayJoin(arrayZip({services:Array(UUID)}, {starts:Array(UInt32)}, {stamps:Array(UInt64)})) AS period)`,
      {
        ...periodParameters(periods),
        stamps: periods.map(({ stamp }) => BigInt(stamp)),
        span,
        version,
        complete: isComplete ? 1 : 0,
      },
    );
  }

  #isOver(endMs: number, nowMs: number): boolean {
    return endMs + this.#rests.insertMs <= nowMs;
  }

  async #rows<Row>(query: string, parameters: Record<string, unknown> = {}): Promise<Row[]> {
    return await readRows<Row>(this.#client, query, parameters, { ...SEES_ALL_ACKNOWLEDGED, max_threads: 1 });
  }

  async #command(query: string, parameters: Record<string, unknown>): Promise<void> {
    await withClickHouseErrors(async () => {
      await this.#client.command({
        query,
        query_params: parameters,
        use_multipart_params_auto: true,
        clickhouse_settings: this.#settings,
      });
    });
  }
}

type PeriodRow = readonly [
  service: string,
  start: number,
  stamp: string,
  points: string,
  version: string,
  isComplete: number,
];

function toPeriod([service, start, stamp, points, version, isComplete]: PeriodRow): Period {
  return { service, start, stamp, points: Number(points), version, isComplete: isComplete === 1 };
}

const SCOPE = `service_id IN {services:Array(UUID)}
  AND start >= toDateTime({since:Int64}, 'UTC') AND start < toDateTime({until:Int64}, 'UTC')`;

/** A condition on rows: those of the periods, of which `start` is the beginning. */
const OF_PERIODS = (start: string): string => `service_id IN {services:Array(UUID)}
  AND (service_id, ${start}) IN arrayZip({services:Array(UUID)}, arrayMap(second -> toDateTime(second, 'UTC'), {starts:Array(UInt32)}))`;

function periodParameters(periods: readonly Period[]): Record<string, unknown> {
  const starts = periods.map(({ start }) => start);
  return {
    services: periods.map(({ service }) => service),
    starts,
    first: Math.min(...starts),
    last: Math.max(...starts),
  };
}

const INTO = `(service_id, metric, series, start, version, ${ROLLUP_COLUMNS.join(', ')})`;
const columnsOf = (sources: Readonly<Record<(typeof ROLLUP_COLUMNS)[number], string>>): string =>
  ROLLUP_COLUMNS.map((column) => sources[column]).join(', ');

/**
 * Queries that roll up points, each (series, time) once: of several rows FINAL takes the one that came last. Where times are
 * compared with a DateTime, ClickHouse 26.7 passes over parts whose points are all within the second before it.
 */
const INSERTS: Readonly<Record<Span, string>> = {
  hour: `INSERT INTO metric_hours ${INTO}
    SELECT service_id, metric, series, toStartOfHour(ts) AS hour, {version:UInt64}, ${columnsOf(OF_POINTS)}
    FROM metric_points FINAL
    PREWHERE ts >= toDateTime64({first:UInt32}, 3, 'UTC') AND ts < toDateTime64({last:UInt32} + 3600, 3, 'UTC')
      AND toStartOfHour(ts) IN arrayMap(second -> toDateTime(second, 'UTC'), {starts:Array(UInt32)})
      AND ${OF_PERIODS('toStartOfHour(ts)')}
    GROUP BY service_id, metric, hour, series`,
  // Each of its hours is valid, so the version that was completed last is the newest.
  day: `INSERT INTO metric_days ${INTO}
    SELECT service_id, metric, series, toStartOfDay(start) AS day, {version:UInt64}, ${columnsOf(OF_SHORTER)}
    FROM metric_hours
    WHERE start >= toDateTime({first:UInt32}, 'UTC') AND start < toDateTime({last:UInt32} + 86400, 'UTC')
      AND ${OF_PERIODS('toStartOfDay(start)')} AND (service_id, start, version) IN (
        SELECT service_id, start, max(version) FROM metric_rollups
        WHERE service_id IN {services:Array(UUID)} AND span = 'hour' AND is_complete
          AND start >= toDateTime({first:UInt32}, 'UTC') AND start < toDateTime({last:UInt32} + 86400, 'UTC')
        GROUP BY service_id, start)
    GROUP BY service_id, metric, series, day`,
};
