import { collectDefaultMetrics, Registry } from 'prom-client';

/** The lag of the event loop is sampled this often: each sample wakes the process. */
const LAG_PRECISION_MS = 200;

/** What watches garbage collection and the event loop can never be stopped: a process has it once. */
let processMetrics: Registry | null = null;

function watchProcess(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  return registry;
}

/** A registry with what every process tells about itself under the names that every process has: processor, memory, event loop. */
export function openProcessRegistry(): Registry {
  processMetrics ??= watchProcess();
  return Registry.merge([processMetrics]);
}
