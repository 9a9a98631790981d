import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import { type ClickHouseClient, guardClickHouse } from '#storage/clickhouse/clickhouse.ts';

/** Reads of exception events. The caller has checked that the groups are the organization's. */
export class ExceptionReader {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** Events that each group holds, an event sent twice counted once; a group without events is absent. */
  async countEvents(serviceId: Id<'service'>, groupIds: readonly Id<'group'>[]): Promise<Map<string, number>> {
    if (groupIds.length === 0) return new Map();
    const rows = await guardClickHouse(async () => {
      const result = await this.#client.query({
        query: `SELECT group_id, uniqExact(event_id) AS events FROM exception_events
          WHERE service_id = {service:UUID} AND group_id IN {groups:Array(UUID)} GROUP BY group_id`,
        query_params: { service: uuidOf(serviceId), groups: groupIds.map(uuidOf) },
        format: 'JSONEachRow',
      });
      return await result.json<{ group_id: string; events: string }>();
    });
    return new Map(rows.map((row) => [idOfUuid('group', row.group_id), Number(row.events)]));
  }
}
