import { type ExceptionEvent, parseEvent } from '#modules/exceptions/decide/event.ts';
import type { GroupPeriods, ValueCount } from '#modules/exceptions/decide/group_counts.ts';
import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import { ClickHouseStore } from '#storage/clickhouse/read_rows.ts';
import { type HourlyCounts, queryHourlyCounts, queryRecentActivity } from '#storage/clickhouse/hourly_counts.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import type { ColumnCondition } from '#modules/exceptions/decide/search_query.ts';
import {
  andConditions,
  EVENTS,
  ExceptionCounter,
  groupParameters,
  type GroupScope,
  isOfGroup,
  mergedOf,
  mergedGroupOf,
  USERS,
} from '#modules/exceptions/store/exception_counter.ts';
import { EventLists, EventSearch } from '#modules/exceptions/store/event_search.ts';
import { GroupRateReader } from '#modules/exceptions/store/group_rate_store.ts';
import { ExceptionEventPages } from '#modules/exceptions/store/exception_event_pages.ts';

export interface GroupCounts {
  readonly events: number;
  /** Distinct users among those events that named one. */
  readonly users: number;
}

/** Events of the last seven days, and of the seven before. */
export interface WeekCounts {
  readonly thisWeek: number;
  readonly weekBefore: number;
}

/** Limits on the newest events that are read for tags, and on the tags and values that are shown. */
interface TagSampling {
  readonly sample: number;
  readonly tags: number;
  /** Number of values of each tag. */
  readonly values: number;
}

/** A release and when its first event was. */
export interface NewRelease {
  readonly release: string;
  readonly at: Temporal.Instant;
  readonly serviceId: Id<'service'>;
}

/** An event, with the groups of which it may be. */
interface StoredPlace {
  readonly serviceId: Id<'service'>;
  readonly groupIds: readonly Id<'group'>[];
  readonly eventId: string;
  readonly at: Temporal.Instant;
}

const DAY_MS = 86_400_000;
/** Clients keep events for at most 30 days. */
const EARLIER_DAYS = 31;
const LATER_DAYS = 1;
const SECONDS_MAX = 4;

const inGroup = (scope: GroupScope): string =>
  `service_id = {service:UUID} AND ${isOfGroup(scope)} AND at >= ${instant('since')}`;

/** Reads of exception events, one sent twice counted once. The caller has checked that groups are the organization's. */
export class ExceptionReader extends ClickHouseStore {
  readonly counter: ExceptionCounter;
  readonly pages: ExceptionEventPages;
  readonly lists: EventLists;
  readonly search: EventSearch;
  readonly rates: GroupRateReader;

  constructor(client: ClickHouseClient) {
    super(client);
    this.counter = new ExceptionCounter(client);
    this.pages = new ExceptionEventPages(client);
    this.lists = new EventLists(client);
    this.search = new EventSearch(client);
    this.rates = new GroupRateReader(client);
  }

  /**
   * Returns those of the events that are stored, as `service event`. A copy that was sent again may have another time:
   * that of its arrival, or one corrected by another offset of the clock. Finds none if it takes too long.
   */
  async listStored(events: readonly StoredPlace[]): Promise<ReadonlySet<string>> {
    const times = events.map(({ at }) => at.epochMilliseconds);
    const rows = await this.rows<[service: string, event: string]>(
      `SELECT DISTINCT service_id, event_id FROM exception_events
       PREWHERE service_id IN {services:Array(UUID)} AND group_id IN {groups:Array(UUID)}
         AND at >= ${instant('since')} AND at <= ${instant('until')} AND event_id IN {events:Array(UUID)}`,
      {
        services: [...new Set(events.map(({ serviceId }) => uuidOf(serviceId)))],
        groups: [...new Set(events.flatMap(({ groupIds }) => groupIds.map(uuidOf)))],
        events: [...new Set(events.map(({ eventId }) => eventId))],
        since: times.reduce((a, b) => Math.min(a, b), Infinity) - EARLIER_DAYS * DAY_MS,
        until: times.reduce((a, b) => Math.max(a, b), -Infinity) + LATER_DAYS * DAY_MS,
      },
      { max_execution_time: SECONDS_MAX, timeout_overflow_mode: 'break' },
    );
    return new Set(rows.map(([service, event]) => `${idOfUuid('service', service)} ${event.replaceAll('-', '')}`));
  }

