import type { FastifyReply, FastifyRequest } from 'fastify';

import type { BadKeyLimiter } from '#auth/sign_in_limiter.ts';
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
  readonly telemetry: TelemetryRecorder;
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

/**
 * CORS headers of ingestion: browsers send from any page. It uses no cookie, only a key, so the page may read every
 * answer, including errors.
 */
export const INGEST_CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-sentry-error, x-sentry-rate-limits, retry-after',
  'cross-origin-resource-policy': 'cross-origin',
};

/** Headers allowed to browsers that do not say which ones they will send, as old browsers do not. */
const DEFAULT_HEADERS =
  'x-sentry-auth, x-requested-with, origin, accept, content-type, authentication, authorization, x-api-key, content-encoding, transfer-encoding, sentry-trace, baggage, traceparent';

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, \t-]{1,4096}$/;

/**
 * Allows every header that the page is about to send: applications add their own to the transport of their client, and
 * a browser sends nothing at all if one of them is refused. `*` is not enough, because it excludes `Authorization`.
 */
export async function answerPreflight(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const asked = request.headers['access-control-request-headers'];
  const isSound = asked !== undefined && HEADER_NAMES.test(asked);
  return reply
    .headers({
      ...INGEST_CORS,
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': isSound ? asked : DEFAULT_HEADERS,
      'access-control-max-age': '86400',
      vary: 'access-control-request-headers',
    })
    .code(204)
    .send();
}
