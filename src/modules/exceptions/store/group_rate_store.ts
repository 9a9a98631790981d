import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import { invalidInput } from '#kernel/errors.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ColumnCondition } from '#modules/exceptions/decide/search_query.ts';
import {
  andConditions,
  EVENTS,
  type GroupScope,
  mergedGroupOf,
  mergedOf,
} from '#modules/exceptions/store/exception_counter.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { ClickHouseStore, readLong } from '#storage/clickhouse/read_rows.ts';
import { anyOf, columns, field, PostgresStore, type Row } from '#storage/postgres/store.ts';
import { ExceptionGroupEntity } from '#storage/postgres/entities/exceptions.ts';

const SHOWN = ['id', 'serviceId', 'title', 'level'] as const;

/** A group that may be over a limit. */
export type RatedGroup = Pick<Row<typeof ExceptionGroupEntity>, (typeof SHOWN)[number]>;

/** State of what a rule has opened for a group. */
interface Opened {
  readonly isOpen: boolean;
  /** Time at which the last one ended; null where none has. */
  readonly endedAt: Temporal.Instant | null;
}

/** Reads the data of rules on the rate of groups. */
export class GroupRateStore extends PostgresStore {
  /** The rules of exceptions that look at rates, by id; active or not. */
  async listRuleIds(): Promise<Id<'rule'>[]> {
    const rules = await this.selectFrom('alert_rules as r')
      .select('r.id')
      .where('r.kind', '=', 'exception')
      .where('r.enabled', '=', true)
      .where((eb) =>
        eb.or([
          eb(field(eb.ref('r.settings'), 'eventsOver'), 'is not', null),
          eb(field(eb.ref('r.settings'), 'usersOver'), 'is not', null),
        ]),
      )
      .orderBy('r.id')
      .execute();
    return rules.map(({ id }) => id);
  }

  /** The groups that take the events of these, as far as people have not resolved or ignored them. */
  async listTakers(groupIds: readonly Id<'group'>[]): Promise<RatedGroup[]> {
    return await this.selectFrom('exception_groups as g')
      .select(columns(ExceptionGroupEntity, 'g', SHOWN))
      .where('g.id', 'in', (eb) =>
        eb
          .selectFrom('exception_groups as e')
          .select(({ fn }) => fn.coalesce('e.merged_into_id', 'e.id').as('id'))
          .where('e.id', '=', anyOf(groupIds)),
      )
      .where('g.status', '=', 'unresolved')
      .orderBy('g.id')
      .execute();
  }

  /**
   * Lists the groups of a service that had an event since then, but for those that people ignore, last seen first.
   */
  async listSeen(serviceId: Id<'service'>, since: Temporal.Instant, limit: number): Promise<RatedGroup[]> {
    return await this.selectFrom('exception_groups as g')
      .select(columns(ExceptionGroupEntity, 'g', SHOWN))
      .where('g.service_id', '=', serviceId)
      .where('g.last_seen_at', '>=', since)
      .where('g.merged_into_id', 'is', null)
      .where('g.status', '<>', 'ignored')
      .orderBy('g.last_seen_at', 'desc')
      .orderBy('g.id')
      .limit(limit)
      .execute();
  }

  /** Returns what was opened, by its key, by itself or in a storm; a key without anything is absent. */
  async findOpened(groupIds: readonly Id<'group'>[], ruleIds: readonly Id<'rule'>[]): Promise<Map<string, Opened>> {
    const { db } = this;
    const incidents = db
      .selectFrom('incidents as i')
      .select(['i.dedup_key as key', 'i.resolved_at as endedAt'])
      .where('i.exception_group_id', '=', anyOf(groupIds))
      .where('i.rule_id', '=', anyOf(ruleIds));
    const joined = db
      .selectFrom('incident_members as m')
      .select(['m.dedup_key as key', 'm.ended_at as endedAt'])
      .where('m.exception_group_id', '=', anyOf(groupIds))
      .where('m.rule_id', '=', anyOf(ruleIds));
    const rows = await db
      .selectFrom(incidents.unionAll(joined).as('o'))
      .select(({ fn, ref, eb }) => [
        'o.key',
        fn<boolean>('bool_or', [eb(ref('o.endedAt'), 'is', null)]).as('isOpen'),
        fn.max('o.endedAt').as('endedAt'),
      ])
      .groupBy('o.key')
      .execute();
    return new Map(rows.map(({ key, isOpen, endedAt }) => [key, { isOpen, endedAt }]));
  }
}

