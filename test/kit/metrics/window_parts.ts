import { type Aggregation, COUNTER_LOOKBACK_MS, COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import type { WindowPart } from '#modules/metrics/decide/sliding_windows.ts';
import { growthOf, inOrder, type Sample } from '#test/kit/metrics/aggregate_model.ts';

const MINUTE_MS = 60_000;

const slotOf = (at: number): number => Math.ceil(at / MINUTE_MS);

/** A plain implementation of `rule_history_query.ts`: one part for each sample. */
export function windowPartsOf(
  series: readonly (readonly Sample[])[],
  aggregation: Aggregation,
  windowMinutes: number,
  { first, last }: { readonly first: number; readonly last: number },
): WindowPart[] {
  const within = ({ at }: { readonly at: number }) => slotOf(at) > first - windowMinutes && slotOf(at) <= last;
  return series
    .flatMap((samples) => partsOf(inOrder(samples), aggregation, windowMinutes))
    .filter((part) => within({ at: part.at }))
    .map(({ at: _at, ...part }) => part)
    .sort((a, b) => a.from - b.from);
}

function partsOf(
  samples: readonly Sample[],
  aggregation: Aggregation,
  windowMinutes: number,
): (WindowPart & { readonly at: number })[] {
  const part = (at: number, count: number, value: number, until = slotOf(at) + windowMinutes) => {
    return { at, from: slotOf(at), until, count, value };
  };
  if (aggregation === 'last') {
    const ownSamples = samples.filter(({ kind }) => kind !== 'start');
    const newest = ownSamples.filter(({ at }, i) => slotOf(ownSamples[i + 1]?.at ?? Infinity) !== slotOf(at));
    return newest.flatMap(({ at, kind, value }, i) => {
      const next = newest[i + 1];
      const until = Math.min(slotOf(at) + windowMinutes, next === undefined ? Infinity : slotOf(next.at));
      return kind === 'stale' ? [] : [part(at, 1, value, until)];
    });
  }
  const real = samples.filter(({ kind }) => kind !== 'stale' && kind !== 'start');
  if (aggregation !== 'sum') return real.map(({ at, value }) => part(at, 1, value));
  const counting = samples.filter(({ kind }) => kind === 'counter' || kind === 'start');
  const untils = new Map(
    counting.map(({ at }, i) => {
      const previous = counting[i - 1];
      const reach = previous?.kind === 'counter' ? COUNTER_REACH_MS : COUNTER_LOOKBACK_MS;
      return [at, Math.min(at, (previous?.at ?? at) + reach)];
    }),
  );
  return [
    ...real.map(({ at, kind, value }) => part(at, 1, kind === 'counter' ? 0 : value)),
    ...growthOf(counting).map(({ at, by }) => part(at, 0, by, slotOf(untils.get(at) ?? at) + windowMinutes)),
  ];
}
