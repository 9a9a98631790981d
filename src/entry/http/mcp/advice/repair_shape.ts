import { distance } from 'fastest-levenshtein';

import type { Schema } from '#kernel/input_faults.ts';

type Body = Readonly<Record<string, unknown>>;

const LETTERS_OFF = 2;
const DEPTH_MAX = 6;

/**
 * Returns an equivalent body that fits the schema better: other names of its properties, texts for numbers, words for
 * the values of an enumeration. Pure, and never adds what was not said. `drops` says whether unknown properties that
 * mean nothing to the action may be left out.
 */
export function repairShape(schema: Schema, value: unknown, drops: boolean, name = '', depth = 0): unknown {
  if (depth > DEPTH_MAX) return value;
  if (schema.anyOf !== undefined) return repairAlternatives(schema.anyOf, value, drops, name, depth);
  if (schema.enum !== undefined) return nearestOf(schema.enum, value);
  switch (schema.type) {
    case 'object':
      return repairObject(schema, value, drops, depth);
    case 'array':
      return repairArray(schema, value, drops, name, depth);
    case 'integer':
    case 'number':
      return toNumber(value, name, schema);
    case 'boolean':
      return toBoolean(value);
    case 'string':
      return typeof value === 'number' ? String(value) : value;
    default:
      return value;
  }
}

function repairAlternatives(
  alternatives: readonly Schema[],
  value: unknown,
  drops: boolean,
  name: string,
  depth: number,
): unknown {
  if (value === null && alternatives.some(({ type }) => type === 'null')) return null;
  const other = alternatives.find(({ type }) => type !== 'null');
  return other === undefined ? value : repairShape(other, value, drops, name, depth);
}

function repairArray(schema: Schema, value: unknown, drops: boolean, name: string, depth: number): unknown {
  const list = parsedJson(value, '[');
  const entries = Array.isArray(list) ? list : splitList(list);
  return entries === null
    ? value
    : entries.map((entry) => repairShape(schema.items ?? {}, entry, drops, name, depth + 1));
}

/** Returns the list meant by a single entry or by a text with commas; null if there is no value. */
function splitList(value: unknown): unknown[] | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value.split(',').map((part) => part.trim());
  return [value];
}

function repairObject(schema: Schema, whole: unknown, drops: boolean, depth: number): unknown {
  const value = parsedJson(whole, '{');
  if (!isBody(value) || schema.properties === undefined) return value;
  const { properties, required = [] } = schema;
  const repaired: Record<string, unknown> = {};
  const unknown: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) unknown.push([name, inner]);
    else if (inner !== null || takesNull(property))
      repaired[name] = repairShape(property, inner, drops, name, depth + 1);
  }
  const left = unknown.filter(([name, inner]) => {
    const meant = propertyMeantBy(
      name,
      Object.keys(properties).filter((property) => !(property in repaired)),
    );
    const property = meant === undefined ? undefined : properties[meant];
    if (meant === undefined || property === undefined) return true;
    repaired[meant] = repairShape(property, converted(name, meant, inner), drops, name, depth + 1);
    return false;
  });
  if (schema.additionalProperties !== false) return { ...repaired, ...Object.fromEntries(left) };
  const rest = moveInside(repaired, left, properties, drops, depth);
  const kept = drops ? [] : rest.filter(([name, inner]) => inner !== null && !NOISE.test(name));
  return kept.length === 0 || required.length === 0 ? { ...repaired } : { ...repaired, ...Object.fromEntries(kept) };
}

/** Names of properties without any meaning for a call. */
const NOISE =
  /^(?:note|notes|reason|message|comment|comments|limit|offset|page|cursor|sort|order|verbose|format|fields|include|dry_?run|explanation|description)$/i;

