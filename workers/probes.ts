import type { Foundation } from '#entry/foundation.ts';
import { limitCounter, openProcessPort, openProcessRegistry } from '#entry/process_port.ts';
import { checkClickHouse, checkPostgres, checkQueue } from '#entry/store_checks.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';

/** The stores that a role needs; a pager needs no ClickHouse. */
export type ProbedStores = Pick<
  Foundation,
  'config' | 'clock' | 'log' | 'db' | 'queue' | 'latencies' | 'reachedLimits'
> & { readonly clickhouse?: ClickHouseClient };

/** Health endpoints of a background process for an orchestrator, if METRICS_PORT is set. */
export interface Probes {
  /** Makes the process report that it is not ready, because it stops. */
  drain(): void;
  close(): Promise<void>;
}

export async function openProbes({
  config,
  clock,
  log,
  db,
  queue,
  latencies,
  reachedLimits,
  clickhouse,
}: ProbedStores): Promise<Probes> {
  let isDraining = false;
  const registry = openProcessRegistry();
  registry.registerMetric(limitCounter(reachedLimits));
  const readiness = async () => {
    const checks = {
      PostgreSQL: await checkPostgres(db, clock),
      'the queue': await checkQueue(queue, clock),
      ...(clickhouse && { ClickHouse: await checkClickHouse(clickhouse, clock) }),
    };
    const because = [
      ...(isDraining ? ['this process is stopping'] : []),
      ...Object.entries(checks).flatMap(([name, { error }]) => (error === undefined ? [] : [`${name}: ${error}`])),
    ];
    return because.length === 0 ? { ready: true } : { ready: false, because };
  };
  const metrics = async () => ({
    contentType: registry.contentType,
    text: `${await registry.metrics()}\n${latencies.text()}`,
  });
  const address = { host: config.metricsHost, port: config.metricsPort };
  const listener = await openProcessPort(address, { readiness, metrics }, log);
  return {
    drain: () => {
      isDraining = true;
    },
    close: () => listener.close(),
  };
}
