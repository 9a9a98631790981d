import { createHash } from 'node:crypto';

import type { DecodedPoints, PointLimits } from '#ingest/admission/point_admission.ts';
import type { SentMetric } from '#ingest/protocols/sentry/trace_metrics.ts';
import { decodePoints } from '#ingest/protocols/statsd.ts';
import { AggregationBudget, LineAggregator, type ReadyPoint } from '#ingest/protocols/statsd/line_aggregator.ts';
import type { Id } from '#kernel/ids.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import { SENT_BY_DSN } from '#modules/metrics/store/metric_catalog.ts';

/** Values and times of all services that are remembered, to know what comes again; the oldest are forgotten first. */
const REMEMBERED_MAX = 200_000;
const REQUEST_MAX = { seriesMax: 5_000, bytesMax: 8 * 1024 * 1024 };

/** Time after which it is asked again whether a metric has come by the ingestion key: sooner while it has not. */
const ASKED_AGAIN_MS = { ofKey: 600_000, notOfKey: 60_000 };

interface Options {
  readonly clock: Clock;
  /** Returns those of the metrics that have come by the ingestion key of the service. */
  readonly findOfKey: (serviceId: Id<'service'>, metrics: readonly string[]) => Promise<readonly string[]>;
}

/** Returns the names under which a metric may be stored: a distribution is several. */
function storedNames(name: string): string[] {
  return ['', '_count', '_sum', '_min', '_max', '_bucket'].map((part) => `${name}${part}`);
}

const TYPES = { counter: 'c', gauge: 'g', distribution: 't' } as const;

/** Metrics of a request that are to be stored. */
interface MetricsToStore {
  readonly decode: (now: Temporal.Instant, limits: PointLimits) => Steps<DecodedPoints>;
  /** Records the metrics as sent; call it once they are stored. */
  readonly remember: () => void;
}

/**
 * Makes points of the metrics that Sentry's clients send: of the values of one request, counters are added up, the last of a
 * gauge counts, and distributions become histograms. A value that comes again is left out. Of one process, two requests of
 * one millisecond get different times, since a series has one point at a time.
 */
export class SentryMetrics {
  readonly #options: Options;
  /** Times until which a metric counts as one of the ingestion key, or as none, by service and name. */
  readonly #ofKey = new Map<string, { readonly isOfKey: boolean; readonly untilMs: number }>();
  readonly #seen = new Set<string>();
  /** The request that has a time, stored or not, by service and time. */
  readonly #times = new Map<string, string>();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Returns the names of those metrics that have come by the ingestion key: whoever reads the DSN in a page could
   * otherwise make a rule on them true or false.
   */
  async listOfKey(serviceId: Id<'service'>, sent: readonly SentMetric[]): Promise<ReadonlySet<string>> {
    const nowMs = this.#options.clock.now().epochMilliseconds;
    const names = [...new Set(sent.map(({ name }) => name))];
    const unknown = names.filter((name) => (this.#ofKey.get(`${serviceId} ${name}`)?.untilMs ?? 0) <= nowMs);
    if (unknown.length > 0) {
      const stored = new Set(await this.#options.findOfKey(serviceId, unknown.flatMap(storedNames)));
      if (this.#ofKey.size > REMEMBERED_MAX) this.#ofKey.clear();
      for (const name of unknown) {
        const isOfKey = storedNames(name).some((storedName) => stored.has(storedName));
        const untilMs = nowMs + (isOfKey ? ASKED_AGAIN_MS.ofKey : ASKED_AGAIN_MS.notOfKey);
        this.#ofKey.set(`${serviceId} ${name}`, { isOfKey, untilMs });
      }
    }
    return new Set(names.filter((name) => this.#ofKey.get(`${serviceId} ${name}`)?.isOfKey === true));
  }

  /** Prepares the metrics of a request; null if all of them were stored before. */
  prepare(serviceId: Id<'service'>, sent: readonly SentMetric[]): MetricsToStore | null {
    const bySign = new Map(sent.map((metric) => [`${serviceId} ${metric.sign}`, metric]));
    const fresh = [...bySign].filter(([sign]) => !this.#seen.has(sign));
    const metrics = fresh.map(([, metric]) => metric).sort((a, other) => a.at - other.at);
    if (metrics.length === 0) return null;
    const at = this.#timeOf(fresh.map(([sign]) => sign).join(' '), serviceId, metrics.at(-1)?.at ?? 0);
    return {
      decode: (now, limits) => decode(metrics, at, now, limits),
      remember: () => {
        for (const [sign] of fresh) this.#seen.add(sign);
        dropOldest(this.#seen);
      },
    };
  }

  /** Returns the first time from `wanted` on that no other request has; the same for a request that is sent again. */
  #timeOf(signs: string, serviceId: Id<'service'>, wanted: number): number {
    const request = createHash('sha256').update(signs).digest('base64url').slice(0, 16);
    let at = wanted;
    while ((this.#times.get(`${serviceId} ${at}`) ?? request) !== request) at += 1;
    this.#times.set(`${serviceId} ${at}`, request);
    dropOldest(this.#times);
    return at;
  }
}

function dropOldest(entries: Set<string> | Map<string, string>): void {
  for (const key of entries.keys()) {
    if (entries.size <= REMEMBERED_MAX) return;
    entries.delete(key);
  }
}

function* decode(
  metrics: readonly SentMetric[],
  at: number,
  now: Temporal.Instant,
  limits: PointLimits,
): Steps<DecodedPoints> {
  const lines = new LineAggregator(new AggregationBudget(REQUEST_MAX), 'set');
  const units = new Map(metrics.map(({ name, unit }) => [name, unit]));
  for (const { name, type, value, labels } of lastOfGauges(metrics)) {
    const line = {
      name,
      type: TYPES[type],
      tags: labelsOf(labels),
      values: [String(value)],
      isMilliseconds: false,
      rate: 1,
    };
    lines.add({ ...line, at: null, length: name.length });
  }
  const points: ReadyPoint[] = (yield* lines.flush(at)).map((point) => ({
    ...point,
    announced: { ...point.announced, unit: units.get(point.announced.family) ?? '' },
  }));
  return yield* decodePoints(points, now, limits);
}

/** Says how it came, whatever the client says. */
function labelsOf(labels: SentMetric['labels']): SentMetric['labels'] {
  const [sentBy] = SENT_BY_DSN;
  return [...labels.filter(([name]) => name !== sentBy), SENT_BY_DSN];
}

/** The newest value of each gauge, and every value of all else. */
function lastOfGauges(metrics: readonly SentMetric[]): SentMetric[] {
  const keyOf = ({ name, labels }: SentMetric): string => JSON.stringify([name, labels]);
  const last = new Map(metrics.filter(({ type }) => type === 'gauge').map((metric) => [keyOf(metric), metric]));
  return [...metrics.filter(({ type }) => type !== 'gauge'), ...last.values()];
}
