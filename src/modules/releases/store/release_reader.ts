import { idOfUuid, type Id, uuidOf } from '#kernel/ids.ts';
import { ClickHouseStore } from '#storage/clickhouse/read_rows.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import { EVENTS, mergedPairs, mergedGroupOf, USERS } from '#modules/exceptions/store/exception_counter.ts';

export interface ReleaseTotals {
  readonly release: string;
  readonly events: number;
  readonly users: number;
  readonly groups: number;
  readonly firstSeenAt: Temporal.Instant;
  readonly lastSeenAt: Temporal.Instant;
}

export interface GroupInReleases {
  readonly groupId: Id<'group'>;
  readonly before: number;
  readonly after: number;
}

/** A group that is part of another one: their events are counted as of one. */
interface MergedGroup {
  readonly groupId: Id<'group'>;
  readonly intoId: Id<'group'>;
}

const OF_SERVICE = `service_id = {service:UUID} AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`;

/** Counts over the events of one service by their release; an event that was sent twice counts once. */
export class ReleaseReader extends ClickHouseStore {
  /** Lists releases, the last seen first. */
  async list(
    serviceId: Id<'service'>,
    since: Temporal.Instant,
    limit: number,
    merged: readonly MergedGroup[] = [],
  ): Promise<ReleaseTotals[]> {
    const pairs = mergedPairs(merged.map(({ groupId, intoId }) => [groupId, intoId]));
    const rows = await this.rows<string[]>(
      `SELECT release, ${EVENTS}, ${USERS}, uniqExact(${mergedGroupOf(pairs)}), toUnixTimestamp64Milli(min(at)),
         toUnixTimestamp64Milli(max(at)) AS last
       FROM exception_events PREWHERE ${OF_SERVICE} WHERE release != ''
       GROUP BY release ORDER BY last DESC, release LIMIT {limit:UInt32}`,
      { service: uuidOf(serviceId), since: since.epochMilliseconds, limit, ...parametersOf(pairs) },
    );
    return rows.map(([release = '', events, users, groups, first, last]) => ({
      release,
      events: Number(events),
      users: Number(users),
      groups: Number(groups),
      firstSeenAt: fromEpochMilliseconds(Number(first)),
      lastSeenAt: fromEpochMilliseconds(Number(last)),
    }));
  }

  /** Every group that has events of either release, those with most events of the later one first. */
  async compare(
    serviceId: Id<'service'>,
    since: Temporal.Instant,
    releases: { readonly before: string; readonly after: string },
    { limit, merged }: { readonly limit: number; readonly merged: readonly MergedGroup[] },
  ): Promise<{ readonly groups: readonly GroupInReleases[]; readonly groupsTotal: number }> {
    const pairs = mergedPairs(merged.map(({ groupId, intoId }) => [groupId, intoId]));
    const rows = await this.rows<string[]>(
      `SELECT ${mergedGroupOf(pairs)} AS taker, uniqExactIf(cityHash64(event_id), release = {before:String}) AS older,
         uniqExactIf(cityHash64(event_id), release = {after:String}) AS newer, count() OVER ()
       FROM exception_events PREWHERE ${OF_SERVICE} AND release IN ({before:String}, {after:String})
       GROUP BY taker ORDER BY newer DESC, older DESC, taker LIMIT {limit:UInt32}`,
      { service: uuidOf(serviceId), since: since.epochMilliseconds, ...releases, limit, ...parametersOf(pairs) },
    );
    const groups = rows.map(([group = '', before, after]) => ({
      groupId: idOfUuid('group', group),
      before: Number(before),
      after: Number(after),
    }));
    return { groups, groupsTotal: Number(rows[0]?.[3] ?? 0) };
  }
}

/** Returns the parameters of `mergedGroupOf`. */
function parametersOf({ ids, takers }: ReturnType<typeof mergedPairs>): Record<string, unknown> {
  return ids.length === 0 ? {} : { merged: ids, takers };
}
