import { loadConfig, runningConfig } from '#entry/config.ts';
import { type Id, newId, uuidOf } from '#kernel/ids.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';

import type { BenchInstallation } from '#infra/bench/harness.ts';
import { openRunningDatabase } from '#infra/bench/paging/fixture.ts';

export const INCIDENTS = 10_000;
export const SERVICES = 500;

/** Services and incidents, written to the database. Returns the id of a service. */
export async function fill({ dataDir, organizationId }: BenchInstallation): Promise<Id<'service'>> {
  const db = await openRunningDatabase(dataDir);
  const serviceIds = Array.from({ length: SERVICES }, () => newId('service'));
  try {
    await db.sql.run(
      `insert into services (id, org_id, name, created_at, updated_at)
       select id, $1, 'service ' || n, now(), now() from unnest($2::text[]) with ordinality _(id, n)`,
      [organizationId, serviceIds],
    );
    await db.sql.run(
      `insert into incidents (id, org_id, service_id, kind, dedup_key, title, severity, details, steps, status,
         triggered_at, resolved_at, resolved_by, counted_at, created_at, updated_at)
       select 'incident_' || lpad(n::text, 26, '0'), $1, ($3::text[])[n % $4::int + 1],
         'metric_threshold', n::text, 'p95 latency of checkout is above 800 ms', 'critical',
         '{"metricName":"latency","comparator":">","threshold":800,"value":912.5,"windowMinutes":5,"aggregation":"avg"}', '[]',
         case when n % 10 = 0 then 'triggered' else 'resolved' end, at, case when n % 10 = 0 then null else at end,
         case when n % 10 = 0 then null else '{"system":true,"via":"rule"}'::json end, at, at, at
       from generate_series(1, $2::int) n, lateral (select now() - make_interval(mins => n)) t(at)`,
      [organizationId, INCIDENTS, serviceIds, SERVICES],
    );
    await db.sql.run('analyze');
  } finally {
    await db.close();
  }
  return serviceIds[0] ?? newId('service');
}

/** One metric of a million points, and one for each widget. */
export const MILLION = { name: 'requests_in_flight', series: 100, days: 7, stepSeconds: 60 } as const;
export const WIDGETS = 40;
const OF_A_WIDGET = { series: 10, hours: 3, stepSeconds: 15 } as const;

export const widgetMetric = (index: number): string => `queue_depth_${index}`;

/** Points of the service until now, made up by the store. */
export async function fillMetrics({ dataDir }: BenchInstallation, serviceId: Id<'service'>): Promise<void> {
  const { clickhouseUrl } = await runningConfig(loadConfig({ DATA_DIR: dataDir }));
  if (clickhouseUrl === undefined) throw new Error(`no metric store runs on ${dataDir}`);
  const client = openClickHouse({ clickhouseUrl });
  const insert = async (metric: string, series: number, seconds: number, stepSeconds: number): Promise<void> => {
    const query_params = {
      service: uuidOf(serviceId),
      metric,
      series,
      steps: seconds / stepSeconds,
      step: stepSeconds,
    };
    await client.command({
      query: `INSERT INTO metric_points (service_id, metric, series, ts, value, kind)
        SELECT {service:UUID}, {metric:String}, cityHash64({metric:String}, place),
          toDateTime64(now() - toIntervalSecond(step * {step:UInt32}), 3, 'UTC'),
          100 + 50 * sin(step / 40) + cityHash64(place, step) % 20, 'gauge'
        FROM (SELECT intDiv(number, {steps:UInt32}) AS place, number % {steps:UInt32} AS step
          FROM numbers({series:UInt32} * {steps:UInt32}))
        SETTINGS max_partitions_per_insert_block = 0, max_insert_threads = 1`,
      query_params,
    });
    await client.command({
      query: `INSERT INTO metric_series (service_id, metric, series, last_at, tags)
        SELECT {service:UUID}, {metric:String}, cityHash64({metric:String}, number), now64(3),
          map('host', concat('host-', toString(number)))
        FROM numbers({series:UInt32})`,
      query_params,
    });
  };
  try {
    await insert(MILLION.name, MILLION.series, MILLION.days * 86_400, MILLION.stepSeconds);
    for (let index = 0; index < WIDGETS; index += 1) {
      await insert(widgetMetric(index), OF_A_WIDGET.series, OF_A_WIDGET.hours * 3_600, OF_A_WIDGET.stepSeconds);
    }
  } finally {
    await client.close();
  }
}
