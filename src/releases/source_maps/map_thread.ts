import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import type { OriginalPlace } from '#core/source_maps/original_code.ts';
import type { Id } from '#kernel/ids.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';

/** Line and column from 1, in the code that runs. */
export type CodePlace = readonly [line: number, column: number];

export interface MapQuestion {
  /** Names the map. */
  readonly key: string;
  /** The map as it is stored; null when the thread may have it already. */
  readonly content: Uint8Array | null;
  readonly places: readonly CodePlace[];
}

export type MapAnswer =
  /** In the order of the places. */
  | { readonly kind: 'found'; readonly places: readonly (OriginalPlace | null)[] }
  /** The thread does not have this map: it is to be asked again, with the map. */
  | { readonly kind: 'unknown' }
  /** The map takes more time or memory than it may. */
  | { readonly kind: 'too_much' };

export interface MapThreadLimits {
  /** To read a map, and again to look places up in it. */
  readonly milliseconds: number;
  /** About how much of the memory the maps take that are kept. */
  readonly keptBytesMax: number;
  /** Of everything in the thread, in MiB. */
  readonly memoryMb: number;
  /** What a stored map may decompress to. */
  readonly storedBytesMax: number;
}

/** Without a question for so long, the thread ends and its memory is free. */
const IDLE_MS = 60_000;
/** The thread itself stops after its time. One that is not heard of for this many times as long is ended. */
const UNHEARD_TIMES = 5;

/**
 * Source maps in a thread of their own, because to read one may take seconds, in which this process would answer nobody.
 * The thread is started with the first question.
 */
export class MapThread {
  readonly #limits: MapThreadLimits;
  /**
   * One after the other: what ends the thread is then known, and memory is what one map takes. Organizations take turns,
   * so that the maps of one do not hold up the others for longer than one of them takes.
   */
  readonly #turns = new KeyedLimit({ concurrency: 1, concurrencyPerKey: 1 });
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | null = null;

  constructor(limits: MapThreadLimits) {
    this.#limits = limits;
  }

  /** Throws what reading a map throws that is not as it was stored. */
  async ask(orgId: Id<'org'>, question: MapQuestion): Promise<MapAnswer> {
    return await this.#turns.run(orgId, async () => {
      if (this.#idle !== null) clearTimeout(this.#idle);
      try {
        return await this.#askNow(question);
      } finally {
        this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
      }
    });
  }

  /** Ends the thread; the next question starts another. */
  async close(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  async #askNow(question: MapQuestion): Promise<MapAnswer> {
    const worker = (this.#worker ??= this.#start());
    const unheard = new AbortController();
    const stop = (): void => unheard.abort();
    const timer = setTimeout(stop, this.#limits.milliseconds * UNHEARD_TIMES);
    worker.once('exit', stop);
    try {
      const answered = once(worker, 'message', { signal: unheard.signal });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(question);
      const answer: MapAnswer = (await answered)[0];
      return answer;
    } catch (error) {
      const isTooMuch = unheard.signal.aborted || isOutOfMemory(error);
      await this.close();
      if (!isTooMuch) throw error;
      return { kind: 'too_much' };
    } finally {
      clearTimeout(timer);
      worker.off('exit', stop);
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL('./map_thread_program.ts', import.meta.url), {
      workerData: this.#limits,
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb },
      execArgv: [],
    });
    worker.unref();
    const forget = (): void => {
      if (this.#worker === worker) this.#worker = null;
    };
    // A question that waits hears of it too.
    worker.on('error', forget);
    worker.once('exit', forget);
    return worker;
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
