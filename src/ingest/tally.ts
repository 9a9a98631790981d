import type { DecodedPoints } from '#core/metrics/admission.ts';
import type { ErrorCode } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Ingested, ItemRefusal } from '#storage/postgres/entities/services.ts';
import type { IngestRefusal } from '#storage/postgres/ingest_refusal_store.ts';

type RefusedItems = {
  readonly kind: Ingested;
  readonly reason: ItemRefusal;
  readonly serviceId: Id<'service'>;
};

type RefusedRequests = {
  readonly kind: Ingested;
  readonly code: ErrorCode;
  readonly serviceId: Id<'service'>;
};

/** What this process has taken and refused since it started. Services appear once something of theirs is refused. */
export class IngestTally {
  readonly taken: Record<Ingested, number> = { points: 0, events: 0 };
  readonly refusedItems = new Counts<RefusedItems>();
  readonly refusedRequests = new Counts<RefusedRequests>();

  tookPoints(serviceId: Id<'service'>, { points, rejected, beyondSeries }: DecodedPoints): void {
    this.taken.points += points.length;
    this.refusedItems.add({ kind: 'points', reason: 'too_many_series', serviceId }, beyondSeries);
    this.refusedItems.add({ kind: 'points', reason: 'faulty', serviceId }, rejected.count - beyondSeries);
  }

  /** An event that is refused beside others that are taken is counted here; one that came alone, as its request. */
  tookEvents(
    serviceId: Id<'service'>,
    taken: number,
    refused: { readonly faulty: number; readonly tooLarge: number },
  ): void {
    this.taken.events += taken;
    this.refusedItems.add({ kind: 'events', reason: 'faulty', serviceId }, refused.faulty);
    this.refusedItems.add({ kind: 'events', reason: 'too_large', serviceId }, refused.tooLarge);
  }

  /** All that was refused: of a whole request, its error code is the reason. */
  *refusals(): Generator<Pick<IngestRefusal, 'serviceId' | 'kind' | 'reason' | 'count'>> {
    for (const { labels, count } of this.refusedItems.list()) yield { ...labels, count };
    for (const { labels, count } of this.refusedRequests.list()) {
      const { code: reason, ...others } = labels;
      yield { ...others, reason, count };
    }
  }
}

class Counts<Labels extends Readonly<Record<string, string>>> {
  readonly #counts = new Map<string, { readonly labels: Labels; count: number }>();

  add(labels: Labels, count = 1): void {
    if (count === 0) return;
    const key = Object.values(labels).join(' ');
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { labels, count });
    else known.count += count;
  }

  list(): readonly { readonly labels: Labels; readonly count: number }[] {
    return [...this.#counts.values()];
  }
}
