import { AppError } from '#kernel/errors.ts';
import { ClickHouseStore } from '#storage/clickhouse/read_rows.ts';
import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import type { EventCondition } from '#modules/exceptions/decide/search_query.ts';
import {
  conditionSql,
  type EventOrigin,
  EVENTS,
  groupParameters,
  type GroupScope,
  isOfGroup,
  type ServiceEvents,
} from '#modules/exceptions/store/exception_counter.ts';
import type { EventPlace } from '#modules/exceptions/store/exception_event_pages.ts';
import type { FirstEvent } from '#modules/rules/decide/replay_exceptions.ts';
import { faultTypeOf } from '#storage/clickhouse/faults.ts';
import { LOOKED_AT } from '#storage/clickhouse/insert_rows.ts';

/** Groups with an event for which all conditions hold. */
interface FoundEvents {
  readonly groupIds: readonly Id<'group'>[];
  /** Time of the oldest event that was looked into; null if all that are kept were. */
  readonly since: Temporal.Instant | null;
}

/** Newest events whose whole content is looked into: the narrow columns of the others are read, and nothing else. */
const WIDE_EVENTS_MAX = 20_000;
const SECONDS_MAX = 8;
const GROUPS_MAX = 20_000;

/** Conditions as SQL; each value is a parameter. */
interface Rendered {
  /** Condition on narrow columns. */
  readonly narrow: readonly string[];
  /** Condition on the stored event. */
  readonly wide: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds groups by what their events say, at a bounded cost. The caller has checked whose services they are. */
export class EventSearch extends ClickHouseStore {
  /** Throws `invalid_input` for a search that takes too long. */
  async find(
    services: readonly ServiceEvents[],
    conditions: readonly EventCondition[],
    origin: EventOrigin = {},
  ): Promise<FoundEvents> {
    const find = async (usersBy: UsersBy) =>
      await Promise.all(services.map((some) => this.#findIn(some, render(conditions, origin, usersBy))));
    const results = await find('content');
    // Events that are too old to be looked into still have the key of their user in a narrow column.
    if (results.some(({ since }) => since !== null) && conditions.every(isNarrowByKey)) {
      results.push(...(await find('key')));
    }
    const since = results.flatMap((result) => result.since ?? []);
    return {
      groupIds: [...new Set(results.flatMap(({ groupIds }) => groupIds))],
      since: since.length === 0 ? null : fromEpochMilliseconds(Math.max(...since)),
    };
  }

  async #findIn(
    { serviceIds, keptSince }: ServiceEvents,
    { narrow, wide, parameters }: Rendered,
  ): Promise<{ readonly groupIds: readonly Id<'group'>[]; readonly since: number | null }> {
    if (serviceIds.length === 0) return { groupIds: [], since: null };
    const kept = keptSince.epochMilliseconds;
    const bound = { ...parameters, services: serviceIds.map(uuidOf), since: kept };
    const all = ['service_id IN {services:Array(UUID)}', 'at >= fromUnixTimestamp64Milli({since:Int64})', ...narrow];
    const where = wide.length === 0 ? '' : `WHERE ${wide.join(' AND ')}`;
    const oldest = wide.length === 0 ? null : await this.#oldestOfNewest(all, bound);
    const rows = await this.#rows<[group: string]>(
      `SELECT DISTINCT group_id FROM exception_events PREWHERE ${all.join(' AND ')} ${where} LIMIT ${GROUPS_MAX}`,
      { ...bound, since: oldest ?? kept },
    );
    return { groupIds: rows.map(([uuid]) => idOfUuid('group', uuid)), since: oldest };
  }

  /** Returns the time of the oldest event of the newest `WIDE_EVENTS_MAX`; null if there are no more than these. */
  async #oldestOfNewest(all: readonly string[], parameters: Record<string, unknown>): Promise<number | null> {
    const [row] = await this.#rows<[at: string, count: string]>(
      `SELECT toUnixTimestamp64Milli(min(at)), count() FROM (
         SELECT at FROM exception_events PREWHERE ${all.join(' AND ')} ORDER BY at DESC LIMIT ${WIDE_EVENTS_MAX})`,
      parameters,
    );
    return row === undefined || Number(row[1]) < WIDE_EVENTS_MAX ? null : Number(row[0]);
  }

  async #rows<Row extends readonly unknown[]>(query: string, parameters: Record<string, unknown>): Promise<Row[]> {
    try {
      return await this.rows<Row>(query, parameters, {
        ...LOOKED_AT,
        max_execution_time: SECONDS_MAX,
        timeout_overflow_mode: 'throw',
      });
    } catch (error) {
      if (faultTypeOf(error) !== 'TIMEOUT_EXCEEDED') throw error;
      throw new AppError('invalid_input', 'the search takes too long: choose a service, or search for less', {
        faults: [{ path: 'query', message: 'takes too long: choose a service, or search for less' }],
        cause: error,
      });
    }
  }
}

