import { EMPTY_TOTALS, type GroupTotals, type ReleaseCount } from '#modules/exceptions/decide/group_counts.ts';
import type { ColumnCondition } from '#modules/exceptions/decide/search_query.ts';
import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import { ClickHouseStore } from '#storage/clickhouse/read_rows.ts';
import { fromEpochMilliseconds, type Temporal, toTimestamp } from '#kernel/time.ts';

/** The events of a group that its service still keeps. */
export interface GroupScope {
  readonly serviceId: Id<'service'>;
  readonly groupId: Id<'group'>;
  readonly keptSince: Temporal.Instant;
  /** Groups that are part of it: their events are its own. */
  readonly mergedIds?: readonly Id<'group'>[];
}

/** The condition that an event is of the group, or of one that is part of it. */
export function isOfGroup({ mergedIds = [] }: GroupScope): string {
  return mergedIds.length === 0 ? 'group_id = {group:UUID}' : 'group_id IN {groups:Array(UUID)}';
}

/** Returns the parameters of `isOfGroup`. */
export function groupParameters({ groupId, mergedIds = [] }: GroupScope): Record<string, unknown> {
  return mergedIds.length === 0 ? { group: uuidOf(groupId) } : { groups: [groupId, ...mergedIds].map(uuidOf) };
}

/** Sets of 64 bits are much faster than those of ids or texts; our counts are far too small for collisions. */
export const EVENTS = 'uniqExact(cityHash64(event_id))';
export const USERS = "uniqExactIf(cityHash64(user_key), user_key != '')";

/**
 * Returns a condition as SQL, for what `matchesWildcard` matches; `parameter` takes a value and returns its place in the
 * query.
 */
export function conditionSql(condition: ColumnCondition, parameter: (value: string) => string): string[] {
  const isLike = (column: string): string => `${column} ILIKE ${parameter(patternOf(condition.value))}`;
  if (condition.field !== 'tag') return [isLike(condition.field === 'env' ? 'environment' : 'release')];
  const key = parameter(condition.key);
  return [`mapContains(tags, ${key})`, isLike(`tags[${key}]`)];
}

/** Converts `*` to the wildcard of LIKE, and takes their meaning from LIKE's own. */
function patternOf(value: string): string {
  return value.replaceAll(/[\\%_]/g, (mark) => `\\${mark}`).replaceAll('*', '%');
}

/** Returns the conditions behind others, with their parameters. */
export function andConditions(conditions: readonly ColumnCondition[]): {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string>>;
} {
  const values: string[] = [];
  const parameter = (value: string): string => `{condition${values.push(value) - 1}:String}`;
  const sql = conditions.flatMap((condition) => conditionSql(condition, parameter)).map((text) => ` AND ${text}`);
  return {
    sql: sql.join(''),
    parameters: Object.fromEntries(values.map((value, index) => [`condition${index}`, value])),
  };
}

const OF_GROUPS = `service_id IN {services:Array(UUID)} AND group_id IN {groups:Array(UUID)} AND at >= ${since()}`;

/** Merged groups, each with the one that takes its events, for `mergedGroupOf`. */
interface Merged {
  readonly ids: readonly string[];
  readonly takers: readonly string[];
}

export function mergedOf(scopes: readonly GroupScope[]): Merged {
  return mergedPairs(scopes.flatMap(({ groupId, mergedIds = [] }) => mergedIds.map((id) => [id, groupId] as const)));
}

export function mergedPairs(pairs: readonly (readonly [part: Id<'group'>, taker: Id<'group'>])[]): Merged {
  return { ids: pairs.map(([id]) => uuidOf(id)), takers: pairs.map(([, id]) => uuidOf(id)) };
}

/** The group that takes an event. */
export function mergedGroupOf({ ids }: Merged): string {
  if (ids.length === 0) return 'group_id';
  const place = 'indexOf({merged:Array(UUID)}, group_id)';
  return `if(${place} = 0, group_id, arrayElement({takers:Array(UUID)}, ${place}))`;
}

/** Columns with the counts of a group as a whole, and in each of its days, environments and releases. */
const COUNTED = `${EVENTS} AS events, ${USERS} AS users, countIf(handled = 'unhandled') AS unhandled_events,
           countIf(handled = 'handled') AS handled_events, min(at) AS first, max(at) AS last`;

