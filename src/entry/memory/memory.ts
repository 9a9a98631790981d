import os from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Percentage by which the old generation may grow before it is collected. */
const AMPLE_GROWTH = 300;

/**
 * Flags of V8. With `ample`, short-lived objects die before the young generation is collected, and the old generation,
 * which holds little but the program itself, is collected when it has grown fourfold. With V8's defaults that happens
 * once a second under load, and delays answers.
 */
export const MEMORY = {
  frugal: ['--max-semi-space-size=1'],
  ample: ['--max-semi-space-size=16', `--heap-growing-percent=${AMPLE_GROWTH}`],
} as const;

/** Percentages by which the old generation may grow, set while the process runs. */
export const HEAP_GROWTH = {
  /** Returns the percentage this process was started with; 0 leaves it to V8. */
  usual: () => (process.execArgv.includes(`--heap-growing-percent=${AMPLE_GROWTH}`) ? AMPLE_GROWTH : 0),
  withNewSeries: 30,
};

/** Amount of garbage that may accumulate before it is collected. */
export type Memory = keyof typeof MEMORY;

/**
 * Allocation settings of glibc; other C libraries ignore them. Freed memory is shared between threads instead of being
 * kept by each, and blocks above 256 kB are returned to the system when freed: a worker that reads large maps has 40 MB less
 * than with a megabyte. With glibc's default, which learns
 * from what is freed, most of it stays; with a threshold of 128 kB, newly mapped pages take 0.12 s of processor time
 * for each million points.
 */
export const FRUGAL_ALLOCATION = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(256 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(4 * 1024 * 1024),
};

/** Threads that collect garbage. The program waits for them; more threads than processors wait for each other. */
const GC_THREADS = Math.min(4, Math.max(1, os.availableParallelism() - 1));

/** Returns the V8 flags to start a Node program with; without `memory`, the memory settings are Node's defaults. */
export function v8Flags(memory: Memory | undefined): string[] {
  return [...(memory === undefined ? [] : MEMORY[memory]), `--v8-pool-size=${GC_THREADS}`];
}

/** Makes the heap of this process grow slowly: half the memory of a large work, for a tenth more of its processor time. */
export function growHeapSlowly(): void {
  for (const flag of ['--heap-growing-percent=20', '--semi-space-growth-factor=1']) setFlagsFromString(flag);
}

const POOL_BYTES = 8 * 1024;

/**
 * Makes the pools of small buffers smaller. Node 24 allocates such buffers from pools of 64 kB. V8 moves these pools to
 * the old generation too early and frees them only in a full garbage collection, which pauses the process for 15 to 100
 * ms. At 1,000 small requests a second there were 6 of them in 25 s; with pools of 8 kB there are 2. Long-lived
 * processes call this before anything else.
 */
export function useSmallBufferPool(): void {
  Buffer.poolSize = POOL_BYTES;
}
