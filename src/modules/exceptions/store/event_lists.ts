import type { Level } from '#modules/exceptions/decide/level.ts';
import type { FirstEvent } from '#modules/rules/decide/replay_exceptions.ts';
import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import { EVENTS, groupParameters, type GroupScope, isOfGroup } from '#modules/exceptions/store/exception_counter.ts';
import type { EventPlace } from '#modules/exceptions/store/exception_event_pages.ts';

/** A user of the events of a group. The key says by what they are known: `id:42`, `email:a@example.com`. */
export interface AffectedUser {
  readonly key: string;
  readonly events: number;
  readonly firstAt: Temporal.Instant;
  readonly lastAt: Temporal.Instant;
}

/** An event as lists show it, read from narrow columns. */
export interface ListedEvent {
  readonly place: EventPlace;
  readonly environment: string;
  readonly release: string;
  readonly userKey: string;
  readonly level: string;
}

const IN_GROUP = "at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')";
/** Rows read for each event that is shown: it may have been sent more than once. */
const COPIES = 10;

/** Lists the users and the events of a group, page by page, from narrow columns. */
export class EventLists {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** Lists users after `after`, the one seen last first. */
  async listUsers(
    scope: GroupScope,
    after: { readonly atMs: number; readonly key: string } | null,
    limit: number,
  ): Promise<AffectedUser[]> {
    const rows = await this.#rows<[key: string, events: string, first: string, last: string]>(
      `SELECT user_key, ${EVENTS}, toUnixTimestamp64Milli(min(at)), toUnixTimestamp64Milli(max(at)) AS last
       FROM exception_events PREWHERE ${ofGroup(scope)} AND user_key != '' GROUP BY user_key
       ${after === null ? '' : 'HAVING (last, user_key) < ({at:Int64}, {key:String})'}
       ORDER BY last DESC, user_key DESC LIMIT {limit:UInt32}`,
      { ...parametersOf(scope), limit, at: after?.atMs ?? 0, key: after?.key ?? '' },
    );
    return rows.map(([key, events, first, last]) => ({
      key,
      events: Number(events),
      firstAt: fromEpochMilliseconds(Number(first)),
      lastAt: fromEpochMilliseconds(Number(last)),
    }));
  }

  /** Lists events from `from` on, newest first. */
  async listEvents(scope: GroupScope, from: EventPlace | null, limit: number): Promise<ListedEvent[]> {
    const place = "(at, event_id) <= (fromUnixTimestamp64Milli({at:Int64}, 'UTC'), {event:UUID})";
    const rows = await this.#rows<[at: string, id: string, ...texts: string[]]>(
      `SELECT at_ms, id, environment, release, user_key, level FROM (
         SELECT toUnixTimestamp64Milli(at) AS at_ms, event_id AS id, environment, release, user_key, level
         FROM exception_events PREWHERE ${ofGroup(scope)} ${from === null ? '' : `AND ${place}`}
         ORDER BY at DESC, event_id DESC LIMIT {rows:UInt32})
       ORDER BY at_ms DESC, id DESC LIMIT 1 BY id LIMIT {limit:UInt32}`,
      { ...parametersOf(scope), ...(from && { at: from.atMs, event: from.eventId }), limit, rows: COPIES * limit },
    );
    return rows.map(([at, id, environment = '', release = '', userKey = '', level = '']) => {
      return { place: { atMs: Number(at), eventId: id.replaceAll('-', '') }, environment, release, userKey, level };
    });
  }

  /** Counts the events of each hour since then, by the hour in epoch milliseconds. */
  async countByHour(scope: GroupScope, since: Temporal.Instant): Promise<Map<number, number>> {
    const rows = await this.#rows<[hour: string, events: string]>(
      `SELECT toUnixTimestamp(toStartOfHour(at)) AS hour, ${EVENTS} FROM exception_events
       PREWHERE ${ofGroup(scope)} GROUP BY hour`,
      { ...parametersOf(scope), since: Math.max(scope.keptSince.epochMilliseconds, since.epochMilliseconds) },
    );
    return new Map(rows.map(([hour, events]) => [Number(hour) * 1_000, Number(events)]));
  }

  /** Returns the first event since then of each group of the service that had any, at most `limit`. */
  async listFirst(
    serviceId: Id<'service'>,
    since: Temporal.Instant,
    limit: number,
  ): Promise<Map<Id<'group'>, FirstEvent>> {
    const rows = await this.#rows<
      [group: string, level: Level, environment: string, release: string, tags: Record<string, string>]
    >(
      `SELECT group_id, argMin(level, at), argMin(environment, at), argMin(release, at), argMin(tags, at)
       FROM exception_events PREWHERE service_id = {service:UUID} AND ${IN_GROUP}
       GROUP BY group_id ORDER BY min(at) DESC LIMIT {limit:UInt32}`,
      { service: uuidOf(serviceId), since: since.epochMilliseconds, limit },
    );
    return new Map(
      rows.map(([uuid, level, environment, release, tags]) => [
        idOfUuid('group', uuid),
        { level, environment: environment || null, release: release || null, tags },
      ]),
    );
  }

  async #rows<Row extends readonly unknown[]>(query: string, parameters: Record<string, unknown>): Promise<Row[]> {
    return await withClickHouseErrors(async () => {
      const result = await this.#client.query({ query, query_params: parameters, format: 'JSONCompactEachRow' });
      return await result.json<Row>();
    });
  }
}

function ofGroup(scope: GroupScope): string {
  return `service_id = {service:UUID} AND ${isOfGroup(scope)} AND ${IN_GROUP}`;
}

function parametersOf(scope: GroupScope): Record<string, unknown> {
  const { serviceId, keptSince } = scope;
  return { service: uuidOf(serviceId), ...groupParameters(scope), since: keptSince.epochMilliseconds };
}
