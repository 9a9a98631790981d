import { readSamples, type Sample } from './prometheus_text.ts';

/** A process with a listener for its metrics. */
export interface Process {
  readonly name: string;
  readonly url: string;
}

/** Samples that a process reported. */
export interface Scraped {
  readonly process: string;
  readonly samples: readonly Sample[];
}

/** Default metrics that the dashboard shows; the others are left out. */
const OF_EVERY_PROCESS: ReadonlySet<string> = new Set(['process_cpu_seconds_total', 'process_resident_memory_bytes']);
/** One series for each route, status and bound: more than the dashboard shows. */
const NOT_EXPORTED = /^tocsin_http_request_duration_seconds/;

const passes = (name: string): boolean =>
  OF_EVERY_PROCESS.has(name) || (name.startsWith('tocsin_') && !NOT_EXPORTED.test(name));

/** Throws when the process does not answer. */
export async function scrape({ name, url }: Process): Promise<Scraped> {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new Error(`${name} does not answer at ${url}: start Tocsin with the same METRICS_PORT`, { cause });
  });
  if (!response.ok) throw new Error(`${name} answered ${response.status} at ${url}`);
  return { process: name, samples: readSamples(await response.text(), passes) };
}

/** Sends samples by OTLP, which says what is a counter. Returns the number of samples taken. */
export async function send(url: string, ingestionKey: string, scraped: readonly Scraped[]): Promise<number> {
  const timeUnixNano = `${Date.now()}000000`;
  const metrics = scraped.flatMap(({ process, samples }) =>
    samples.map(({ name, labels, value, kind }) => {
      const own = Object.entries({ ...labels, process });
      const attributes = own.map(([key, text]) => ({ key, value: { stringValue: text } }));
      const dataPoints = [{ timeUnixNano, attributes, asDouble: value }];
      return kind === 'gauge'
        ? { name, gauge: { dataPoints } }
        : { name, sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints } };
    }),
  );
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }),
  });
  if (!response.ok) throw new Error(`Tocsin answered ${response.status}: ${await response.text()}`);
  return metrics.length;
}
