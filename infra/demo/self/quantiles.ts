import type { Sample } from './prometheus_text.ts';

/**
 * The quantile of what a histogram has counted since the scrape before, as a gauge: rules compare one number. Within a
 * bucket values are taken to lie evenly, as Prometheus does; nothing is said where nothing was counted.
 */
export class Quantiles {
  readonly #before = new Map<string, number>();

  /** `name` is that of the histogram, without its ending. All its labels but `le` are added up. */
  next(samples: readonly Sample[], name: string, share: number): number | null {
    const totals = new Map<number, number>();
    for (const { name: own, labels, value } of samples) {
      if (own !== `${name}_bucket`) continue;
      const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
      totals.set(bound, (totals.get(bound) ?? 0) + value);
    }
    const buckets = [...totals]
      .sort(([a], [b]) => a - b)
      .map(([bound, total]) => ({ bound, count: this.#since(name, bound, total) }));
    const wanted = (buckets.at(-1)?.count ?? 0) * share;
    if (wanted === 0) return null;
    let [lower, below] = [0, 0];
    for (const { bound, count } of buckets) {
      if (count >= wanted)
        return bound === Infinity ? lower : lower + ((bound - lower) * (wanted - below)) / (count - below);
      [lower, below] = [bound, count];
    }
    return null;
  }

  /** A process that was restarted counts from 0 again. */
  #since(name: string, bound: number, total: number): number {
    const key = `${name} ${bound}`;
    const before = this.#before.get(key) ?? 0;
    this.#before.set(key, total);
    return total >= before ? total - before : total;
  }
}
