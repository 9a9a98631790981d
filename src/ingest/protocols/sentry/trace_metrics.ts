import { createHash } from 'node:crypto';

import { isSecretName } from '#modules/exceptions/decide/secret_names.ts';
import { withoutSecrets } from '#modules/exceptions/decide/secrets.ts';
import { asList, asObject, asText, type JsonObject, parseJson } from '#ingest/protocols/sentry/json.ts';
import { asEpochMilliseconds } from '#ingest/protocols/sentry/values.ts';

/** Value of a metric, as an application counted or measured it. */
export interface SentMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'distribution';
  readonly value: number;
  /** Unit in the client's terms, such as `millisecond`; empty if there is none. */
  readonly unit: string;
  /** Time by the clock of this server, in epoch milliseconds. */
  readonly at: number;
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** Identifies the value: equal when the same value is sent again. */
  readonly sign: string;
}

/** The values of a container, how many could not be read, and how many are beyond the limit. */
interface ReadMetrics {
  readonly metrics: readonly SentMetric[];
  readonly faulty: number;
  readonly beyond: number;
}

/** Limit on the items of a container; clients send at most 1,000 at once. */
const ITEMS_MAX = 1_000;
export const METRICS_BYTES_MAX = 1024 * 1024;
const LABELS_MAX = 40;
const TYPES: ReadonlySet<unknown> = new Set(['counter', 'gauge', 'distribution']);

/** Reads a container of metrics, whose sender's clock is `offsetMs` ahead; null for what is none. */
export function readTraceMetrics(payload: Buffer, offsetMs: number, receivedAt: number): ReadMetrics | null {
  const sent = asObject(parseJson(payload))?.['items'];
  if (sent === undefined) return null;
  const items = asList(sent);
  const read = items.slice(0, ITEMS_MAX);
  const metrics = read.flatMap((item) => readMetric(asObject(item), offsetMs, receivedAt) ?? []);
  return { metrics: numbered(metrics), faulty: read.length - metrics.length, beyond: items.length - read.length };
}

/**
 * Numbers equal values of a container: `count('jobs', 1)` twice within a millisecond are two. Clients that number them
 * themselves send a number twice only with the same value.
 */
function numbered(metrics: readonly ReadMetric[]): SentMetric[] {
  const seen = new Map<string, number>();
  return metrics.map(({ isNumbered, ...metric }) => {
    if (isNumbered) return metric;
    const before = seen.get(metric.sign) ?? 0;
    seen.set(metric.sign, before + 1);
    return before === 0 ? metric : { ...metric, sign: `${metric.sign} ${before}` };
  });
}

interface ReadMetric extends SentMetric {
  /** Whether its client numbers the values of a millisecond. */
  readonly isNumbered: boolean;
}

function readMetric(item: JsonObject | null, offsetMs: number, receivedAt: number): ReadMetric | null {
  const name = asText(item?.['name'], 500)?.trim() ?? '';
  const [type, value] = [item?.['type'], item?.['value']];
  if (item === null || name === '' || !TYPES.has(type)) return null;
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  const at = asEpochMilliseconds(item['timestamp']);
  const attributes = asObject(item['attributes']) ?? {};
  return {
    name,
    type: type as SentMetric['type'],
    value,
    unit: unitOf(item['unit']),
    at: at === null ? receivedAt : at - offsetMs,
    labels: labelsOf(attributes),
    isNumbered: 'sentry.timestamp.sequence' in attributes,
    sign: createHash('sha256').update(JSON.stringify(item)).digest('base64url').slice(0, 16),
  };
}

function unitOf(unit: unknown): string {
  const text = asText(unit, 63)?.trim() ?? '';
  return text === 'none' ? '' : (UNITS.get(text) ?? text);
}

/** Units as other senders write them. */
const UNITS: ReadonlyMap<string, string> = new Map([
  ['nanosecond', 'ns'],
  ['microsecond', 'us'],
  ['millisecond', 'ms'],
  ['second', 's'],
  ['minute', 'min'],
  ['hour', 'h'],
  ['day', 'd'],
  ['week', 'wk'],
  ['bit', 'bit'],
  ['byte', 'By'],
  ['kilobyte', 'kBy'],
  ['megabyte', 'MBy'],
  ['gigabyte', 'GBy'],
  ['terabyte', 'TBy'],
  ['kibibyte', 'KiBy'],
  ['mebibyte', 'MiBy'],
  ['gibibyte', 'GiBy'],
  ['tebibyte', 'TiBy'],
  ['ratio', '1'],
  ['percent', '%'],
]);

/**
 * Attributes added by clients that are kept, with their label names; the others tell one value from another, not one
 * stream.
 */
const OF_CLIENT: ReadonlyMap<string, string> = new Map([
  ['sentry.release', 'release'],
  ['sentry.environment', 'environment'],
]);
/** A person, a span and a replay are not what streams are told apart by. */
const OF_ONE_VALUE = /^(?:sentry\.|user\.|trace[._]|span[._])/;

/** Attributes as labels: of each `{ value, type }`, or the value itself. */
function labelsOf(attributes: JsonObject): [string, string][] {
  const labels = new Map<string, string>();
  for (const [sent, attribute] of Object.entries(attributes)) {
    if (labels.size >= LABELS_MAX) break;
    const name = OF_CLIENT.get(sent) ?? (OF_ONE_VALUE.test(sent) ? null : sent);
    const value = asObject(attribute)?.['value'] ?? attribute;
    const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
    if (name === null || name === '' || isSecretName(name) || text === '' || text === 'null') continue;
    labels.set(name, withoutSecrets(text));
  }
  return [...labels].sort(([a], [other]) => (a < other ? -1 : 1));
}
