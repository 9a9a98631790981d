/** Size to allocate: V8 starts a collection when 64 MB have been allocated since the last one. */
const BYTES = 128 * 1024 * 1024;

/**
 * Makes V8 begin to collect the old generation, concurrently and in steps of a few milliseconds, as it does by itself
 * when much memory outside of its heap is allocated at once. `gc()` does all of it in one stop: 50 to 90 ms for 100 MB,
 * where the longest stop is 20 ms here. The memory is only reserved, and given back before anything is written to it;
 * where so much cannot be reserved, V8 collects when it would have.
 */
export function collectInSteps(): void {
  try {
    new ArrayBuffer(BYTES).transfer(0);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}
