import { Counter, type Registry } from 'prom-client';

import type { IngestTally } from '#ingest/tally.ts';

/** What ingestion has taken and refused, as counters of the process; services stand there by their id. */
export function registerIngestCounters(registry: Registry, tally: IngestTally): void {
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
    Object.entries(tally.taken).map(([kind, count]) => ({ labels: { kind }, count })),
  );
  register(
    'tocsin_ingest_refused_total',
    'Points and events refused of requests of which the rest was taken, or which held nothing else.',
    ['kind', 'reason', 'service'],
    () => tally.refusedItems.list().map(toReading),
  );
  register(
    'tocsin_ingest_refused_requests_total',
    'Requests of known services that were refused as a whole.',
    ['kind', 'code', 'service'],
    () => tally.refusedRequests.list().map(toReading),
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
