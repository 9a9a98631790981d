import { ownMemoryOf } from '#kernel/free_bytes.ts';
import type { Id } from '#kernel/ids.ts';
import { OwnThread } from '#kernel/threads/own_thread.ts';
import type { OriginalPlace } from '#modules/releases/decide/source_maps/original_code.ts';
import type { StoredContent } from '#modules/releases/store/source_map_store.ts';

/** Line and column from 1, in the code that runs. */
export type CodePlace = readonly [line: number, column: number];

export interface MapQuestion {
  /** Names the map. */
  readonly key: string;
  /** The map as it is stored; null when the thread may have it already. */
  readonly stored: StoredContent | null;
  readonly places: readonly CodePlace[];
}

export type MapAnswer =
  /** Original places, in the order of the places asked about. */
  | { readonly kind: 'found'; readonly places: readonly (OriginalPlace | null)[] }
  /** The thread does not have this map: it is to be asked again, with the map. */
  | { readonly kind: 'unknown' }
  /** The map takes more time or memory than it may. */
  | { readonly kind: 'too_much' };

export interface MapThreadLimits {
  /** Time limit for reading a map, and again for looking places up in it. */
  readonly milliseconds: number;
  /** Approximate limit on the memory of cached maps. */
  readonly keptBytesMax: number;
  /** Memory limit of the thread as a whole, in MiB. */
  readonly memoryMb: number;
  /** Limit on the decompressed size of a stored map. */
  readonly storedBytesMax: number;
}

/** Factor for `unheardMs` of `OwnThread`: longer than all attempts of both steps on a busy machine. */
const UNHEARD_TIMES = 20;

/** Source maps in a thread of their own, because to read one may take seconds. */
export class MapThread {
  readonly #thread: OwnThread<MapQuestion, MapAnswer>;

  constructor(limits: MapThreadLimits) {
    this.#thread = new OwnThread({
      program: new URL('./map_thread_program.ts', import.meta.url),
      data: limits,
      memoryMb: limits.memoryMb,
      unheardMs: limits.milliseconds * UNHEARD_TIMES,
    });
  }

  /** The answer, and how long it took. Throws what reading a map throws that is not as it was stored. */
  async ask(orgId: Id<'org'>, question: MapQuestion): Promise<MapAnswer & { readonly tookMs: number }> {
    const asked = await this.#thread.ask(
      orgId,
      question,
      question.stored === null ? [] : ownMemoryOf(question.stored.content),
    );
    return asked.kind === 'answered' ? { ...asked.answer, tookMs: asked.tookMs } : asked;
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
  readonly until: number;
}

/** Keeps what was used last, up to a total weight, each for a time. */
export class WeightedCache<Value> {
  readonly #weightMax: number;
  /** Called with what makes room for others. */
  readonly #onRemoved: (value: Value) => void;
  readonly #entries = new Map<string, Entry<Value>>();
  #weight = 0;

  constructor(weightMax: number, onRemoved: (value: Value) => void = () => {}) {
    this.#weightMax = weightMax;
    this.#onRemoved = onRemoved;
  }

  /** Returns the cached value; undefined if there is none, or it has expired. */
  get(key: string, nowMs: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#remove(key, entry);
    if (entry.until <= nowMs) return undefined;
    this.#add(key, entry);
    return entry.value;
  }

  set(key: string, value: Value, { weight = 1, until }: { readonly weight?: number; readonly until: number }): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#remove(key, before);
    this.#add(key, { value, weight, until });
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#weightMax || this.#entries.size === 1) return;
      this.#remove(oldest, entry);
      this.#onRemoved(entry.value);
    }
  }

  /** Removes what was used longest ago until this weight fits, before what weighs so much is made. */
  makeRoom(weight: number): void {
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight + weight <= this.#weightMax) return;
      this.#remove(oldest, entry);
      this.#onRemoved(entry.value);
    }
  }

  #add(key: string, entry: Entry<Value>): void {
    this.#entries.set(key, entry);
    this.#weight += entry.weight;
  }

  #remove(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
