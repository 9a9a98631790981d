import type { AnyAction } from '#actions/action_context.ts';
import { idSourceOf } from '#actions/id_sources.ts';
import { nearestNames } from '#modules/metrics/unmet_selectors.ts';
import type { Directory } from '#entry/http/mcp/advice/directory.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import { type Comparator, COMPARATORS } from '#modules/rules/decide/kind_settings.ts';
import { cutWindow, summaryOf } from '#modules/metrics/decide/buckets.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { AppError } from '#kernel/errors.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { type MetricExpression, readExpression } from '#modules/metrics/decide/expression.ts';
import { queryExpression } from '#modules/metrics/expression_values.ts';
import { storesOf } from '#modules/stores.ts';

interface Filled {
  readonly value: unknown;
  readonly sentences: readonly string[];
}

type Body = Record<string, unknown>;

const DAY_MINUTES = 1_440;

/**
 * Fills in what is missing if only one value is possible: the only service, the kind of a rule by its config, times in
 * words; for a threshold it reports the present values.
 */
export async function fillIn(
  action: AnyAction,
  named: unknown,
  directory: Directory,
  exchange: Exchange,
): Promise<Filled> {
  if (!isBody(named)) return { value: named, sentences: [] };
  const body: Body = { ...named };
  const sentences: string[] = [];
  for (const name of (action.input.required ?? []) as readonly string[]) {
    const kind = idSourceOf(name)?.kind;
    if (name in body || kind === undefined || action.effect === 'delete') continue;
    const entries = await directory.list(kind);
    const [only] = entries;
    if (entries.length === 1 && only !== undefined) {
      body[name] = only.id;
      sentences.push(`${name} is missing; there is only ${JSON.stringify(only.names[0])} ${only.id}.`);
    } else if (entries.length > 0) {
      const some = entries.slice(0, 5).map(({ id, names }) => `${JSON.stringify(names[0])} ${id}`);
      sentences.push(`${name} is missing; there are: ${some.join('; ')}${entries.length > 5 ? '; and more' : ''}.`);
    }
  }
  for (const name of ['startAt', 'endAt']) {
    if (name in body) body[name] = timeOf(body[name], exchange.runtime.clock.now(), sentences, name);
  }
  if (isBody(body['config'])) await fillConfig(body, body['config'], action, exchange, sentences);
  return { value: body, sentences };
}

async function fillConfig(
  body: Body,
  sent: Body,
  action: AnyAction,
  exchange: Exchange,
  sentences: string[],
): Promise<void> {
  const isMetric = 'metricName' in sent || 'threshold' in sent;
  if (action.name.startsWith('create') && !('kind' in body)) body['kind'] = isMetric ? 'metric_threshold' : 'exception';
  if (body['kind'] !== 'metric_threshold') return;
  const config: Body = { ...sent };
  body['config'] = config;
  const [written, sign, threshold] = [config['metricName'], config['comparator'], config['threshold']];
  if (typeof sign === 'string' && !isComparator(sign)) config['comparator'] = sign;
  if (sign === undefined) {
    config['comparator'] = '>';
    sentences.push(`config.comparator is missing; it is one of ${COMPARATORS.join(', ')}, and > is the usual one.`);
  }
  if (typeof written !== 'string' || typeof body['serviceId'] !== 'string') return;
  const present = await readPresent(exchange, body['serviceId'], written);
  if (present === null) return;
  if (present.nearest !== null) {
    config['metricName'] = present.nearest;
    sentences.push(`config.metricName: no metric ${JSON.stringify(written)} has arrived; ${present.nearest} has.`);
  }
  if (threshold === undefined && present.max !== null) {
    config['threshold'] = present.max;
    sentences.push(
      `config.threshold is missing; over the last day the metric was at most ${present.max}, and is ${present.last} now.`,
    );
  }
}

function isComparator(text: string): text is Comparator {
  return COMPARATORS.some((comparator) => comparator === text);
}

/** Reads the present value of a metric, or the nearest name if the metric never arrived. */
async function readPresent({ runtime, caller }: Exchange, serviceId: string, metricName: string) {
  if (!caller.permissions.has('dashboards:view')) return null;
  const now = runtime.clock.now();
  try {
    const service = await storesOf(runtime.db.session()).services.get(caller.orgId, serviceId);
    const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
    const { sides, factor } = readExpression(metricName);
    const [selector, divisor] = sides;
    const names = await runtime.metrics.listNames(service.id, keptSince);
    const nearest = names.includes(selector.name) ? null : (nearestNames(selector.name, names)[0] ?? null);
    if (nearest === null && !names.includes(selector.name)) return null;
    if (divisor !== undefined && nearest !== null) return null;
    const asked = nearest === null ? selector : { name: nearest, matchers: [] };
    const query = {
      serviceId: service.id,
      aggregation: 'max',
      buckets: cutWindow(DAY_MINUTES, now),
      keptSince,
    } as const;
    const rest = { texts: [metricName], factor };
    const expression: MetricExpression =
      divisor === undefined ? { ...rest, sides: [asked] } : { ...rest, sides: [asked, divisor] };
    const values = await queryExpression(runtime.metrics, query, expression);
    const summary = summaryOf(values.map(({ value }) => value));
    return { nearest, max: summary?.max ?? null, last: summary?.last ?? null };
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

const AHEAD: Readonly<Record<string, number>> = { now: 0, today: 0, tonight: 0, tomorrow: 1 };

/** Converts a time that the product cannot read: `tomorrow 09:00`, seconds since 1970, a space for the T. */
function timeOf(value: unknown, now: Temporal.Instant, sentences: string[], name: string): unknown {
  if (parseInstant(value, 'UTC', name).kind === 'ok') return value;
  sentences.push(
    `${name}: it is ${toTimestamp(now)} now; times are RFC 3339, such as ${toTimestamp(now.add({ hours: 24 }))}.`,
  );
  if (typeof value === 'number') {
    const milliseconds = value < 1e11 ? value * 1_000 : value;
    return toTimestamp(now.add({ milliseconds: Math.round(milliseconds - now.epochMilliseconds) }));
  }
  if (typeof value !== 'string') return value;
  const text = value.trim().toLowerCase();
  const [, word = '', hour, minute = '00', half] =
    /^(now|today|tonight|tomorrow)(?:[\s,]+(?:at\s+)?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?)?$/.exec(text) ?? [];
  const days = AHEAD[word];
  if (days !== undefined) {
    const at = now.add({ hours: 24 * days });
    if (hour === undefined) return toTimestamp(at);
    const full = (Number(hour) % (half === undefined ? 24 : 12)) + (half === 'pm' ? 12 : 0);
    return `${toTimestamp(at).slice(0, 10)}T${String(full).padStart(2, '0')}:${minute}:00Z`;
  }
  const [, date, rest = '00:00'] =
    /^(\d{4}-\d{2}-\d{2})(?:[\sT]+(\d{2}:\d{2}(?::\d{2})?))?(?:\s*(?:utc|z))?$/i.exec(value.trim()) ?? [];
  return date === undefined ? value : `${date}T${rest}${rest.length === 5 ? ':00' : ''}Z`;
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
