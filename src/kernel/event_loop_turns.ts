/** Queue of the turns, first come, first served, across all requests of this process. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop that no other long work has. So however many large bodies are read and packed at
 * once, waiting requests are not delayed by their number. Up to some milliseconds of work belong in a turn.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

/** Collects items that each take some microseconds to make; gives up its turn after every `aTurn` items. */
export async function collectInTurns<Item>(items: Iterable<Item>, aTurn: number): Promise<Item[]> {
  const collected: Item[] = [];
  for (const item of items) {
    collected.push(item);
    if (collected.length % aTurn === 0) await nextTurn();
  }
  return collected;
}

/** Gives a turn to the next work, which runs right after this, before the next callback. */
function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}
