const POOL_BYTES = 8 * 1024;

/**
 * Node cuts small buffers out of pieces of 64 kB. V8 takes such a piece for old before its time, and frees it only once
 * it looks through the whole heap: it did so every nine seconds with a thousand requests a second, and each time
 * whoever waited for an answer waited a tenth of a second longer. Pieces of 8 kB, as Node cut them for its first eleven
 * years, go with the young; larger buffers have memory of their own. For long-lived processes, before they do anything
 * else.
 */
export function cutBuffersFromSmallPieces(): void {
  Buffer.poolSize = POOL_BYTES;
}