  /** Counts the events of all groups of the service since then. */
  async countOfService(serviceId: Id<'service'>, since: Temporal.Instant): Promise<number> {
    const { count } = await queryRecentActivity(
      this.client,
      `SELECT 0, ${EVENTS} FROM exception_events WHERE service_id = {service:UUID} AND at >= ${instant('since')}`,
      serviceId,
      since,
    );
    return count;
  }

  /** The events of each service since then, by hour. */
  async countByHour(serviceIds: readonly Id<'service'>[], since: Temporal.Instant): Promise<HourlyCounts> {
    return await queryHourlyCounts(
      this.client,
      `SELECT service_id, toUnixTimestamp(toStartOfHour(at)) AS hour, ${EVENTS} FROM exception_events
       PREWHERE service_id IN {services:Array(UUID)} AND at >= ${instant('since')} GROUP BY service_id, hour`,
      serviceIds,
      since,
    );
  }

  /**
   * The releases whose first event is in the period, the newest first: a deploy, as far as exceptions tell.
   */
  async listNewReleases(
    serviceIds: readonly Id<'service'>[],
    { from, to }: { readonly from: Temporal.Instant; readonly to: Temporal.Instant },
    limit: number,
  ): Promise<NewRelease[]> {
    const rows = await this.rows<[release: string, at: string, service: string]>(
      `SELECT release, toUnixTimestamp64Milli(min(first_at)) AS begun, service_id FROM exception_origins
       WHERE service_id IN {services:Array(UUID)} AND release != '' GROUP BY service_id, release
       HAVING begun >= {from:Int64} AND begun < {to:Int64} ORDER BY begun DESC, release LIMIT {limit:UInt32}`,
      { services: serviceIds.map(uuidOf), from: from.epochMilliseconds, to: to.epochMilliseconds, limit },
    );
    const ids = new Map(serviceIds.map((serviceId) => [uuidOf(serviceId), serviceId]));
    return rows.flatMap(([release, at, service]) => {
      const serviceId = ids.get(service);
      return serviceId === undefined ? [] : [{ release, at: fromEpochMilliseconds(Number(at)), serviceId }];
    });
  }

  /**
   * Returns counts by group id, of events that meet the conditions; a group without any is absent. Runs one query for
   * all groups whose services keep events equally long.
   */
  async countByGroup(
    scopes: readonly GroupScope[],
    conditions: readonly ColumnCondition[] = [],
  ): Promise<Map<Id<'group'>, GroupCounts>> {
    const bySince = Map.groupBy(scopes, ({ keptSince }) => keptSince.epochMilliseconds);
    const counted = await Promise.all([...bySince].map(([since, alike]) => this.#countSince(since, alike, conditions)));
    return new Map(counted.flat());
  }

  async #countSince(
    since: number,
    scopes: readonly GroupScope[],
    conditions: readonly ColumnCondition[],
  ): Promise<(readonly [Id<'group'>, GroupCounts])[]> {
    const { sql, parameters } = andConditions(conditions);
    const groups = new Map(scopes.map(({ groupId }) => [uuidOf(groupId), groupId]));
    const merged = mergedOf(scopes);
    const rows = await this.rows<[group: string, events: string, users: string]>(
      `SELECT ${mergedGroupOf(merged)} AS taker, ${EVENTS}, ${USERS} FROM exception_events
       PREWHERE service_id IN {services:Array(UUID)} AND group_id IN {groups:Array(UUID)} AND at >= ${instant('since')}${sql}
       GROUP BY taker`,
      {
        ...parameters,
        services: [...new Set(scopes.map(({ serviceId }) => serviceId))].map(uuidOf),
        groups: [...groups.keys(), ...merged.ids],
        merged: merged.ids,
        takers: merged.takers,
        since,
      },
    );
    return rows.flatMap(([uuid, events, users]) => {
      const groupId = groups.get(uuid);
      return groupId === undefined ? [] : [[groupId, { events: Number(events), users: Number(users) }] as const];
    });
  }

  /** Counts the group's events in each of two weeks. */
  async countWeeks(scope: GroupScope, { weekStart, weekBeforeStart }: GroupPeriods): Promise<WeekCounts> {
    const [row] = await this.rows<string[]>(
      `SELECT uniqExactIf(cityHash64(event_id), at >= ${instant('week')}),
         uniqExactIf(cityHash64(event_id), at < ${instant('week')})
       FROM exception_events PREWHERE ${inGroup(scope)} AND at >= ${instant('week_before')}`,
      { ...parametersOf(scope), week: weekStart.epochMilliseconds, week_before: weekBeforeStart.epochMilliseconds },
    );
    const [thisWeek = 0, weekBefore = 0] = (row ?? []).map(Number);
    return { thisWeek, weekBefore };
  }

  /** Counts values by tag among the newest `sample` events, the most frequent tags and values first. */
  async countTags(scope: GroupScope, sampling: TagSampling): Promise<Map<string, ValueCount[]>> {
    return await this.#countTagsOf(scope, await this.#newestTimes(scope, sampling.sample), sampling);
  }

  /** The newest events, newest first, and the tags of more of them: what both need to know is looked up once. */
  async readNewest(
    scope: GroupScope,
    { limit, sampling }: { readonly limit: number; readonly sampling: TagSampling },
  ): Promise<{ readonly events: ExceptionEvent[]; readonly tags: Map<string, ValueCount[]> }> {
    const times = await this.#newestTimes(scope, Math.max(limit, sampling.sample));
    if (times.length === 0) return { events: [], tags: new Map() };
    const [events, tags] = await Promise.all([
      this.#listNewestOf(scope, times, limit),
      this.#countTagsOf(scope, times, sampling),
    ]);
    return { events, tags };
  }

  /**
   * Reads the times of the newest events, newest first, from narrow columns, so that the wide ones are read for these
   * events alone.
   */
  async #newestTimes(scope: GroupScope, limit: number): Promise<readonly number[]> {
    const rows = await this.rows<[at: string]>(
      `SELECT toUnixTimestamp64Milli(at) FROM (
         SELECT at, event_id FROM exception_events PREWHERE ${inGroup(scope)}
         ORDER BY at DESC, event_id DESC LIMIT ${COPIES} * {limit:UInt32})
       ORDER BY at DESC, event_id DESC LIMIT 1 BY event_id LIMIT {limit:UInt32}`,
      { ...parametersOf(scope), limit },
    );
    return rows.map(([at]) => Number(at));
  }

