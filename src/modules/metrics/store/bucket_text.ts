import { RANGE_LABEL } from '#modules/metrics/decide/exponential_buckets.ts';

/** SQL: the bound and the range of a bucket of a histogram, with a blank between them. `labels` is an expression for a map. */
export function bucketTextOf(labels: (name: string) => string): string {
  return `concat(${labels("'le'")}, ' ', ${labels(`'${RANGE_LABEL}'`)})`;
}

export function readBucketText(text: string): { readonly le: string; readonly range: string } {
  const blank = text.indexOf(' ');
  return { le: text.slice(0, blank), range: text.slice(blank + 1) };
}
