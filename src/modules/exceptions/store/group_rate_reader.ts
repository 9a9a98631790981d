import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { EVENTS } from '#modules/exceptions/store/exception_counter.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';

/** Groups of one window that are looked at more closely: those with most events. */
const GROUPS_MAX = 5_000;

/** Reads which groups have had events lately. */
export class GroupRateReader {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** The groups of these services that had an event since then, those with most first. */
  async listActive(serviceIds: readonly Id<'service'>[], since: Temporal.Instant): Promise<Id<'group'>[]> {
    return await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: `SELECT group_id FROM exception_events
          PREWHERE service_id IN {services:Array(UUID)} AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
          GROUP BY service_id, group_id ORDER BY ${EVENTS} DESC, group_id LIMIT {limit:UInt32}`,
        query_params: { services: serviceIds.map(uuidOf), since: since.epochMilliseconds, limit: GROUPS_MAX },
        use_multipart_params_auto: true,
        format: 'JSONCompactEachRow',
      });
      return (await result.json<[group: string]>()).map(([uuid]) => idOfUuid('group', uuid));
    });
  }
}
