import type { BucketGrowth } from '#modules/metrics/decide/quantile.ts';

/** Bucket of one sender, with what it gained in a window. */
export interface SenderBucket extends Omit<BucketGrowth, 'layout'> {
  /** Text that the buckets of one histogram of one sender share. */
  readonly sender: string;
  /** Number of its samples in the window. */
  readonly samples: number;
  /** Time of the newest of them, in epoch milliseconds. */
  readonly newestMs: number;
}

/** Buckets of one sender of which some were not in all of its samples by more than this have changed meanwhile. */
const UNEQUAL_SAMPLES = 1;

/** Adds up the buckets of senders that have the same bounds; those with other bounds stay apart. */
export function addUpByLayout(buckets: readonly SenderBucket[]): BucketGrowth[] {
  const sums = new Map<string, BucketGrowth>();
  const add = ({ le, range, growth }: Omit<BucketGrowth, 'layout'>, layout: string): void => {
    const key = `${layout} ${le} ${range}`;
    sums.set(key, { le, range, layout, growth: growth + (sums.get(key)?.growth ?? 0) });
  };
  const classic: SenderBucket[] = [];
  for (const bucket of buckets)
    if (bucket.le === '') add(bucket, '');
    else classic.push(bucket);
  for (const ofSender of Map.groupBy(classic, ({ sender }) => sender).values()) {
    for (const ofLayout of layoutsOf(ofSender)) {
      const layout = ofLayout
        .map(({ le }) => le)
        .sort()
        .join(' ');
      for (const bucket of ofLayout) add(bucket, layout);
    }
  }
  return [...sums.values()];
}

/**
 * The layouts that one sender had in the window. Where its bounds have changed, those that stayed say of all its
 * observations how many lie below; where only `+Inf` has stayed, what was counted with the old bounds and with the new
 * ones is known each by itself, and what is above both counts as above the higher ones.
 */
function layoutsOf(buckets: readonly SenderBucket[]): readonly (readonly SenderBucket[])[] {
  const most = Math.max(...buckets.map(({ samples }) => samples));
  const lasting = buckets.filter(({ samples }) => most - samples <= UNEQUAL_SAMPLES);
  if (lasting.length === buckets.length || lasting.some(({ le }) => isFinite(Number(le)))) return [lasting];
  const changing = buckets.filter((bucket) => !lasting.includes(bucket));
  const newest = Math.max(...changing.map(({ newestMs }) => newestMs));
  const eras = [...Map.groupBy(changing, ({ newestMs }) => newestMs === newest).values()];
  const highest = eras.toSorted((a, b) => topOf(b).bound - topOf(a).bound)[0];
  const counted = eras.reduce((sum, era) => sum + topOf(era).growth, 0);
  return eras.map((era) => {
    const above =
      era === highest
        ? lasting.map((b) => ({ ...b, growth: Math.max(topOf(era).growth, b.growth - counted + topOf(era).growth) }))
        : [];
    return [...era, ...above];
  });
}

function topOf(buckets: readonly SenderBucket[]): { readonly bound: number; readonly growth: number } {
  return buckets.reduce((top, { le, growth }) => (Number(le) > top.bound ? { bound: Number(le), growth } : top), {
    bound: -Infinity,
    growth: 0,
  });
}