  async #countTagsOf(
    scope: GroupScope,
    times: readonly number[],
    { sample, tags, values }: TagSampling,
  ): Promise<Map<string, ValueCount[]>> {
    const rows = await this.rows<[tag: string, value: string, events: string]>(
      `SELECT tag, value, count() AS events FROM (
         SELECT tags FROM exception_events PREWHERE ${inGroup(scope)}
         ORDER BY at DESC, event_id DESC LIMIT 1 BY event_id LIMIT {sample:UInt32})
       ARRAY JOIN mapKeys(tags) AS tag, mapValues(tags) AS value
       GROUP BY tag, value ORDER BY sum(events) OVER (PARTITION BY tag) DESC, tag, events DESC, value
       LIMIT {values:UInt32} BY tag LIMIT {rows:UInt32}`,
      { ...parametersOf(scope), since: oldestOf(scope, times, sample), sample, values, rows: tags * values },
    );
    const byTag = Map.groupBy(rows, ([tag]) => tag);
    return new Map(
      [...byTag]
        .slice(0, tags)
        .map(([tag, values]) => [tag, values.map(([, value, events]) => ({ value, count: Number(events) }))]),
    );
  }

  async #listNewestOf(scope: GroupScope, times: readonly number[], limit: number): Promise<ExceptionEvent[]> {
    const rows = await this.rows<[payload: string]>(
      `SELECT payload FROM exception_events PREWHERE ${inGroup(scope)}
       ORDER BY at DESC, event_id DESC LIMIT 1 BY event_id LIMIT {limit:UInt32}`,
      { ...parametersOf(scope), since: oldestOf(scope, times, limit), limit },
    );
    return rows.map(([payload]) => parseEvent(payload));
  }
}

function parametersOf(scope: GroupScope): Record<string, unknown> {
  const { serviceId, keptSince } = scope;
  return { service: uuidOf(serviceId), ...groupParameters(scope), since: keptSince.epochMilliseconds };
}

function instant(parameter: 'since' | 'until' | 'week' | 'week_before'): string {
  return `fromUnixTimestamp64Milli({${parameter}:Int64}, 'UTC')`;
}

/** Rows read for each event that is shown: it may have been sent more than once. */
const COPIES = 10;

/** Returns the time of the last of the newest `limit` events, in epoch milliseconds: reads start there. */
function oldestOf({ keptSince }: GroupScope, times: readonly number[], limit: number): number {
  return times[Math.min(limit, times.length) - 1] ?? keptSince.epochMilliseconds;
}
