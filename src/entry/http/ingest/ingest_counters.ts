import { Counter, type Registry } from 'prom-client';

import type { IngestCounters } from '#ingest/ingest_counters.ts';

/** Registers the counters of ingestion with Prometheus; services are labelled by their id. */
export function registerIngestCounters(registry: Registry, counters: IngestCounters): void {
  const register = (name: string, help: string, labelNames: readonly string[], read: () => Iterable<Reading>): void => {
    const counter = new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        this.reset();
        for (const { labels, count } of read()) this.inc(labels, count);
      },
    });
    registry.registerMetric(counter);
  };
  register('tocsin_ingest_taken_total', 'Points and events taken.', ['kind'], () =>
    Object.entries(counters.accepted).map(([kind, count]) => ({ labels: { kind }, count })),
  );
  register(
    'tocsin_ingest_refused_total',
    'Points and events refused of requests of which the rest was taken, or which held nothing else.',
    ['kind', 'reason', 'service'],
    () => counters.refusedItems.list().map(toReading),
  );
  register(
    'tocsin_ingest_refused_requests_total',
    'Requests of known services that were refused as a whole.',
    ['kind', 'code', 'service'],
    () => counters.refusedRequests.list().map(toReading),
  );
  register(
    'tocsin_ingest_type_changes_total',
    'Metrics of which a sender said another type than was said before.',
    ['service'],
    () => counters.typeChanges.list().map(toReading),
  );
}

interface Counted {
  readonly labels: { readonly serviceId: string };
  readonly count: number;
}

interface Reading {
  readonly labels: Record<string, string>;
  readonly count: number;
}

function toReading({ labels, count }: Counted): Reading {
  const { serviceId, ...others } = labels;
  return { labels: { ...others, service: serviceId }, count };
}
