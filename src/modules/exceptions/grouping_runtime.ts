import type { Cipher } from '#auth/cipher.ts';
import { type Reading, READING } from '#modules/exceptions/read_events.ts';
import type { NewOrRegressed } from '#modules/incidents/open_exception_incidents.ts';
import type { LatencyHistograms } from '#kernel/latency_histograms.ts';
import type { SourceMaps } from '#modules/releases/source_maps/source_maps.ts';
import type { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import type { UnitOfWork, UnitOfWorkRuntime } from '#modules/unit_of_work.ts';

export interface GroupingRuntime extends UnitOfWorkRuntime {
  /** Opens events that have waited. */
  readonly eventCipher: Pick<Cipher, 'open' | 'seal'>;
  /** Differs from the default only in tests. */
  readonly reading?: Partial<Reading>;
  /** Maps events to their source. */
  readonly sourceMaps: Pick<SourceMaps, 'prepare'>;
  readonly exceptionWriter: Pick<ExceptionWriter, 'insert' | 'deleteService'>;
  readonly latencies?: LatencyHistograms;
  /** Limit on the groups that a service may open per minute; Infinity for no limit. */
  readonly newGroupsPerMinute: number;
  /** Called in the transaction that made or reopened the groups; once for each group, even if a job runs twice. */
  readonly onNewOrRegressed: (unit: UnitOfWork, groups: readonly NewOrRegressed[]) => Promise<void>;
}

export function readingOf({ reading }: GroupingRuntime): Reading {
  return { ...READING, ...reading };
}
