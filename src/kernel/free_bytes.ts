import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives the memory of large bytes back at once, and not when V8 next looks for garbage: until then a busy process would
 * hold all that passed through it meanwhile. To be called by whoever looked at them last: they are empty afterwards, in
 * every view of them. Nothing may still be writing them to a socket or a file, so only once that has succeeded.
 *
 * Small bytes are left alone: Node cuts them from a pool that others share, and never more than half of it.
 */
export function freeBytes({ buffer, byteLength }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && byteLength * 2 > buffer.byteLength) buffer.transfer(0);
}

/** Returns the memory of bytes that share it with no others, in order to move it to a thread instead of a copy; else nothing. */
export function ownMemoryOf({ buffer, byteLength }: ArrayBufferView): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && byteLength === buffer.byteLength ? [buffer] : [];
}

/** Returns a function that collects all garbage of this thread, and gives back the pages of the young generation, too. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // Compiled code that is kept on disk fits only programs with the same flags.
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') throw new Error('this program of Node has no gc()');
  return () => void collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Garbage that a thread may hold between two questions, and a large piece of work between two of its steps. */
const GARBAGE_BYTES_MAX = 8 * 1024 * 1024;

/** The heap of this thread. */
interface Heap {
  /** Returns the bytes of objects and of the buffers they hold. */
  heapBytes(): number;
  collect(): void;
}

/**
 * Garbage of a thread of its own, collected where it is done with much of what it holds: V8 would wait until the heap has
 * grown fourfold, as the flags of the process say, or by hundreds of megabytes outside of it.
 */
export class ThreadGarbage {
  readonly #heap: Heap;
  #liveBytes = 0;

  constructor(heap: Heap = { heapBytes, collect: garbageCollector() }) {
    this.#heap = heap;
  }

  /** Collects if enough was allocated since the last time. Takes some milliseconds then. */
  look(): void {
    if (this.#heap.heapBytes() - this.#liveBytes < GARBAGE_BYTES_MAX) return;
    this.#heap.collect();
    this.#liveBytes = this.#heap.heapBytes();
  }
}

function heapBytes(): number {
  const { used_heap_size: objects, external_memory: buffers } = getHeapStatistics();
  return objects + buffers;
}