/** Moves properties of a nested object, such as those of `config`, that were written beside it. */
function moveInside(
  repaired: Record<string, unknown>,
  left: readonly [string, unknown][],
  properties: Readonly<Record<string, Schema>>,
  drops: boolean,
  depth: number,
): [string, unknown][] {
  return left.filter(([name, inner]) => {
    const home = Object.entries(properties).find(([, schema]) => {
      return schema.type === 'object' && propertyMeantBy(name, Object.keys(schema.properties ?? {})) !== undefined;
    });
    if (home === undefined) return true;
    const [outer, schema] = home;
    const outerBody = isBody(repaired[outer]) ? repaired[outer] : {};
    repaired[outer] = repairShape(schema, { ...outerBody, [name]: inner }, drops, outer, depth + 1);
    return false;
  });
}

/** Returns the property that another name stands for: the same in another spelling, a synonym, or nearly the same. */
function propertyMeantBy(name: string, properties: readonly string[]): string | undefined {
  const plain = plainOf(name);
  const same = properties.find((property) => plainOf(property) === plain);
  if (same !== undefined) return same;
  const meant = PROPERTY_SYNONYMS.get(plain)?.find((property) => properties.includes(property));
  if (meant !== undefined) return meant;
  const ids = properties.filter((property) => property.endsWith('Id'));
  const noun = ids.find((id) => plainOf(id) === `${plain}id` || plainOf(id).endsWith(`${plain}id`));
  if (noun !== undefined) return noun;
  if (plain === 'id' || plain === 'name' || plain === 'number') {
    const [only] = ids;
    if (ids.length === 1 && (plain !== 'name' || !properties.includes('name'))) return only;
  }
  return properties.find((property) => plain.length > 3 && distance(plainOf(property), plain) <= LETTERS_OFF);
}

function plainOf(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9]/g, '').toLowerCase();
}

/** Converts hours and days where minutes are expected. */
function converted(name: string, meant: string, value: unknown): unknown {
  if (!/minutes$/i.test(meant) || typeof value !== 'number') return value;
  if (/hour/i.test(name)) return value * 60;
  if (/day/i.test(name)) return value * 1_440;
  return /second/i.test(name) ? Math.max(1, Math.round(value / 60)) : value;
}

const UNIT_MINUTES: Readonly<Record<string, number>> = { s: 1 / 60, m: 1, min: 1, h: 60, d: 1_440, w: 10_080 };

function toNumber(value: unknown, name: string, { type, minimum = -Infinity, maximum = Infinity }: Schema): unknown {
  const text = typeof value === 'string' ? value.trim() : '';
  const [, digits = '', unit = ''] = /^([-+]?[\d_,]*\.?\d+)\s*([a-z%]*)$/i.exec(text) ?? [];
  const measured =
    typeof value === 'number' ? value : digits === '' ? Number.NaN : Number(digits.replaceAll(/[_,]/g, ''));
  if (Number.isNaN(measured)) return value;
  const minutes =
    UNIT_MINUTES[
      unit
        .toLowerCase()
        .replace(/^(min|hour|day|week|second)(?:ute)?s?$/, (word) => (word.startsWith('min') ? 'm' : (word[0] ?? '')))
    ];
  const isMinutes = /minutes|window|duration|period|range|after|delay/i.test(name);
  const isHours = /hours/i.test(name);
  const isDays = /days/i.test(name);
  const scaled =
    minutes === undefined
      ? measured
      : isMinutes
        ? measured * minutes
        : isHours
          ? (measured * minutes) / 60
          : isDays
            ? (measured * minutes) / 1_440
            : measured;
  const whole = type === 'integer' ? Math.round(scaled) : scaled;
  return Math.min(maximum, Math.max(minimum, whole));
}

function toBoolean(value: unknown): unknown {
  if (typeof value === 'number') return value === 1 ? true : value === 0 ? false : value;
  if (typeof value !== 'string') return value;
  if (/^(?:true|yes|on|enabled|1)$/i.test(value)) return true;
  return /^(?:false|no|off|disabled|0)$/i.test(value) ? false : value;
}

