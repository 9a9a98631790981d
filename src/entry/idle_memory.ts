import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_EVERY_MS = 10_000;
/** The share of the time since the last look in which the process was busy. Below it hardly anybody meets the 30 ms of a collection. */
const IDLE_MAX = 0.05;
/** Less garbage is left. */
const GARBAGE_BYTES_MIN = 24 * 1024 * 1024;

interface Process {
  /** Of the time since it was asked before. */
  busyShare(): number;
  /** Of objects, and of the buffers that they hold. */
  heapBytes(): number;
  collect(): void;
}

/**
 * Gives back the memory of a crowd that has left. V8 looks for garbage when so much has come again, and a process that has
 * little to do keeps what its last busy minute left.
 */
export class IdleMemory {
  readonly #process: Process;
  /** What was in use after the last collection, at most. */
  #liveBytes: number;

  constructor(process: Process) {
    this.#process = process;
    this.#liveBytes = process.heapBytes();
  }

  /** To be called from time to time. */
  look(): void {
    const busyShare = this.#process.busyShare();
    const heapBytes = this.#process.heapBytes();
    if (heapBytes - this.#liveBytes > GARBAGE_BYTES_MIN && busyShare < IDLE_MAX) {
      this.#process.collect();
      this.#liveBytes = this.#process.heapBytes();
    } else this.#liveBytes = Math.min(this.#liveBytes, heapBytes);
  }
}

/** Does so for as long as this process lives. */
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
