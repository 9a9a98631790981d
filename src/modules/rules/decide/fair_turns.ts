import type { Id } from '#kernel/ids.ts';
import type { ColumnCondition } from '#modules/exceptions/decide/search_query.ts';
import type { ExceptionRuleSettings } from '#modules/rules/decide/kind_settings.ts';
import { eventConditionsOf } from '#modules/rules/decide/replay_exceptions.ts';

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
  const first = items.filter((item) => !waitsForLong(item));
  return [...first, ...fromTurn(waiting, turn)].slice(0, most);
}

function fromTurn<Item>(items: readonly Item[], turn: number): Item[] {
  const from = Math.floor(turn * items.length);
  return [...items.slice(from), ...items.slice(0, from)];
}

/**
 * Pairs of window and conditions of one service that one run counts: each is a query of its own. Of more, others come in
 * the next run.
 */
const COUNTS_OF_SERVICE_MAX = 20;

/** A window of time, and the conditions on the events that are counted in it. */
export interface Counted {
  readonly minutes: number;
  readonly conditions: readonly ColumnCondition[];
}

interface Counting {
  readonly rule: { readonly serviceId: Id<'service'> };
  readonly settings: ExceptionRuleSettings;
}

/**
 * Groups rules by what they count, so that one query counts for all services with such rules. Of each service it takes
 * no more than `COUNTS_OF_SERVICE_MAX`, from another place each time; the first of each service comes before the second
 * of any, so that one with many rules delays no other. All begin at another place each time: a run ends early where
 * several counts fail, and these are not always the first.
 */
export function countsInTurns<Rule extends Counting>(
  rules: readonly Rule[],
  turn: number,
): (Counted & { readonly rules: readonly Rule[] })[] {
  const places = new Map<string, number>();
  const chosen: Rule[] = [];
  const byService = [...Map.groupBy(rules, ({ rule }) => rule.serviceId).values()];
  for (const ofService of fromTurn(byService, turn)) {
    const counts = [...Map.groupBy(ofService, countedBy)];
    const inTurn = fromTurn(counts, turn).slice(0, COUNTS_OF_SERVICE_MAX);
    for (const [place, [counted, alike]] of inTurn.entries()) {
      places.set(counted, Math.min(place, places.get(counted) ?? Infinity));
      chosen.push(...alike);
    }
  }
  return [...Map.groupBy(chosen, countedBy)]
    .toSorted(([a], [b]) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
    .flatMap(([, alike]) => {
      const [first] = alike;
      if (first === undefined) return [];
      return [{ minutes: first.settings.rateMinutes, conditions: eventConditionsOf(first.settings), rules: alike }];
    });
}

function countedBy({ settings }: Counting): string {
  return JSON.stringify([settings.rateMinutes, eventConditionsOf(settings)]);
}
