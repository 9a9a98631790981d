import type { Client } from '#infra/demo/client.ts';

export const SERVICE_NAME = 'tocsin';

/** Sent figures that have a quantile. */
export const LATENCY_GAUGES = [
  { histogram: 'tocsin_ingest_accept_duration_seconds', gauge: 'tocsin_ingest_accept_p99_seconds' },
  { histogram: 'tocsin_exception_group_duration_seconds', gauge: 'tocsin_exception_group_p99_seconds' },
  { histogram: 'tocsin_page_duration_seconds', gauge: 'tocsin_page_p99_seconds' },
] as const;

interface SelfRule {
  readonly name: string;
  readonly config: {
    readonly metricName: string;
    readonly aggregation: 'avg' | 'max' | 'min' | 'sum';
    readonly comparator: '>';
    readonly threshold: number;
    readonly windowMinutes: number;
  };
}

const over = (
  name: string,
  metricName: string,
  threshold: number,
  aggregation: 'max' | 'min' | 'sum' = 'min',
): SelfRule => ({ name, config: { metricName, aggregation, comparator: '>', threshold, windowMinutes: 2 } });

/** `min` over two minutes: all of that time, and not for a moment. */
const RULES: readonly SelfRule[] = [
  over('Data waits to be judged', 'tocsin_unseen_data_seconds', 60),
  over('Escalation steps are late', 'tocsin_overdue_step_seconds', 15),
  over('Pages are late', 'tocsin_overdue_message_seconds', 30),
  over('Providers take pages slowly', 'tocsin_page_p99_seconds', 30, 'max'),
  over('Something keeps people from being paged', 'tocsin_pager_problems', 0),
  over('Requests with data are refused', 'tocsin_ingest_refused_requests_total', 10, 'sum'),
  over('Data met a limit', 'tocsin_limits_met_total', 100, 'sum'),
];

interface Chart {
  readonly title: string;
  readonly metricNames: readonly string[];
  readonly aggregation: 'avg' | 'max' | 'sum';
  readonly splitBy?: string;
}

const CHARTS: readonly Chart[] = [
  { title: 'Age of data that no rule has seen (s)', metricNames: ['tocsin_unseen_data_seconds'], aggregation: 'max' },
  {
    title: 'Overdue steps and pages (s)',
    metricNames: ['tocsin_overdue_step_seconds', 'tocsin_overdue_message_seconds'],
    aggregation: 'max',
  },
  { title: 'Latencies, p99 (s)', metricNames: LATENCY_GAUGES.map(({ gauge }) => gauge), aggregation: 'max' },
  { title: 'Points and events taken', metricNames: ['tocsin_ingest_taken_total'], aggregation: 'sum', splitBy: 'kind' },
  {
    title: 'Requests with data refused',
    metricNames: ['tocsin_ingest_refused_requests_total'],
    aggregation: 'sum',
    splitBy: 'code',
  },
  { title: 'Jobs in the queues', metricNames: ['tocsin_queue_jobs'], aggregation: 'max', splitBy: 'queue' },
  {
    title: 'Processor (s a minute)',
    metricNames: ['process_cpu_seconds_total'],
    aggregation: 'sum',
    splitBy: 'process',
  },
  {
    title: 'Resident memory (bytes)',
    metricNames: ['process_resident_memory_bytes'],
    aggregation: 'max',
    splitBy: 'process',
  },
];

const [WIDTH, HEIGHT] = [6, 6];

export interface SelfService {
  readonly serviceId: string;
  readonly ingestionKey: string;
  /** Names of the things that this call made, not an earlier one. */
  readonly made: readonly string[];
}

interface Named {
  readonly name: string;
}

/** The service, its rules and its dashboard; what is there already stays as people have changed it. */
export async function setUpSelf(client: Client): Promise<SelfService> {
  const made: string[] = [];
  const { services } = await client.action<{ services: (Named & { serviceId: string })[] }>('list_services', {});
  const existing = services.find(({ name }) => name === SERVICE_NAME);
  const created =
    existing === undefined
      ? await client.action<{ serviceId: string; ingestionKey: string }>('create_service', { name: SERVICE_NAME })
      : null;
  const serviceId = created?.serviceId ?? existing?.serviceId ?? '';
  if (created !== null) {
    made.push(`the service ${SERVICE_NAME}`);
    for (const capability of ['metrics', 'oncall']) await client.action('enable_capability', { serviceId, capability });
  }
  // Only this program sends for the service, so a key of before is of no use to anybody else.
  const { ingestionKey } =
    created ?? (await client.action<{ ingestionKey: string }>('rotate_ingest_key', { serviceId }));
  if (created === null) return { serviceId, ingestionKey, made };
  for (const { name, config } of RULES) {
    await client.action('create_alert_rule', { serviceId, name, kind: 'metric_threshold', config });
    made.push(`the rule "${name}"`);
  }
  await client.action('create_dashboard', { name: 'Tocsin itself', serviceId, layout: CHARTS.map(toWidget) });
  made.push('the dashboard "Tocsin itself"');
  return { serviceId, ingestionKey, made };
}

function toWidget({ title, metricNames, aggregation, splitBy }: Chart, index: number): object {
  const query = metricNames.map((metricName) => ({
    metricName,
    aggregation,
    ...(splitBy !== undefined && { splitBy }),
  }));
  const grid = { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT };
  return { type: 'series', title, query: query.length === 1 ? query[0] : query, grid };
}
