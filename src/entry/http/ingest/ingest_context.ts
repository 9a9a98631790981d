import type { BadKeyLimiter } from '#auth/bad_key_limiter.ts';
import type { IngestAccess } from '#auth/ingest_access.ts';
import type { Intake } from '#ingest/intake.ts';
import type { ItemLimiters } from '#ingest/item_limits.ts';
import type { RateLimiter } from '#ingest/rate_limiter.ts';
import type { RefusedBytes } from '#ingest/refused_bytes.ts';
import type { SeriesQuota } from '#ingest/series/series_quota.ts';
import type { ServiceTypes } from '#ingest/series/service_types.ts';
import type { ServiceStarts } from '#ingest/series/series_starts.ts';
import type { CheckInIntake } from '#ingest/check_in_intake.ts';
import type { SentryMetrics } from '#ingest/sentry_metrics.ts';
import type { TelemetryRecorder } from '#ingest/telemetry_recorder.ts';
import type { ExemplarRecorder } from '#ingest/exemplar_recorder.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import type { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { ReachedLimits } from '#kernel/reached_limits.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';

/** Context shared by the ingestion routes. */
export interface IngestContext {
  readonly access: IngestAccess;
  readonly badKeys: BadKeyLimiter;
  readonly intake: Intake;
  /** Limits how many bodies are decompressed at once: a small one may need all the memory that its protocol allows. */
  readonly unpacking: KeyedLimit;
  /** Limits the bytes decompressed of bodies that are then refused. */
  readonly refusedBytes: RefusedBytes;
  readonly pointRates: RateLimiter;
  /** Rate limits for each kind of item that Sentry's clients send. */
  readonly itemLimits: ItemLimiters;
  readonly series: SeriesQuota;
  readonly sentryMetrics: SentryMetrics;
  /** Start times of counters, as senders reported them. */
  readonly starts: ServiceStarts;
  /** Types of metrics, as senders reported them. */
  readonly types: ServiceTypes;
  readonly counters: IngestCounters;
  /** Single observations with their traces. */
  readonly exemplars: ExemplarRecorder;
  /** Items other than points and events. */
  readonly beside: TelemetryRecorder;
  /** Runs of scheduled jobs. */
  readonly checkIns: CheckInIntake;
  readonly clock: Clock;
  readonly log: Log;
  readonly reachedLimits: ReachedLimits;
  /** Paths that take envelopes whose address does not identify their service. */
  readonly tunnelPaths: readonly string[];
  /** Possible prefixes of `/api`: empty, or the path of the base URL, for proxies that keep it. */
  readonly prefixes: readonly string[];
}

/** Returns the path under every prefix, without and with a trailing slash. */
export function routesFor(path: string, { prefixes }: IngestContext): string[] {
  return prefixes.flatMap((prefix) => [`${prefix}${path}`, `${prefix}${path}/`]);
}
