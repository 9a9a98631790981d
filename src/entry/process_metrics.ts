import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

import { readTimeZoneRules } from '#entry/time_zone_rules.ts';

import type { LimitLog } from '#kernel/limit_log.ts';
import { LIMIT_SETTINGS, type LimitName } from '#kernel/limit_settings.ts';

/** The lag of the event loop is sampled this often: each sample wakes the process. */
const LAG_PRECISION_MS = 200;

/** What watches garbage collection and the event loop can never be stopped: a process has it once. */
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

/** A registry with what every process tells about itself under the names that every process has: processor, memory, event loop. */
export function openProcessRegistry(): Registry {
  processMetrics ??= watchProcess();
  return Registry.merge([processMetrics]);
}

/** Who met which limit, of which process. */
export function limitCounter(limitLog: LimitLog): Counter {
  return new Counter({
    name: 'tocsin_limits_met_total',
    help: 'How often a limit was reached by those who use this process; the log names who met it.',
    labelNames: ['limit'],
    registers: [],
    collect() {
      this.reset();
      for (const [name, { variable: limit }] of Object.entries(LIMIT_SETTINGS)) {
        this.inc({ limit }, limitLog.counts.get(name as LimitName) ?? 0);
      }
    },
  });
}
