import type { Rejected } from '#ingest/admission/refusals.ts';
import type { ItemRefusal } from '#storage/postgres/entities/services.ts';

/**
 * Messages about new series, which are counted as they are refused (`DecodedPoints.beyondSeries`,
 * `DecodedPoints.deferred`).
 */
const NEW_SERIES = /^a new series\b/;

/** Patterns of refusal messages, by the reason under which they are counted. */
const REASONS: readonly (readonly [reason: ItemRefusal, message: RegExp])[] = [
  ['time_ahead', /^a time more than .* ahead$/],
  ['time_too_old', /^a time older than /],
  ['not_finite', /\binfinit[ey]\b|\bnot finite\b|\bfinite number\b/],
  ['text_too_long', /^a (?:label|metric name) .*more than \d+ bytes$/],
  ['too_many_labels', /^more than \d+ labels$|^more different labels than /],
  ['bad_histogram', /histogram|buckets|summary/],
  ['too_many_points', /^beyond the \d+ points /],
];

/** Counts refused points by their reason. Those that are refused for being new series are counted elsewhere. */
export function countByReason(rejected: Rejected): Map<ItemRefusal, number> {
  const counts = new Map<ItemRefusal, number>();
  for (const { message, count } of rejected.reasons) {
    if (NEW_SERIES.test(message)) continue;
    const reason = refusalReasonOf(message);
    counts.set(reason, (counts.get(reason) ?? 0) + count);
  }
  return counts;
}

/** The reason under which refusals with this message are counted and shown. */
export function refusalReasonOf(message: string): ItemRefusal {
  return REASONS.find(([, pattern]) => pattern.test(message))?.[0] ?? 'faulty';
}
