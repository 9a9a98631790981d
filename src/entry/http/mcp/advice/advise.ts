import type { AnyAction } from '#actions/action_context.ts';
import { checkInput } from '#actions/check_input.ts';
import { idSourceOf, kindOfProperty } from '#actions/id_sources.ts';
import { nearestActions } from '#actions/nearest_actions.ts';
import { ACTIONS } from '#actions/registry.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import type { ListedThing } from '#kernel/action.ts';
import { AppError } from '#kernel/errors.ts';
import { type Kind, KIND_NOUNS } from '#kernel/ids.ts';
import { withTimeout } from '#kernel/promises.ts';
import { limitBy, type Temporal, toTimestamp } from '#kernel/time.ts';
import { cutWindow, summaryOf } from '#modules/metrics/decide/buckets.ts';
import { type MetricExpression, readExpression } from '#modules/metrics/decide/expression.ts';
import { queryExpression } from '#modules/metrics/expression_values.ts';
import { nearestNames } from '#modules/metrics/unmet_selectors.ts';
import { type Comparator, COMPARATORS } from '#modules/rules/decide/kind_settings.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { storesOf } from '#modules/stores.ts';
import { Directory, kindOfId } from './directory.ts';
import { repairShape } from './repair_shape.ts';

export interface Suggestion {
  readonly name: string;
  readonly arguments: unknown;
}

interface Advice {
  readonly sentences: readonly string[];
  /** Corrected call, which never does more than the original one; null if no correction is certain enough. */
  readonly suggestion: Suggestion | null;
}

const NONE: Advice = { sentences: [], suggestion: null };
const ADVICE_TIMEOUT_MS = 2_000;
/** Greatest length of a body that is corrected: a larger one was not written by hand. */
const BODY_CHARACTERS_MAX = 20_000;

/**
 * Suggests a correction of a call that was refused for its arguments, or whose ids do not exist. Never throws. Of the 100
 * recorded calls in `test/contract/wrong_calls.ts` 96 are refused, and 95 of these are right when they are made again as
 * suggested.
 */
export async function adviseOn(
  exchange: Exchange,
  action: AnyAction,
  input: unknown,
  error: AppError,
): Promise<Advice> {
  if (error.code !== 'invalid_input' && error.code !== 'not_found') return NONE;
  if ((JSON.stringify(input) ?? '').length > BODY_CHARACTERS_MAX) return NONE;
  const timeoutMs = limitBy(exchange.runtime.clock, ADVICE_TIMEOUT_MS);
  try {
    return await withTimeout(suggestCorrection(exchange, action, input), timeoutMs, () => NONE);
  } catch (failure) {
    if (!(failure instanceof AppError))
      exchange.log.warn({ err: failure, requestId: exchange.origin.requestId }, 'failed to suggest a corrected call');
    return NONE;
  }
}

async function suggestCorrection(exchange: Exchange, action: AnyAction, input: unknown): Promise<Advice> {
  const directory = new Directory(exchange);
  const body = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  const shaped = repairShape(action.input, body, action.effect === 'read');
  const { value: named, sentences: ids } = await repairIds(shaped, directory, action.effect === 'delete');
  const { value, sentences: filled } = await fillIn(action, named, directory, exchange);
  const sentences = [...ids, ...filled];
  if (JSON.stringify(value) === JSON.stringify(input) || !isRight(action, value))
    return { sentences, suggestion: null };
  const isFound = (await repairIds(value, directory, true)).sentences.length === 0;
  return { sentences, suggestion: isFound ? { name: action.name, arguments: value } : null };
}

function isRight(action: AnyAction, value: unknown): boolean {
  try {
    checkInput(action, value);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** Suggests, for a tool that does not exist, a call of the nearest tool the caller may use that does no more. */
export async function adviseOnUnknown(exchange: Exchange, name: string, input: unknown): Promise<Suggestion | null> {
  const nearest = nearestActions(name, ACTIONS).find(({ permission }) => exchange.caller.permissions.has(permission));
  if (nearest === undefined) return null;
  if (isRight(nearest, input) && (await withIds(exchange, nearest, input)) === input)
    return { name: nearest.name, arguments: input };
  const { suggestion } = await adviseOn(exchange, nearest, input, new AppError('invalid_input', ''));
  return suggestion ?? (isRight(nearest, {}) ? { name: nearest.name, arguments: {} } : null);
}

/** Returns the body if each of its ids exists, else null. */
async function withIds(exchange: Exchange, action: AnyAction, input: unknown): Promise<unknown> {
  const { sentences } = await repairIds(input, new Directory(exchange), action.effect === 'delete');
  return sentences.length === 0 ? input : null;
}

/** Body with ids that exist, as far as they could be found, and the findings, in sentences. */
interface RepairedIds {
  readonly value: unknown;
  readonly sentences: readonly string[];
}

const SENTENCES_MAX = 6;

/**
 * Replaces names, numbers and ids of other kinds with ids. `isExact` accepts exact matches only, for calls where a
 * wrong guess could not be undone.
 */
async function repairIds(body: unknown, directory: Directory, isExact: boolean): Promise<RepairedIds> {
  const sentences: string[] = [];
  const visit = async (value: unknown, name: string, path: string): Promise<unknown> => {
    if (Array.isArray(value)) {
      const entries: unknown[] = [];
      for (const [index, entry] of value.entries()) entries.push(await visit(entry, name, `${path}[${index}]`));
      return entries;
    }
    if (typeof value === 'object' && value !== null) {
      const members: [string, unknown][] = [];
      for (const [member, inner] of Object.entries(value)) {
        members.push([member, await visit(inner, member, path === '' ? member : `${path}.${member}`)]);
      }
      return Object.fromEntries(members);
    }
    const kind = kindOfProperty(name);
    return kind === null || typeof value !== 'string' ? value : await repairOne(kind, value, path);
  };
  const repairOne = async (kind: Kind, value: string, path: string): Promise<string> => {
    if (sentences.length >= SENTENCES_MAX) return value;
    const entries = await directory.list(kind);
    if (entries.some(({ id }) => id === value)) return value;
    const { only, isExact: isSame, candidates } = await directory.find(kind, value);
    const other = kindOfId(value);
    const what =
      other !== null && other !== kind
        ? `is the id of ${KIND_NOUNS[other]}, not of ${KIND_NOUNS[kind]}`
        : `names no ${nounOf(kind)} by its id`;
    if (only !== null && (isSame || !isExact)) {
      sentences.push(`${path}: ${JSON.stringify(value.slice(0, 80))} ${what}; ${told(only)} is meant.`);
      return only.id;
    }
    if (candidates.length > 0) {
      sentences.push(
        `${path}: ${JSON.stringify(value.slice(0, 80))} ${what}. There are: ${candidates.map(told).join('; ')}.`,
      );
    }
    return value;
  };
  return { value: await visit(body, '', ''), sentences };
}

function told({ id, names: [name = ''] }: ListedThing): string {
  return `${JSON.stringify(name.slice(0, 80))} ${id}`;
}

/** Returns the noun of a kind without its article. */
function nounOf(kind: Kind): string {
  return KIND_NOUNS[kind].replace(/^an? /, '');
}

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
async function fillIn(action: AnyAction, named: unknown, directory: Directory, exchange: Exchange): Promise<Filled> {
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
