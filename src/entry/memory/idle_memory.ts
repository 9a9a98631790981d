import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_EVERY_MS = 10_000;
/**
 * Share of the time since the last check in which the process was busy; above it nothing is collected. Below it hardly
 * anybody is delayed by the 30 ms of a collection.
 */
const IDLE_MAX = 0.05;
/** Garbage below which no collection is started. */
const GARBAGE_BYTES_MIN = 24 * 1024 * 1024;

interface Process {
  /** Returns the share of the time since the last call in which the process was busy. */
  busyShare(): number;
  /** Returns the bytes of objects and of the buffers they hold. */
  heapBytes(): number;
  collect(): void;
}

/**
 * Frees the memory of a load that is over. V8 collects garbage only when as much has been allocated again, so an idle
 * process keeps what its last busy minute left.
 */
export class IdleMemory {
  readonly #process: Process;
  /** Upper bound of the bytes in use after the last collection. */
  #liveBytes: number;

  constructor(process: Process) {
    this.#process = process;
    this.#liveBytes = process.heapBytes();
  }

  /** Collects garbage if the process is idle and has enough of it. Call it from time to time. */
  look(): void {
    const busyShare = this.#process.busyShare();
    const heapBytes = this.#process.heapBytes();
    if (heapBytes - this.#liveBytes > GARBAGE_BYTES_MIN && busyShare < IDLE_MAX) {
      this.#process.collect();
      this.#liveBytes = this.#process.heapBytes();
    } else this.#liveBytes = Math.min(this.#liveBytes, heapBytes);
  }
}

/** Checks periodically for as long as this process lives. */
export function releaseMemoryWhenIdle(): void {
  const memory = new IdleMemory(thisProcess());
  setInterval(() => memory.look(), LOOK_EVERY_MS).unref();
}

export function thisProcess(): Process {
  let before = performance.eventLoopUtilization();
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('this program of Node has no gc()');
  return {
    busyShare() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
    heapBytes() {
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    },
    collect: () => void collect(),
  };
}
