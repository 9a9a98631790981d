interface Turns {
  /** Limit on the items that are chosen. */
  readonly most: number;
  /** Place from which on the items that wait for long are chosen, from 0 to below 1; another one each time. */
  readonly turn: number;
}

/**
 * Chooses items of which there may be too many: those first that have not waited yet, then others of those that wait for
 * long, from another place each time, so that none of them waits for ever.
 */
export function inFairTurns<Item>(
  items: readonly Item[],
  waitsForLong: (item: Item) => boolean,
  { most, turn }: Turns,
): readonly Item[] {
  if (items.length <= most) return items;
  const waiting = items.filter(waitsForLong);
  const from = Math.floor(turn * waiting.length);
  const first = items.filter((item) => !waitsForLong(item));
  return [...first, ...waiting.slice(from), ...waiting.slice(0, from)].slice(0, most);
}
