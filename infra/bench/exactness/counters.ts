import { seeded } from '#infra/bench/seeded.ts';

/** A counter as it was scraped, and what it counted between the first scrape and the last. */
export interface Counter {
  readonly name: string;
  readonly about: string;
  readonly samples: readonly { readonly at: number; readonly value: number }[];
  /** What scrapes can show of it: what was counted between the last scrape and a restart is lost to everybody. */
  readonly counted: number;
}

export const SCRAPE_MS = 15_000;

interface Shape {
  readonly name: string;
  readonly about: string;
  readonly grows: (scrape: number, random: () => number) => number;
  /** It begins again at 0 before this scrape. */
  readonly restartsAt?: readonly number[];
  readonly isMissed?: (scrape: number) => boolean;
}

const SHAPES: readonly Shape[] = [
  { name: 'steady', about: '3 a scrape', grows: () => 3 },
  {
    name: 'bursts',
    about: 'one scrape of twenty has up to 5,000',
    grows: (_, random) => (random() < 0.05 ? random() * 5_000 : 0),
  },
  { name: 'seldom', about: '7 in all', grows: (scrape) => (scrape % 25 === 9 ? 1 : 0) },
  { name: 'restarts', about: 'three restarts', grows: (_, random) => random() * 9, restartsAt: [40, 41, 130] },
  { name: 'gaps', about: 'missed scrapes: 2, 4 and 12', grows: (_, random) => random() * 9, isMissed: inGap },
  { name: 'seconds', about: 'fractions, a restart', grows: (_, random) => random() * 2 ** -9, restartsAt: [77] },
];

function inGap(scrape: number): boolean {
  return [
    [20, 2],
    [60, 4],
    [120, 12],
  ].some(([from = 0, many = 0]) => scrape >= from && scrape < from + many);
}

/** Scraped so many times from `firstMs` on; the same in each run but for the times. */
export function counters(seed: number, firstMs: number, scrapes: number): readonly Counter[] {
  return SHAPES.map(({ name, about, grows, restartsAt = [], isMissed = () => false }, place) => {
    const random = seeded(seed + place);
    const samples: { at: number; value: number }[] = [];
    let [value, counted] = [1_000 * place, 0];
    let unseen = 0;
    for (let scrape = 0; scrape < scrapes; scrape += 1) {
      if (restartsAt.includes(scrape)) [value, unseen] = [0, 0];
      const grown = name === 'seconds' ? grows(scrape, random) : Math.floor(grows(scrape, random));
      value += grown;
      unseen += grown;
      if (isMissed(scrape)) continue;
      if (samples.length > 0) counted += unseen;
      samples.push({ at: firstMs + scrape * SCRAPE_MS, value });
      unseen = 0;
    }
    return { name, about, samples, counted };
  });
}
