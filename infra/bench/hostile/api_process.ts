import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** Work of the API between two questions; times in milliseconds. */
export interface Measured {
  /** The longest time for which the event loop did nothing else. */
  readonly stallMs: number;
  /** Longest work of the processor in one stall, which depends less than elapsed time on the machine's load. */
  readonly workedMs: number;
  /** The longest collection of garbage. */
  readonly garbageMs: number;
  /** The most memory that the process held. */
  readonly residentBytes: number;
}

/** Each sample wakes the process. */
const LOOK_EVERY_MS = 2;
const MEMORY_EVERY_MS = 50;

const delays = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
delays.enable();
let workedMs = 0;
let garbageMs = 0;
let residentBytes = 0;

let last = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(last);
  last = process.threadCpuUsage();
  workedMs = Math.max(workedMs, (user + system) / 1_000);
}, LOOK_EVERY_MS).unref();
const weigh = (): void => void (residentBytes = Math.max(residentBytes, process.memoryUsage.rss()));
setInterval(weigh, MEMORY_EVERY_MS).unref();
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) garbageMs = Math.max(garbageMs, duration);
}).observe({ entryTypes: ['gc'] });

/** Answers each question with what was measured since the one before. */
process.on('message', () => {
  weigh();
  const measured: Measured = { stallMs: delays.max / 1e6, workedMs, garbageMs, residentBytes };
  process.send?.({ measured });
  delays.reset();
  workedMs = 0;
  garbageMs = 0;
  residentBytes = 0;
});

await import('#entry/api.ts');
