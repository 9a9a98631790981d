import { garbageCollector } from '#kernel/free_bytes.ts';

const LOOK_EVERY_MS = 5_000;
/**
 * Share of the time since the last check in which the process was busy; above it nothing is collected. Below it hardly
 * anybody is delayed by a collection, which takes 130 ms in the API, 60 in the pager.
 */
const IDLE_MAX = 0.05;
/** Garbage below which no collection is started. */
const GARBAGE_BYTES_MIN = 24 * 1024 * 1024;

interface Process {
  /**
   * Returns the processor time since the last call as a share of the time that has passed: others on the machine do not
   * change it.
   */
  busyShare(): number;
  /** Returns the bytes of objects and of the buffers they hold. */
  heapBytes(): number;
  /** Collects all that it can, and gives back the pages of the young generation, too. */
  collect(): void;
}

/**
 * Frees the memory of a start, and of a load that is over. V8 collects garbage only when as much has been allocated again,
 * so an idle process keeps what its last busy minute left.
 */
export class IdleMemory {
  readonly #process: Process;
  /** Upper bound of the bytes in use after the last collection. What a start leaves is collected as soon as possible. */
  #liveBytes = -Infinity;

  constructor(process: Process) {
    this.#process = process;
  }

  /** Collects garbage if the process is idle and has enough of it. Call it from time to time. */
  look(): void {
    const busyShare = this.#process.busyShare();
    const heapBytes = this.#process.heapBytes();
    if (heapBytes - this.#liveBytes > GARBAGE_BYTES_MIN && busyShare < IDLE_MAX) {
      this.#process.collect();
      this.#liveBytes = this.#process.heapBytes();
    } else if (this.#liveBytes > heapBytes) this.#liveBytes = heapBytes;
  }
}

/** Checks periodically for as long as this process lives. */
export function releaseMemoryWhenIdle(): void {
  const memory = new IdleMemory(thisProcess());
  setInterval(() => memory.look(), LOOK_EVERY_MS).unref();
}

export function thisProcess(): Process {
  let [used, atMs] = [process.cpuUsage(), performance.now()];
  return {
    busyShare() {
      const { user, system } = process.cpuUsage(used);
      const share = (user + system) / 1_000 / (performance.now() - atMs);
      [used, atMs] = [process.cpuUsage(), performance.now()];
      return share;
    },
    heapBytes() {
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    },
    collect: garbageCollector(),
  };
}
