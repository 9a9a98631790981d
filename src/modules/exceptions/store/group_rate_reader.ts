import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { EVENTS } from '#modules/exceptions/store/exception_counter.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';

/** Groups of one window that are looked at more closely, shared by the services that are asked for at once. */
const GROUPS_MAX = 5_000;
/** Groups of each service at least, however many services there are: one with many leaves no other without. */
const GROUPS_OF_SERVICE_MIN = 250;

/** Reads which groups have had events lately. */
export class GroupRateReader {
  readonly #client: ClickHouseClient;
  readonly #groupsMax: number;
  readonly #ofServiceMin: number;

  constructor(
    client: ClickHouseClient,
    limits: { readonly groups: number; readonly ofService: number } = {
      groups: GROUPS_MAX,
      ofService: GROUPS_OF_SERVICE_MIN,
    },
  ) {
    this.#client = client;
    this.#groupsMax = limits.groups;
    this.#ofServiceMin = limits.ofService;
  }

  /** The groups of these services that had an event since then, of each service those with most events. */
  async listActive(serviceIds: readonly Id<'service'>[], since: Temporal.Instant): Promise<Id<'group'>[]> {
    const limit = Math.max(this.#ofServiceMin, Math.floor(this.#groupsMax / serviceIds.length));
    return await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: `SELECT group_id FROM exception_events
          PREWHERE service_id IN {services:Array(UUID)} AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
          GROUP BY service_id, group_id ORDER BY ${EVENTS} DESC, group_id LIMIT {limit:UInt32} BY service_id`,
        query_params: { services: serviceIds.map(uuidOf), since: since.epochMilliseconds, limit },
        use_multipart_params_auto: true,
        format: 'JSONCompactEachRow',
      });
      return (await result.json<[group: string]>()).map(([uuid]) => idOfUuid('group', uuid));
    });
  }
}
