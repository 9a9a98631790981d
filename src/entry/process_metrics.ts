import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

import { readTimeZoneRules } from '#entry/time_zone_rules.ts';

import type { ReachedLimits } from '#kernel/reached_limits.ts';
import { LIMIT_SETTINGS, type LimitName } from '#kernel/limit_settings.ts';

/** Sampling interval of the lag of the event loop: each sample wakes the process. */
const LAG_PRECISION_MS = 200;

/** Metrics of the process. Garbage collection and event loop cannot be unwatched, so a process has one registry. */
let processMetrics: Registry | null = null;

function watchProcess(): Registry {
  const registry = new Registry();
  const { used, machine } = readTimeZoneRules();
  new Gauge({
    name: 'tocsin_time_zone_rules_info',
    help: 'Release of the time zone database by which hand-overs are computed, and that of the machine.',
    labelNames: ['used', 'machine'],
    registers: [registry],
  }).set({ used, machine: machine ?? '' }, 1);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  return registry;
}

/** Opens a registry with the metrics that every process has under the same names: processor, memory, event loop. */
export function openProcessRegistry(): Registry {
  processMetrics ??= watchProcess();
  return Registry.merge([processMetrics]);
}

/** Counter of the limits that callers of this process have reached. */
export function limitCounter(reachedLimits: ReachedLimits): Counter {
  return new Counter({
    name: 'tocsin_limits_met_total',
    help: 'How often a limit was reached by those who use this process; the log names who met it.',
    labelNames: ['limit'],
    registers: [],
    collect() {
      this.reset();
      for (const [name, { variable: limit }] of Object.entries(LIMIT_SETTINGS)) {
        this.inc({ limit }, reachedLimits.counts.get(name as LimitName) ?? 0);
      }
    },
  });
}