/** Returns the value of the enumeration that a word stands for. */
function nearestOf(allowed: readonly unknown[], value: unknown): unknown {
  if (allowed.includes(value) || typeof value !== 'string') return value;
  const plain = value
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  const same = allowed.find(
    (value) => String(value).toLowerCase() === plain || plainOf(String(value)) === plainOf(plain),
  );
  if (same !== undefined && plain !== '') return same;
  const meant = VALUE_SYNONYMS.get(plain)?.find((value) => allowed.includes(value));
  if (meant !== undefined) return meant;
  const near = allowed.find((value) => plain.length > 3 && distance(String(value).toLowerCase(), plain) <= LETTERS_OFF);
  return near ?? value;
}

function takesNull({ type, anyOf, enum: allowed }: Schema): boolean {
  if (allowed !== undefined) return allowed.includes(null);
  return type === 'null' || (type === undefined && anyOf === undefined) || anyOf?.some(takesNull) === true;
}

function parsedJson(value: unknown, opening: '{' | '['): unknown {
  if (typeof value !== 'string' || !value.trimStart().startsWith(opening)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns what each word may mean, in the order of the table, which has the words for each name. */
function wordsOf(table: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  const pairs = Object.entries(table).flatMap(([name, words]) => words.split(' ').map((word) => ({ word, name })));
  const byWord = Map.groupBy(pairs, ({ word }) => word);
  return new Map([...byWord].map(([word, of]) => [word, of.map(({ name }) => name)]));
}

/** Words that callers write for the name of a property, in lower case without signs; the first a body takes is used. */
const PROPERTY_SYNONYMS = wordsOf({
  retentionDays: 'days retention',
  windowMinutes: 'window minutes duration period range timerange lookback hours days',
  afterMinutes: 'minutes delay after delayminutes waitminutes timeout',
  shiftHours: 'hours',
  metricName: 'metric query name',
  aggregation: 'agg aggregate function stat',
  comparator: 'operator op condition comparison',
  threshold: 'value limit',
  minSeverity: 'level severity minlevel',
  escalationPolicyId: 'policy policyid escalation',
  policyId: 'policy escalationpolicyid',
  groupId: 'exceptionid exceptiongroupid issueid errorid issue',
  incidentId: 'alertid alert',
  ruleId: 'alertid alert alertruleid rule',
  serviceId: 'projectid project app servicename',
  teamId: 'teamname scheduleid',
  userId: 'person user email assignee',
  phone: 'phonenumber mobile',
  startAt: 'start from startsat starttime startdate begin',
  endAt: 'end to until endsat endtime',
  timezone: 'tz zone',
  userIds: 'users members participants',
  targetUserIds: 'users members userids targets notify',
  scheduleId: 'schedule',
  useSchedule: 'oncall schedule',
  channels: 'channel methods via',
  scmRepo: 'repo repository',
  scmOwner: 'owner',
  environment: 'env',
  status: 'state',
  kind: 'type',
  rotationType: 'rotation type',
  rotationConfig: 'rotation',
  capability: 'feature',
  layout: 'widgets panels',
  name: 'title newname',
  enabled: 'active',
  sortOrder: 'order',
  smsEnabled: 'sms',
  callEnabled: 'call',
  pushEnabled: 'push',
});

/** Words that callers write instead of a value of an enumeration; the first that is allowed is used. */
const VALUE_SYNONYMS = wordsOf({
  triggered: 'open active firing alerting new unacknowledged',
  unresolved: 'open active new reopened',
  acknowledged: 'ack acked acknowledge',
  resolved: 'closed close fixed done resolve',
  ignored: 'muted snoozed silenced ignore',
  avg: 'mean average',
  sum: 'total increase',
  min: 'minimum',
  max: 'maximum peak',
  last: 'latest',
  '>': 'gt greater greater_than above over exceeds',
  '>=': 'gte at_least',
  '<': 'lt less less_than below under',
  '<=': 'lte at_most',
  sms: 'text message',
  call: 'phone voice phone_call',
  email: 'mail',
  push: 'notification app',
  fatal: 'critical',
  error: 'critical err',
  warning: 'warn',
  metrics: 'metric monitoring',
  metric_threshold: 'metric threshold',
  oncall: 'on_call paging alerts',
  weekly: 'week 7d',
  daily: 'day 24h',
  exceptions: 'errors error_tracking exception error',
  exception: 'exception error',
});
