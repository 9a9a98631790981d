import os from 'node:os';

/**
 * Flags of V8. With `ample`, short-lived objects are gone before the young generation is collected, and the old
 * generation, which holds little but the program itself, is collected when it has grown fourfold. With V8's defaults that
 * happens once a second under load, and delays answers.
 */
export const MEMORY = {
  frugal: ['--max-semi-space-size=1'],
  ample: ['--max-semi-space-size=16', '--heap-growing-percent=300'],
} as const;

/** How much garbage may accumulate before it is collected. */
export type Memory = keyof typeof MEMORY;

/** Freed memory is shared between threads instead of being kept by each; only glibc knows this. */
export const FRUGAL_ALLOCATION = { MALLOC_ARENA_MAX: '2' };

/** Threads that collect garbage. The program waits for them, and with more threads than processors they wait for each other. */
const GC_THREADS = Math.min(4, Math.max(1, os.availableParallelism() - 1));

/** What a Node program is started with; the memory of Node's own defaults where none is given. */
export function v8Flags(memory: Memory | undefined): string[] {
  return [...(memory === undefined ? [] : MEMORY[memory]), `--v8-pool-size=${GC_THREADS}`];
}
