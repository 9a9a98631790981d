/** Upper bounds in seconds: from the time of a request to the length of an outage of a provider. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;

/** Latencies with a promise, and their metrics at `/metrics`. */
const LATENCIES = {
  accept: {
    name: 'tocsin_ingest_accept_duration_seconds',
    help: 'From the head of a request with points or events to the answer that they are stored durably.',
    label: 'kind',
  },
  group: {
    name: 'tocsin_exception_group_duration_seconds',
    help: 'From the arrival of an exception to its being in its group and readable.',
    label: null,
  },
  page: {
    name: 'tocsin_page_duration_seconds',
    help: 'From the firing of an escalation step to the acceptance of its message by the provider, retries included.',
    label: 'channel',
  },
} as const;

type Latency = keyof typeof LATENCIES;

/** The counts of one label, of each bound and beyond all. */
interface Counts {
  readonly buckets: number[];
  sum: number;
}

/** Records how long promised work took in this process, as Prometheus's histograms. */
export class LatencyHistograms {
  readonly #counts: Record<Latency, Map<string, Counts>> = { accept: new Map(), group: new Map(), page: new Map() };

  observe(latency: Latency, seconds: number, label = ''): void {
    let counts = this.#counts[latency].get(label);
    if (counts === undefined) {
      counts = { buckets: Array.from({ length: BOUNDS.length + 1 }, () => 0), sum: 0 };
      this.#counts[latency].set(label, counts);
    }
    const place = BOUNDS.findIndex((bound) => seconds <= bound);
    const bucket = place === -1 ? BOUNDS.length : place;
    counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
    counts.sum += Math.max(0, seconds);
  }

  /** Returns the histograms in Prometheus's text format, with a line break at the end. */
  text(): string {
    return Object.entries(LATENCIES)
      .map(([latency, { name, help, label }]) => {
        const series = [...this.#counts[latency as Latency]].flatMap(([value, counts]) =>
          linesOf(name, label === null ? [] : [`${label}="${value}"`], counts),
        );
        return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...series, ''].join('\n');
      })
      .join('');
  }
}

function linesOf(name: string, labels: readonly string[], { buckets, sum }: Counts): string[] {
  const line = (suffix: string, value: number, ...more: readonly string[]): string => {
    const all = [...labels, ...more];
    return `${name}_${suffix}${all.length === 0 ? '' : `{${all.join(',')}}`} ${value}`;
  };
  let total = 0;
  const lines = buckets.map((count, place) => {
    total += count;
    return line('bucket', total, `le="${BOUNDS[place] ?? '+Inf'}"`);
  });
  return [...lines, line('sum', sum), line('count', total)];
}
