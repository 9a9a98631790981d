import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type ClickHouseClient, guardClickHouse } from '#storage/clickhouse/clickhouse.ts';

/** What a rule asks of the points: one number over its window. */
export interface RuleQuestion {
  readonly ruleId: Id<'rule'>;
  readonly serviceId: Id<'service'>;
  readonly metricName: string;
  readonly windowMinutes: number;
  readonly aggregation: 'avg' | 'sum' | 'min' | 'max' | 'last' | 'count';
}

/** Reads for the evaluation of rules: many rules in a few grouped queries. */
export class RuleReader {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** The value of each rule over its window that ends at `now`; a rule without data is absent. */
  async evaluate(questions: readonly RuleQuestion[], now: Temporal.Instant): Promise<Map<Id<'rule'>, number>> {
    const values = new Map<Id<'rule'>, number>();
    for (const [windowMinutes, group] of Map.groupBy(questions, (question) => question.windowMinutes)) {
      const rows = await this.#aggregate(group, windowMinutes, now);
      const byMetric = new Map(rows.map((row) => [`${idOfUuid('service', row.service_id)} ${row.metric}`, row]));
      for (const question of group) {
        const row = byMetric.get(`${question.serviceId} ${question.metricName}`);
        if (row !== undefined) values.set(question.ruleId, Number(row[question.aggregation]));
      }
    }
    return values;
  }

  async #aggregate(questions: readonly RuleQuestion[], windowMinutes: number, now: Temporal.Instant): Promise<Row[]> {
    return await guardClickHouse(async () => {
      const result = await this.#client.query({
        query: `SELECT service_id, metric, avg(value) AS avg, sum(value) AS sum, min(value) AS min, max(value) AS max,
            argMax(value, ts) AS last, count() AS count
          FROM metric_points
          WHERE service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)} AND kind != 'stale'
            AND ts > fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ts <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
          GROUP BY service_id, metric`,
        query_params: {
          services: [...new Set(questions.map(({ serviceId }) => uuidOf(serviceId)))],
          metrics: [...new Set(questions.map(({ metricName }) => metricName))],
          from: now.subtract({ minutes: windowMinutes }).epochMilliseconds,
          to: now.epochMilliseconds,
        },
        format: 'JSONEachRow',
      });
      return await result.json<Row>();
    });
  }
}

type Row = { service_id: string; metric: string } & Record<RuleQuestion['aggregation'], number | string>;
