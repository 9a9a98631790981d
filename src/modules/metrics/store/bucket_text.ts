import { RANGE_LABEL } from '#modules/metrics/decide/exponential_buckets.ts';

/** SQL: labels without those of a bucket. */
export function withoutBounds(labels: string): string {
  return `mapFilter((name, value) -> name != 'le' AND name != '${RANGE_LABEL}', ${labels})`;
}

/** SQL: labels without those of a bucket, as one number: what the buckets of one histogram of one sender share. */
export function senderOf(labels: string): string {
  return `cityHash64(toString(${withoutBounds(labels)}))`;
}

/** Limit on layouts told apart; with more, all senders count as having one. */
const LAYOUTS_MAX = 32;

/**
 * SQL: the series of a metric with their labels as `tags`, and as `layout` a text for the bounds that the sender of a
 * classic bucket has. It is empty where all have the same.
 */
export const SERIES_WITH_LAYOUTS = `(
  SELECT series, tags,
    repeat(toString(bounds), le != '' AND uniqExactIf(bounds, le != '') OVER () BETWEEN 2 AND ${LAYOUTS_MAX}) AS layout
  FROM (
    SELECT series, tags, le, cityHash64(toString(arraySort(groupUniqArray(le) OVER (PARTITION BY sender, le = '')))) AS bounds
    FROM (
      SELECT series, any(tags) AS tags, tags['le'] AS le, ${senderOf('tags')} AS sender FROM metric_series AS seen
      WHERE service_id = {service:UUID} AND metric = {metric:String} GROUP BY series)))`;

/**
 * SQL: what sets a bucket of a histogram apart beside its bound or range (`apart`), its bound and its range, with blanks
 * between them. `labels` is an expression for a label.
 */
export function bucketTextOf(apart: string, labels: (name: string) => string): string {
  // No texts behind commas, which the embedded engine refuses where a subquery reads a table.
  return `(${apart} || ' ' || ${labels("'le'")} || ' ' || ${labels(`'${RANGE_LABEL}'`)})`;
}

export const BUCKET_OF_LAYOUT = bucketTextOf('any(layout)', (name) => `any(tags[${name}])`);

export function readBucketText(text: string): { readonly apart: string; readonly le: string; readonly range: string } {
  const first = text.indexOf(' ');
  const second = text.indexOf(' ', first + 1);
  return { apart: text.slice(0, first), le: text.slice(first + 1, second), range: text.slice(second + 1) };
}
