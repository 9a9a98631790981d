import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type IngestRefusal, refusalHour } from '#modules/services/store/ingest_refusal_store.ts';
import type { Stores } from '#modules/stores.ts';

interface Refused {
  readonly serviceId: Id<'service'>;
  readonly count: number;
}

/** The ingest status of each service shows how many of its events were refused, and why. */
export async function recordRefused(
  { ingestRefusals }: Pick<Stores, 'ingestRefusals'>,
  reason: Extract<IngestRefusal['reason'], 'faulty' | 'too_many_new_groups'>,
  refused: readonly Refused[],
  now: Temporal.Instant,
): Promise<void> {
  if (refused.length === 0) return;
  const hour = refusalHour(now);
  const counts = Map.groupBy(refused, ({ serviceId }) => serviceId);
  await ingestRefusals.add(
    [...counts].map(([serviceId, refusals]) => {
      const count = refusals.reduce((sum, refusal) => sum + refusal.count, 0);
      return { serviceId, kind: 'events', reason, hour, count, lastAt: now };
    }),
  );
}