/** Limits on the events and users of a group within a time. */
interface RateLimits {
  readonly eventsOver: number | null;
  readonly usersOver: number | null;
  readonly rateMinutes: number;
}

/** A minute from which on the events or users of a group within the window, that minute included, were over a limit. */
export interface RateRise {
  readonly at: Temporal.Instant;
  readonly events: number;
  /** Null for a rate without a limit on users, for which they are not counted. */
  readonly users: number | null;
}

interface GroupRises {
  /** Total, including those that are not listed. */
  readonly total: number;
  /** Newest first. */
  readonly newest: readonly RateRise[];
}

const MINUTE_MS = 60_000;

/** Groups of one window that are looked at more closely, shared by the services that are asked for at once. */
const GROUPS_MAX = 5_000;

/** Groups of each service at least, however many services there are: one with many leaves no other without. */
const GROUPS_OF_SERVICE_MIN = 250;

/** Reads which groups have had events lately. */
export class GroupRateReader extends ClickHouseStore {
  readonly #groupsMax: number;
  readonly #ofServiceMin: number;

  constructor(
    client: ClickHouseClient,
    limits: { readonly groups: number; readonly ofService: number } = {
      groups: GROUPS_MAX,
      ofService: GROUPS_OF_SERVICE_MIN,
    },
  ) {
    super(client);
    this.#groupsMax = limits.groups;
    this.#ofServiceMin = limits.ofService;
  }

