import os from 'node:os';

/** By how many percent the old generation may grow before it is collected. */
const AMPLE_GROWTH = 300;

/**
 * Flags of V8. With `ample`, short-lived objects are gone before the young generation is collected, and the old
 * generation, which holds little but the program itself, is collected when it has grown fourfold. With V8's defaults that
 * happens once a second under load, and delays answers.
 */
export const MEMORY = {
  frugal: ['--max-semi-space-size=1'],
  ample: ['--max-semi-space-size=16', `--heap-growing-percent=${AMPLE_GROWTH}`],
} as const;

/** The same while the process runs. */
export const HEAP_GROWTH = {
  /** As this process was started; 0 leaves it to V8. */
  usual: () => (process.execArgv.includes(`--heap-growing-percent=${AMPLE_GROWTH}`) ? AMPLE_GROWTH : 0),
  withNewSeries: 30,
};

/** How much garbage may accumulate before it is collected. */
export type Memory = keyof typeof MEMORY;

/**
 * Only glibc knows this. Freed memory is shared between threads instead of being kept by each, and more than a
 * megabyte is memory of its own that the system has back when it is freed. With glibc's default, which learns from
 * what is freed, most of it stays; with a threshold of 128 kB, pages that come anew take 0.12 s of processor for each
 * million points.
 */
export const FRUGAL_ALLOCATION = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(16 * 1024 * 1024),
};

/** Threads that collect garbage. The program waits for them, and with more threads than processors they wait for each other. */
const GC_THREADS = Math.min(4, Math.max(1, os.availableParallelism() - 1));

/** What a Node program is started with; the memory of Node's own defaults where none is given. */
export function v8Flags(memory: Memory | undefined): string[] {
  return [...(memory === undefined ? [] : MEMORY[memory]), `--v8-pool-size=${GC_THREADS}`];
}
