import { nextTurn } from '#kernel/cooperative_task.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';

/** Length of a turn; an item that takes longer is a turn of its own. */
const TURN_MS = 8;

/** Runs the items of a turn, such as within a time limit. */
type InTurn = (turn: () => void) => void;

const WITHOUT_LIMIT: InTurn = (turn) => turn();

/** Items of a call to `map` that have not all had their turn. */
interface Waiting {
  readonly inTurn: InTurn;
  /** Runs the next item; true if it was the last. */
  runNext(): boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/** Runs work on the thread that serves all, in turns of some milliseconds in which organizations follow each other. */
export class FairTurns {
  readonly #now: () => number;
  readonly #turns = new KeyedLimit({ concurrency: 1, concurrencyPerKey: 1 });
  /** Calls of each organization. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Resolves to what `work` returns for each item. `inTurn` runs the items of one turn, and those of other calls of the
   * organization that wait with the same `inTurn`: a time limit costs 50 to 120 µs each time. Throws what either throws;
   * other calls do not.
   */
  async map<Item, Result>(
    orgId: string,
    items: readonly Item[],
    work: (item: Item, index: number) => Result,
    inTurn: InTurn = WITHOUT_LIMIT,
  ): Promise<Result[]> {
    if (items.length === 0) return [];
    const results: Result[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<Result[]>();
    const runNext = (): boolean => {
      // It may have been stopped between its last item and its answer.
      if (results.length < items.length) results.push(work(items[results.length] as Item, results.length));
      return results.length === items.length;
    };
    this.#add(orgId, { inTurn, runNext, resolve: () => resolve(results), reject });
    return await promise;
  }

  #add(orgId: string, added: Waiting): void {
    const waiting = this.#waiting.get(orgId);
    if (waiting !== undefined) {
      waiting.push(added);
      return;
    }
    const first = [added];
    this.#waiting.set(orgId, first);
    void this.#runQueue(orgId, first);
  }

  async #runQueue(orgId: string, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      await this.#turns.run(orgId, async () => {
        await nextTurn();
        this.#runTurn(waiting);
      });
    }
    this.#waiting.delete(orgId);
  }

  #runTurn(waiting: Waiting[]): void {
    const inTurn = waiting[0]?.inTurn ?? WITHOUT_LIMIT;
    let ended = 0;
    let fault: { readonly error: unknown } | null = null;
    try {
      // It may be stopped anywhere, and run again: all it does besides the work is to count.
      inTurn(() => {
        const until = this.#now() + TURN_MS;
        for (let next = waiting[ended]; next?.inTurn === inTurn; next = waiting[ended]) {
          if (next.runNext()) ended += 1;
          if (this.#now() > until) return;
        }
      });
    } catch (error) {
      fault = { error };
    }
    for (const { resolve } of waiting.splice(0, ended)) resolve();
    if (fault !== null) waiting.shift()?.reject(fault.error);
  }
}
