import { type Id, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type ClickHouseClient, guardClickHouse } from '#storage/clickhouse/clickhouse.ts';

/** Reads of metric points. The caller has checked that the service is the organization's. */
export class MetricReader {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** Distinct names that hold points since the day of `since`, sorted. */
  async listNames(serviceId: Id<'service'>, since: Temporal.Instant): Promise<string[]> {
    const rows = await guardClickHouse(async () => {
      const result = await this.#client.query({
        query: `SELECT DISTINCT metric FROM metric_names
          WHERE service_id = {service:UUID} AND day >= toDate({since:DateTime64(3)}) ORDER BY metric`,
        query_params: { service: uuidOf(serviceId), since: since.epochMilliseconds / 1000 },
        format: 'JSONEachRow',
      });
      return await result.json<{ metric: string }>();
    });
    return rows.map(({ metric }) => metric);
  }
}