  /**
   * The groups of these services that had an event since then which meets the conditions, of each service those with
   * most such events.
   */
  async listActive(
    serviceIds: readonly Id<'service'>[],
    since: Temporal.Instant,
    conditions: readonly ColumnCondition[],
  ): Promise<Id<'group'>[]> {
    const { sql, parameters } = andConditions(conditions);
    const limit = Math.max(this.#ofServiceMin, Math.floor(this.#groupsMax / serviceIds.length));
    const rows = await this.rows<[group: string]>(
      `SELECT group_id FROM exception_events
          PREWHERE service_id IN {services:Array(UUID)} AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')${sql}
          GROUP BY service_id, group_id ORDER BY ${EVENTS} DESC, group_id LIMIT {limit:UInt32} BY service_id`,
      { ...parameters, services: serviceIds.map(uuidOf), since: since.epochMilliseconds, limit },
    );
    return rows.map(([uuid]) => idOfUuid('group', uuid));
  }

  /**
   * Returns when the rates of these groups rose over a limit, minute by minute, once until they have fallen to it again;
   * a group that never did is absent. Events that came before the groups are kept since do not count. Throws
   * `invalid_input` for more events than one query may read.
   */
  async listRises(
    scopes: readonly GroupScope[],
    { eventsOver, usersOver, rateMinutes }: RateLimits,
    conditions: readonly ColumnCondition[],
    newestMax: number,
  ): Promise<Map<Id<'group'>, GroupRises>> {
    const [first] = scopes;
    if (first === undefined) return new Map();
    const merged = mergedOf(scopes);
    const { sql, parameters } = andConditions(conditions);
    const isWanted = `service_id = {service:UUID} AND group_id IN {groups:Array(UUID)}
      AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')${sql}`;
    const taker = mergedGroupOf(merged);
    const minute = `intDiv(toUnixTimestamp64Milli(at), ${MINUTE_MS})`;
    const span = `intDiv(${minute}, {minutes:Int64})`;
    // A window lies in two spans of its length, so one of them holds more than half of what is over the limit.
    const isDense = [
      ...(eventsOver === null ? [] : ['2 * count() > {eventsOver:Int64}']),
      ...(usersOver === null ? [] : ["2 * countIf(user_key != '') > {usersOver:Int64}"]),
    ].join(' OR ');
    // An event is of one user, so the events of all users are those of the group.
    const user = usersOver === null ? '0' : "if(user_key = '', 0, cityHash64(user_key))";
    const isOver = [
      ...(eventsOver === null ? [] : ['events > {eventsOver:Int64}']),
      ...(usersOver === null ? [] : ['users > {usersOver:Int64}']),
    ].join(' OR ');
    const rows = await readLong<
      [group: string, total: string, newest: [minute: string, events: string, users: string][]]
    >(
      this.client,
      {
        sql: `SELECT taker, count(), arraySlice(arrayReverseSort(groupArray((minute, events, users))), 1, {newest:UInt32})
          FROM (
            SELECT *, ${isOver} AS is_over,
              lagInFrame(is_over, 1, 0) OVER (PARTITION BY taker ORDER BY minute
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS was_over
            FROM (
              SELECT taker, minute, sum(more_events) OVER so_far AS events, sum(more_users) OVER so_far AS users
              FROM (
                SELECT taker, change.1 AS minute, sum(change.2) AS more_events, sum(change.3) AS more_users
                FROM (
                  SELECT taker, user, arraySort(groupArray((minute, sent))) AS seen, arrayMap(s -> s.1, seen) AS minutes
                  FROM (
                    SELECT ${taker} AS taker, ${user} AS user, ${minute} AS minute, toInt64(${EVENTS}) AS sent
                    FROM exception_events PREWHERE ${isWanted}
                    WHERE (taker, ${span}) IN (
                      SELECT taker, arrayJoin([span - 1, span, span + 1]) FROM (
                        SELECT ${taker} AS taker, ${span} AS span FROM exception_events PREWHERE ${isWanted}
                        GROUP BY taker, span HAVING ${isDense}))
                    GROUP BY taker, user, minute
                  )
                  GROUP BY taker, user
                )
                ARRAY JOIN arrayConcat(
                  arrayMap(s -> (s.1, s.2, toInt64(0)), seen),
                  arrayMap(s -> (s.1 + {minutes:Int64}, -s.2, toInt64(0)), seen),
                  if(user = 0, [], arrayMap(m -> (m, toInt64(0), toInt64(1)), arrayFilter(
                    (m, before) -> m - before > {minutes:Int64}, minutes, arrayPushFront(arrayPopBack(minutes), -1000000)))),
                  if(user = 0, [], arrayMap(m -> (m + {minutes:Int64}, toInt64(0), toInt64(-1)), arrayFilter(
                    (m, next) -> next - m > {minutes:Int64}, minutes, arrayPushBack(arrayPopFront(minutes), 1000000000))))
                ) AS change
                GROUP BY taker, minute
              )
              WINDOW so_far AS (PARTITION BY taker ORDER BY minute ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
            )
          )
          WHERE is_over AND NOT was_over GROUP BY taker`,
        parameters: {
          ...parameters,
          service: uuidOf(first.serviceId),
          groups: [...scopes.map(({ groupId }) => uuidOf(groupId)), ...merged.ids],
          merged: merged.ids,
          takers: merged.takers,
          since: first.keptSince.epochMilliseconds,
          minutes: rateMinutes,
          eventsOver: eventsOver ?? 0,
          usersOver: usersOver ?? 0,
          newest: newestMax,
        },
      },
      tooManyEvents,
    );
    return new Map(
      rows.map(([uuid, total, newest]) => [
        idOfUuid('group', uuid),
        {
          total: Number(total),
          newest: newest.map(([minute, events, users]) => ({
            at: fromEpochMilliseconds(Number(minute) * MINUTE_MS),
            events: Number(events),
            users: usersOver === null ? null : Number(users),
          })),
        },
      ]),
    );
  }
}

function tooManyEvents() {
  const message = 'this service has too many exceptions for so many days: take fewer days, or narrow the conditions';
  return invalidInput([{ path: 'days', message }]);
}
