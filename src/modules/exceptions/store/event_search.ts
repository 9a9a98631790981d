import type { EventCondition } from '#modules/exceptions/decide/search_query.ts';
import type { EventOrigin, ServiceEvents } from '#modules/exceptions/store/exception_counter.ts';
import { AppError } from '#kernel/errors.ts';
import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { faultTypeOf, withClickHouseErrors } from '#storage/clickhouse/faults.ts';

/** Groups with an event for which all conditions hold. */
export interface FoundEvents {
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
export class EventSearch {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

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
    return await withClickHouseErrors(async () => {
      try {
        const result = await this.#client.query({
          query,
          query_params: parameters,
          use_multipart_params_auto: true,
          format: 'JSONCompactEachRow',
          clickhouse_settings: { max_execution_time: SECONDS_MAX, timeout_overflow_mode: 'throw' },
        });
        return await result.json<Row>();
      } catch (error) {
        if (faultTypeOf(error) !== 'TIMEOUT_EXCEEDED') throw error;
        throw new AppError('invalid_input', 'the search takes too long: choose a service, or search for less', {
          faults: [{ path: 'query', message: 'takes too long: choose a service, or search for less' }],
          cause: error,
        });
      }
    });
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
  /** Whether the whole text is the value, in any case, where `*` stands for anything. */
  const isLike = (column: string, value: string): string => `${column} ILIKE ${parameter(patternOf(value))}`;
  const contains = (text: string, value: string): string => `positionCaseInsensitiveUTF8(${text}, ${value}) > 0`;
  if (environment !== undefined) narrow.push(`environment = ${parameter(environment)}`);
  if (release !== undefined) narrow.push(`release = ${parameter(release)}`);
  for (const condition of conditions) {
    const { field, value } = condition;
    /** The value as it stands in the stored JSON: what does not contain it need not be parsed. */
    const stored = (): string => contains('payload', parameter(JSON.stringify(value).slice(1, -1)));
    switch (field) {
      case 'env':
        narrow.push(isLike('environment', value));
        break;
      case 'release':
        narrow.push(isLike('release', value));
        break;
      case 'tag':
        narrow.push(`mapContains(tags, ${parameter(condition.key)})`);
        narrow.push(isLike(`tags[${parameter(condition.key)}]`, value));
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

/** Converts `*` to the wildcard of LIKE, and takes their meaning from LIKE's own. */
function patternOf(value: string): string {
  return value.replaceAll(/[\\%_]/g, (mark) => `\\${mark}`).replaceAll('*', '%');
}
