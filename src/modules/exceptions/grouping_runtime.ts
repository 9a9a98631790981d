import type { Cipher } from '#auth/cipher.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';
import { READING, type Reading } from '#modules/exceptions/read_events.ts';
import type { NewOrRegressed } from '#modules/incidents/open_exception_incidents.ts';
import type { LatencyHistograms } from '#kernel/latency_histograms.ts';
import type { SourceMaps } from '#modules/releases/source_maps/source_maps.ts';
import type { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import type { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import { type IngestRefusal, refusalHour } from '#modules/services/store/ingest_counts.ts';
import type { Stores, UnitOfWork, UnitOfWorkRuntime } from '#modules/stores.ts';

export interface GroupingRuntime extends UnitOfWorkRuntime {
  /** Opens events that have waited. */
  readonly eventCipher: Pick<Cipher, 'open' | 'seal'>;
  /** Differs from the default only in tests. */
  readonly reading?: Partial<Reading>;
  /** Maps events to their source. */
  readonly sourceMaps: Pick<SourceMaps, 'prepare'>;
  readonly exceptionWriter: Pick<ExceptionWriter, 'insert' | 'deleteService'>;
  readonly exceptions: Pick<ExceptionReader, 'listStored'>;
  readonly log: Log;
  readonly latencies?: LatencyHistograms;
  /** Limit on the groups that a service may open per minute; Infinity for no limit. */
  readonly newGroupsPerMinute: number;
  /** Called in the transaction that made or reopened the groups; once for each group, even if a job runs twice. */
  readonly onNewOrRegressed: (unit: UnitOfWork, groups: readonly NewOrRegressed[]) => Promise<void>;
}

export function readingOf({ reading }: GroupingRuntime): Reading {
  return { ...READING, ...reading };
}

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
