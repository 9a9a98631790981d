import type { DecodedPoints } from '#ingest/admission/point_admission.ts';
import { countByReason } from '#ingest/admission/refusals.ts';
import type { ErrorCode } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Ingested, ItemRefusal, LimitReached } from '#modules/services/decide/ingest_refusal.ts';
import type { IngestRefusal } from '#modules/services/store/ingest_counts.ts';

type RefusedItems = { readonly kind: Ingested; readonly reason: ItemRefusal; readonly serviceId: Id<'service'> };

type Notices = { readonly kind: Ingested; readonly reason: LimitReached; readonly serviceId: Id<'service'> };

type RefusedRequests = { readonly kind: Ingested; readonly code: ErrorCode; readonly serviceId: Id<'service'> };

/**
 * Counts of what this process has accepted and refused since it started. A service appears once something it sent was
 * refused.
 */
export class IngestCounters {
  readonly accepted: Record<Ingested, number> = { points: 0, events: 0, alerts: 0 };
  readonly refusedItems = new LabeledCounts<RefusedItems>();
  readonly refusedRequests = new LabeledCounts<RefusedRequests>();
  /** Accepted items with a notice for the sender. */
  readonly notices = new LabeledCounts<Notices>();
  /** Metrics whose sender declared another type than before. */
  readonly typeChanges = new LabeledCounts<{ readonly serviceId: Id<'service'> }>();

  countPoints(
    serviceId: Id<'service'>,
    { points, rejected, beyondSeries, typeChanges, shared, overlapping }: DecodedPoints,
  ): void {
    this.accepted.points += points.length;
    this.typeChanges.add({ serviceId }, typeChanges.count);
    this.refusedItems.add({ kind: 'points', reason: 'too_many_series', serviceId }, beyondSeries);
    for (const [reason, count] of countByReason(rejected)) {
      this.refusedItems.add({ kind: 'points', reason, serviceId }, count);
    }
    this.notices.add({ kind: 'points', reason: 'overlapping_writers', serviceId }, overlapping.count);
    if (shared !== undefined) this.notices.add({ kind: 'points', reason: 'shared_series', serviceId }, shared.count);
  }

  /** Counts events that were refused while the request was accepted; a request that was refused counts as a request. */
  countEvents(
    serviceId: Id<'service'>,
    accepted: number,
    refused: { readonly faulty: number; readonly tooLarge: number },
  ): void {
    this.accepted.events += accepted;
    this.refusedItems.add({ kind: 'events', reason: 'faulty', serviceId }, refused.faulty);
    this.refusedItems.add({ kind: 'events', reason: 'too_large', serviceId }, refused.tooLarge);
  }

  /** Yields everything that was refused or is to be reported; the reason of a whole request is its error code. */
  *refusals(): Generator<Pick<IngestRefusal, 'serviceId' | 'kind' | 'reason' | 'count'>> {
    for (const { labels, count } of this.refusedItems.list()) yield { ...labels, count };
    for (const { labels, count } of this.notices.list()) yield { ...labels, count };
    for (const { labels, count } of this.refusedRequests.list()) {
      const { code: reason, ...others } = labels;
      yield { ...others, reason, count };
    }
  }
}

class LabeledCounts<Labels extends Readonly<Record<string, string>>> {
  readonly #counts = new Map<string, { readonly labels: Labels; count: number }>();

  add(labels: Labels, count = 1): void {
    if (count === 0) return;
    const key = Object.values(labels).join(' ');
    const earlier = this.#counts.get(key);
    if (earlier === undefined) this.#counts.set(key, { labels, count });
    else earlier.count += count;
  }

  list(): readonly { readonly labels: Labels; readonly count: number }[] {
    return [...this.#counts.values()];
  }
}
