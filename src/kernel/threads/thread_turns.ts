import { nextTurn } from '#kernel/event_loop_turns.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';

/** Length of a turn; an item that takes longer is a turn of its own. */
const TURN_MS = 8;

/** Runs work on the thread that serves all, in turns of some milliseconds in which organizations follow each other. */
export class ThreadTurns {
  readonly #now: () => number;
  readonly #turns = new KeyedLimit({ concurrency: 1, concurrencyPerKey: 1 });

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Resolves to what `work` returns for each item. `inTurn` runs the items of one turn, such as within a time limit.
   * Throws what either throws.
   */
  async map<Item, Result>(
    orgId: string,
    items: readonly Item[],
    work: (item: Item, index: number) => Result,
    inTurn: (turn: () => void) => void = (turn) => turn(),
  ): Promise<Result[]> {
    const results: Result[] = [];
    const turn = (): void => {
      const until = this.#now() + TURN_MS;
      for (const item of items.slice(results.length)) {
        results.push(work(item, results.length));
        if (this.#now() > until) return;
      }
    };
    while (results.length < items.length) {
      await this.#turns.run(orgId, async () => {
        await nextTurn();
        inTurn(turn);
      });
    }
    return results;
  }
}