type CountRow = readonly [
  taker: string,
  kind: 'total' | 'day' | 'environment' | 'release',
  name: string,
  events: string,
  users: string,
  unhandled: string,
  handled: string,
  first: string,
  last: string,
  releases: string,
];

/** Rows of each kind that a group has at most: more days than any service keeps. */
const NAMES_MAX = 500;
const ENVIRONMENTS_MAX = 20;
const RELEASES_MAX = 100;

/** Values of a column over the events of services, as filters offer them. */
export interface FoundValues {
  readonly values: readonly string[];
  /** Total, shown or not. */
  readonly total: number;
}

/** Release and environment that an event must bear; an absent one does not narrow. */
export interface EventOrigin {
  readonly environment?: string | undefined;
  readonly release?: string | undefined;
}

/** Events of several services, each with what it keeps. */
export interface ServiceEvents {
  readonly serviceIds: readonly Id<'service'>[];
  readonly keptSince: Temporal.Instant;
}

interface OriginCount extends ReleaseCount {
  readonly environment: string;
}

/** Counts whole groups of events. One sent twice counts once. The caller has checked whose groups they are. */
export class ExceptionCounter extends ClickHouseStore {
  /** Returns totals by group id; a group without events has empty totals. */
  async count(scopes: readonly GroupScope[]): Promise<Map<Id<'group'>, GroupTotals>> {
    const bySince = Map.groupBy(scopes, ({ keptSince }) => keptSince.epochMilliseconds);
    const counted = await Promise.all([...bySince.values()].map((alike) => this.#countAlike(alike)));
    return new Map(counted.flat());
  }

  async #countAlike(scopes: readonly GroupScope[]): Promise<(readonly [Id<'group'>, GroupTotals])[]> {
    const merged = mergedOf(scopes);
    const group = mergedGroupOf(merged);
    const parameters = {
      services: [...new Set(scopes.map(({ serviceId }) => serviceId))].map(uuidOf),
      groups: [...scopes.map(({ groupId }) => uuidOf(groupId)), ...merged.ids],
      merged: merged.ids,
      takers: merged.takers,
      since: scopes[0]?.keptSince.epochMilliseconds ?? 0,
    };
    // One query instead of one for each kind of count: most of what a query of few groups takes is its beginning.
    const rows = await this.rows<CountRow>(
      `SELECT taker, kind, name, events, users, unhandled_events, handled_events, toUnixTimestamp64Milli(first),
         toUnixTimestamp64Milli(last), releases
       FROM (
         SELECT ${group} AS taker, toDate(at) AS day, ${COUNTED}, uniqExactIf(release, release != '') AS releases,
           multiIf(grouping(day) = 0, 'day', grouping(environment) = 0, 'environment', grouping(release) = 0, 'release',
             'total') AS kind,
           multiIf(kind = 'day', toString(day), kind = 'environment', environment, release) AS name
         FROM exception_events PREWHERE ${OF_GROUPS}
         GROUP BY GROUPING SETS ((taker), (taker, day), (taker, environment), (taker, release))
       )
       ORDER BY if(kind = 'release', toUnixTimestamp64Milli(last), toInt64(events)) DESC, name LIMIT ${NAMES_MAX} BY taker, kind`,
      parameters,
    );
    const byTaker = Map.groupBy(rows, ([taker]) => taker);
    return scopes.map(({ groupId }) => {
      const uuid = uuidOf(groupId);
      const kinds = Map.groupBy(byTaker.get(uuid) ?? [], ([, kind]) => kind);
      const [total] = kinds.get('total') ?? [];
      if (total === undefined) return [groupId, EMPTY_TOTALS];
      const [, , , events, users, unhandled, handled, , , releasesTotal] = total;
      const named = (kind: CountRow[1]) => (kinds.get(kind) ?? []).filter(([, , name]) => name !== '');
      const counts = {
        events: Number(events),
        users: Number(users),
        isHandled: Number(unhandled) > 0 ? false : Number(handled) > 0 || null,
        days: named('day')
          .map(([, , day, count]) => [day, Number(count)] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        environments: named('environment')
          .slice(0, ENVIRONMENTS_MAX)
          .map(([, , value, count]) => ({ value, count: Number(count) })),
        releases: named('release')
          .slice(0, RELEASES_MAX)
          .map(([, , release, count, byUsers, , , first, last]) =>
            toReleaseCount(['', release, count, byUsers, first, last]),
          ),
        releasesTotal: Number(releasesTotal),
      };
      return [groupId, counts];
    });
  }

  /**
   * Counts events by release and environment, the origin with the newest events first. A missing release or environment
   * counts as an empty text.
   */
  async countByOrigin(scope: GroupScope, limit: number): Promise<OriginCount[]> {
    const { serviceId, groupId, keptSince, mergedIds = [] } = scope;
    const rows = await this.rows<[release: string, environment: string, ...counts: string[]]>(
      `SELECT release, environment, ${EVENTS}, ${USERS}, toUnixTimestamp64Milli(min(at)),
         toUnixTimestamp64Milli(max(at)) AS last
       FROM exception_events PREWHERE ${OF_GROUPS} GROUP BY release, environment
       ORDER BY last DESC, release, environment LIMIT {limit:UInt32}`,
      {
        services: [uuidOf(serviceId)],
        groups: [groupId, ...mergedIds].map(uuidOf),
        since: keptSince.epochMilliseconds,
        limit,
      },
    );
    return rows.map(([release, environment, events, users, first, last]) => ({
      ...toReleaseCount(['', release, events ?? '', users ?? '', first ?? '', last ?? '']),
      environment,
    }));
  }

  async listGroups(services: readonly ServiceEvents[], origin: EventOrigin): Promise<Id<'group'>[]> {
    const groupsByService = await Promise.all(
      services.map(async (some) => {
        const rows = await this.rows<[group: string]>(
          `SELECT DISTINCT group_id FROM exception_origins
           WHERE service_id IN {services:Array(UUID)} AND last_at >= ${since()}${
             origin.environment === undefined ? '' : ' AND environment = {environment:String}'
           }${origin.release === undefined ? '' : ' AND release = {release:String}'}`,
          { ...parametersOf(some), environment: origin.environment ?? '', release: origin.release ?? '' },
        );
        return rows.map(([uuid]) => idOfUuid('group', uuid));
      }),
    );
    return groupsByService.flat();
  }

  /** Environments by frequency, or releases with the last seen first; those that contain the text. */
  async listValues(
    services: readonly ServiceEvents[],
    column: 'environment' | 'release',
    { text, limit }: { readonly text: string; readonly limit: number },
  ): Promise<FoundValues> {
    const valuesByService = await Promise.all(
      services.map((some) =>
        this.rows<[value: string, events: string, last: string]>(
          `SELECT ${column}, count(), toUnixTimestamp64Milli(max(at)) FROM exception_events PREWHERE ${OF_SERVICES}
           WHERE ${column} != '' AND positionCaseInsensitiveUTF8(${column}, {text:String}) > 0 GROUP BY ${column}`,
          { ...parametersOf(some), text },
        ),
      ),
    );
    const rank = new Map<string, number>();
    for (const [value, events, last] of valuesByService.flat()) {
      const earlierRank = rank.get(value) ?? 0;
      rank.set(value, column === 'environment' ? earlierRank + Number(events) : Math.max(earlierRank, Number(last)));
    }
    const sorted = [...rank].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([value]) => value);
    return { values: sorted.slice(0, limit), total: sorted.length };
  }
}

const OF_SERVICES = `service_id IN {services:Array(UUID)} AND at >= ${since()}`;

function parametersOf({ serviceIds, keptSince }: ServiceEvents): Record<string, unknown> {
  return { services: serviceIds.map(uuidOf), since: keptSince.epochMilliseconds };
}

function since(): string {
  return "fromUnixTimestamp64Milli({since:Int64}, 'UTC')";
}

function toReleaseCount([, release, events, users, first, last]: readonly string[]): ReleaseCount {
  return {
    release: release ?? '',
    events: Number(events),
    users: Number(users),
    firstSeenAt: toTimestamp(fromEpochMilliseconds(Number(first))),
    lastSeenAt: toTimestamp(fromEpochMilliseconds(Number(last))),
  };
}