function isNarrowByKey({ field }: EventCondition): boolean {
  return field === 'user' || field === 'env' || field === 'release' || field === 'tag';
}

/** Whether users are found by all that events say of them, or by the key that tells them apart. */
type UsersBy = 'content' | 'key';

function render(
  conditions: readonly EventCondition[],
  { environment, release }: EventOrigin,
  usersBy: UsersBy,
): Rendered {
  const parameters: Record<string, string> = {};
  const narrow: string[] = [];
  const wide: string[] = [];
  const parameter = (value: string): string => {
    const name = `v${Object.keys(parameters).length}`;
    parameters[name] = value;
    return `{${name}:String}`;
  };
  const contains = (text: string, value: string): string => `positionCaseInsensitiveUTF8(${text}, ${value}) > 0`;
  if (environment !== undefined) narrow.push(`environment = ${parameter(environment)}`);
  if (release !== undefined) narrow.push(`release = ${parameter(release)}`);
  for (const condition of conditions) {
    const { field, value } = condition;
    /** The value as it stands in the stored JSON: what does not contain it need not be parsed. */
    const stored = (): string => contains('payload', parameter(JSON.stringify(value).slice(1, -1)));
    switch (field) {
      case 'env':
      case 'release':
        narrow.push(...conditionSql({ field, value }, parameter));
        break;
      case 'tag':
        narrow.push(...conditionSql({ field, key: condition.key, value }, parameter));
        break;
      case 'user': {
        const key = parameter(value);
        if (usersBy === 'key') {
          const keys = ['id', 'username', 'ip'].map((kind) => `concat('${kind}:', ${key})`);
          narrow.push(`user_key IN (${keys.join(', ')}, concat('email:', lower(${key})))`);
          break;
        }
        const fields = ['id', 'email', 'username', 'ip'].map((name) => `'${name}'`);
        const said = fields.map((name) => `lower(JSONExtractString(payload, 'user', ${name})) = lower(${key})`);
        wide.push(`(${stored()} AND (${said.join(' OR ')}))`);
        break;
      }
      case 'transaction':
        wide.push(`(${stored()} AND ${contains("JSONExtractString(payload, 'transaction')", parameter(value))})`);
        break;
      case 'url':
        wide.push(`(${stored()} AND ${contains("JSONExtractString(payload, 'request', 'url')", parameter(value))})`);
        break;
      case 'file': {
        const file = parameter(value);
        const inFrame = ['filename', 'absPath'].map((name) => contains(`JSONExtractString(f, '${name}')`, file));
        const inStack = `arrayExists(f -> ${inFrame.join(' OR ')}, JSONExtractArrayRaw(e, 'frames'))`;
        wide.push(`(${stored()} AND arrayExists(e -> ${inStack}, JSONExtractArrayRaw(payload, 'exceptions')))`);
        break;
      }
      case 'message': {
        const text = parameter(value);
        const inValue = `arrayExists(e -> ${contains("JSONExtractString(e, 'value')", text)}, JSONExtractArrayRaw(payload, 'exceptions'))`;
        wide.push(`(${stored()} AND (${contains("JSONExtractString(payload, 'message')", text)} OR ${inValue}))`);
        break;
      }
    }
  }
  return { narrow, wide, parameters };
}

/** A user of the events of a group. The key says by what they are known: `id:42`, `email:a@example.com`. */
interface AffectedUser {
  readonly key: string;
  /** Mail address or user name in their last event, for people who are known by an id; else null. */
  readonly name: string | null;
  readonly events: number;
  readonly firstAt: Temporal.Instant;
  readonly lastAt: Temporal.Instant;
}

/** An event as lists show it, read from narrow columns. */
interface ListedEvent {
  readonly place: EventPlace;
  readonly environment: string;
  readonly release: string;
  readonly userKey: string;
  readonly userName: string | null;
  readonly level: string;
}

const IN_GROUP = "at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')";
/** Rows read for each event that is shown: it may have been sent more than once. */
const COPIES = 10;

