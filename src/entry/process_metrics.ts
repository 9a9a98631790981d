import { collectDefaultMetrics, Registry } from 'prom-client';

/** The lag of the event loop is sampled this often: each sample wakes the process. */
const LAG_PRECISION_MS = 200;

/** What every process tells about itself under the names that every process has: processor, memory, event loop. */
export function openProcessRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  return registry;
}
