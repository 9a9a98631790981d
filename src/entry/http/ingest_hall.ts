import type { BadKeyBrake } from '#auth/bad_key_brake.ts';
import type { IngestAccess } from '#auth/ingest_access.ts';
import type { Intake } from '#ingest/intake.ts';
import type { RateLimiter } from '#ingest/rate_limiter.ts';
import type { SeriesGuard } from '#ingest/series_guard.ts';
import type { IngestTally } from '#ingest/tally.ts';
import type { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';

/** What the doors of ingestion share. */
export interface IngestHall {
  readonly access: IngestAccess;
  readonly brake: BadKeyBrake;
  readonly intake: Intake;
  /** Limits how many bodies are unpacked at the same time, since a small one may take all the memory that its protocol allows. */
  readonly unpacking: KeyedLimit;
  readonly pointRates: RateLimiter;
  readonly eventRates: RateLimiter;
  readonly series: SeriesGuard;
  readonly tally: IngestTally;
  readonly clock: Clock;
  readonly log: Log;
  /** What may stand before `/api`: nothing, and the path of the base URL, for proxies that keep it. */
  readonly prefixes: readonly string[];
}

/** The path under every prefix, without and with a slash at its end. */
export function everyAddressOf(path: string, { prefixes }: IngestHall): string[] {
  return prefixes.flatMap((prefix) => [`${prefix}${path}`, `${prefix}${path}/`]);
}