/** Lists the users and the events of a group, page by page, from narrow columns. */
export class EventLists extends ClickHouseStore {
  /** Lists users after `after`, the one seen last first. */
  async listUsers(
    scope: GroupScope,
    after: { readonly atMs: number; readonly key: string } | null,
    limit: number,
  ): Promise<AffectedUser[]> {
    const rows = await this.rows<[key: string, events: string, first: string, last: string, id: string]>(
      `SELECT user_key, ${EVENTS}, toUnixTimestamp64Milli(min(at)), toUnixTimestamp64Milli(max(at)) AS last,
         argMax(event_id, at)
       FROM exception_events PREWHERE ${ofGroup(scope)} AND user_key != '' GROUP BY user_key
       ${after === null ? '' : 'HAVING (last, user_key) < ({at:Int64}, {key:String})'}
       ORDER BY last DESC, user_key DESC LIMIT {limit:UInt32}`,
      { ...parametersOf(scope), limit, at: after?.atMs ?? 0, key: after?.key ?? '' },
    );
    const names = await this.#namesOfUsers(
      scope,
      rows.map(([userKey, , , last, id]) => ({ userKey, atMs: Number(last), id })),
    );
    return rows.map(([key, events, first, last, id]) => ({
      key,
      name: names.get(id) ?? null,
      events: Number(events),
      firstAt: fromEpochMilliseconds(Number(first)),
      lastAt: fromEpochMilliseconds(Number(last)),
    }));
  }

  /** Lists events from `from` on, newest first. */
  async listEvents(scope: GroupScope, from: EventPlace | null, limit: number): Promise<ListedEvent[]> {
    const place = "(at, event_id) <= (fromUnixTimestamp64Milli({at:Int64}, 'UTC'), {event:UUID})";
    const rows = await this.rows<[at: string, id: string, ...texts: string[]]>(
      `SELECT at_ms, id, environment, release, user_key, level FROM (
         SELECT toUnixTimestamp64Milli(at) AS at_ms, event_id AS id, environment, release, user_key, level
         FROM exception_events PREWHERE ${ofGroup(scope)} ${from === null ? '' : `AND ${place}`}
         ORDER BY at DESC, event_id DESC LIMIT {rows:UInt32})
       ORDER BY at_ms DESC, id DESC LIMIT 1 BY id LIMIT {limit:UInt32}`,
      { ...parametersOf(scope), ...(from && { at: from.atMs, event: from.eventId }), limit, rows: COPIES * limit },
    );
    const names = await this.#namesOfUsers(
      scope,
      rows.map(([at, id, , , userKey = '']) => ({ userKey, atMs: Number(at), id })),
    );
    return rows.map(([at, id, environment = '', release = '', userKey = '', level = '']) => {
      const place = { atMs: Number(at), eventId: id.replaceAll('-', '') };
      return { place, environment, release, userKey, userName: names.get(id) ?? null, level };
    });
  }

  /**
   * Returns the mail address or user name that these events say of their users, by event: of users who are known by an
   * id, since others are known by the best there is.
   */
  async #namesOfUsers(
    scope: GroupScope,
    events: readonly { readonly userKey: string; readonly atMs: number; readonly id: string }[],
  ): Promise<Map<string, string>> {
    const unnamed = events.filter(({ userKey }) => userKey.startsWith('id:'));
    if (unnamed.length === 0) return new Map();
    const field = (name: string) => `JSONExtractString(payload, 'user', '${name}')`;
    const rows = await this.rows<[id: string, name: string]>(
      `SELECT event_id, if(${field('email')} != '', ${field('email')}, ${field('username')}) FROM exception_events
       PREWHERE ${ofGroup(scope)} AND event_id IN {ids:Array(UUID)}
         AND at IN (SELECT fromUnixTimestamp64Milli(arrayJoin({times:Array(Int64)}), 'UTC'))`,
      { ...parametersOf(scope), ids: unnamed.map(({ id }) => id), times: unnamed.map(({ atMs }) => atMs) },
    );
    return new Map(rows.filter(([, name]) => name !== ''));
  }

  /** Counts the events of each hour since then, by the hour in epoch milliseconds. */
  async countByHour(scope: GroupScope, since: Temporal.Instant): Promise<Map<number, number>> {
    const rows = await this.rows<[hour: string, events: string]>(
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
    const rows = await this.rows<
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
}

function ofGroup(scope: GroupScope): string {
  return `service_id = {service:UUID} AND ${isOfGroup(scope)} AND ${IN_GROUP}`;
}

function parametersOf(scope: GroupScope): Record<string, unknown> {
  const { serviceId, keptSince } = scope;
  return { service: uuidOf(serviceId), ...groupParameters(scope), since: keptSince.epochMilliseconds };
}
