import { randomUUID } from 'node:crypto';

import type { AlertListWanted, AlertOrder } from '#modules/alerts/decide/alert_filter.ts';
import { cutKey } from '#modules/alerts/decide/alert_limits.ts';
import type {
  AlertAnswer,
  AlertReading,
  AlertRequestWithBody,
  FoundAlert,
} from '#ingest/protocols/alerts/alert_protocol.ts';
import { readQuery } from '#ingest/protocols/alerts/opsgenie_query.ts';
import { type Fault, invalidInput } from '#kernel/errors.ts';
import { asId, type Id, idOfUuid } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';

const OFFSET_MAX = 20_000;

/** Fields by which clients may have alerts sorted; what is not known here stands for the time of creation. */
const ORDERS: Readonly<Record<string, AlertOrder>> = {
  createdAt: 'firstSeenAt',
  updatedAt: 'lastSeenAt',
  lastOccuredAt: 'lastSeenAt',
  lastOccurredAt: 'lastSeenAt',
  alias: 'key',
  message: 'title',
  status: 'status',
  acknowledged: 'status',
  isSeen: 'status',
  count: 'occurrences',
  tinyId: 'id',
  source: 'firstSeenAt',
  owner: 'firstSeenAt',
  snoozed: 'firstSeenAt',
  snoozedUntil: 'firstSeenAt',
  'integration.name': 'firstSeenAt',
  'integration.type': 'firstSeenAt',
  'report.ackTime': 'firstSeenAt',
  'report.closeTime': 'firstSeenAt',
  'report.acknowledgedBy': 'firstSeenAt',
  'report.closedBy': 'firstSeenAt',
};

/** Reads an identifier: an alias if the query says so, else the id of the alert or of the request that made it. */
export function addressOf(
  identifier: string,
  query: URLSearchParams,
): { readonly id: Id<'alert'> } | { readonly key: string } {
  const type = query.get('identifierType') ?? query.get('alertIdentifierType') ?? 'id';
  return type === 'alias' ? { key: cutKey(identifier).value } : { id: alertIdOf(identifier) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A request has the id of the alert that it is about, as a UUID: nothing of it has to be kept. */
function alertIdOf(text: string): Id<'alert'> {
  try {
    return UUID.test(text) ? idOfUuid('alert', text.toLowerCase()) : asId('alert', text);
  } catch {
    return asId('alert', text);
  }
}

/** Counts the alerts that a query finds; those that are open without one. */
export function readCount({ query }: AlertRequestWithBody): AlertReading {
  refuseSavedSearch(query);
  const filter = readQuery(query.get('query') ?? 'status: open');
  const answer = (count: number): AlertAnswer => ({
    status: 200,
    body: { data: { count }, took: 0.001, requestId: randomUUID() },
  });
  return { kind: 'lookup', lookup: { kind: 'count', filter, answer } };
}

/** Lists alerts as clients of Opsgenie ask for them: 20 by default and 100 at most, the newest first. */
export function readList({ query, address }: AlertRequestWithBody): AlertReading {
  refuseSavedSearch(query);
  const limit = numberIn(query, 'limit', { least: 1, most: 100, absent: 20 });
  const offset = numberIn(query, 'offset', { least: 0, most: OFFSET_MAX, absent: 0 });
  const sort = query.get('sort') ?? 'createdAt';
  const order = query.get('order')?.toLowerCase() ?? 'desc';
  const faults: Fault[] = [];
  if (!Object.hasOwn(ORDERS, sort)) {
    faults.push({ path: 'sort', message: `is one of ${Object.keys(ORDERS).join(', ')}` });
  }
  if (order !== 'asc' && order !== 'desc') faults.push({ path: 'order', message: 'is asc or desc' });
  if (faults.length > 0) throw invalidInput(faults);
  const wanted: AlertListWanted = {
    filter: readQuery(query.get('query') ?? ''),
    order: ORDERS[sort] ?? 'firstSeenAt',
    isDescending: order === 'desc',
    offset,
    limit,
  };
  const answer = (alerts: readonly FoundAlert[], count: number): AlertAnswer => ({
    status: 200,
    body: {
      data: alerts.map(viewOf),
      paging: pagingOf({ address, query, offset, limit, count }),
      took: 0.001,
      requestId: randomUUID(),
    },
  });
  return { kind: 'lookup', lookup: { kind: 'list', wanted, answer } };
}

/** Searches are saved by people of an account, which there is none of here. */
function refuseSavedSearch(query: URLSearchParams): void {
  if (!query.has('searchIdentifier')) return;
  throw invalidInput([{ path: 'searchIdentifier', message: 'names no saved search; send its words as query' }]);
}

function numberIn(
  query: URLSearchParams,
  name: string,
  { least, most, absent }: { readonly least: number; readonly most: number; readonly absent: number },
): number {
  const text = query.get(name) ?? '';
  if (text === '') return absent;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw invalidInput([{ path: name, message: `is a number from ${least} to ${most}` }]);
}

function pagingOf({
  address,
  query,
  offset,
  limit,
  count,
}: {
  readonly address: string;
  readonly query: URLSearchParams;
  readonly offset: number;
  readonly limit: number;
  readonly count: number;
}) {
  const at = (from: number): string => {
    const page = new URLSearchParams(query);
    page.set('offset', String(from));
    page.set('limit', String(limit));
    return `${address}?${page.toString()}`;
  };
  const last = count === 0 ? 0 : Math.min(Math.floor((count - 1) / limit) * limit, OFFSET_MAX);
  return {
    ...(offset + limit < count && offset + limit <= OFFSET_MAX && { next: at(offset + limit) }),
    ...(offset > 0 && { prev: at(Math.max(0, offset - limit)) }),
    first: at(0),
    last: at(last),
  };
}

export function readAlert({ path, query }: AlertRequestWithBody): AlertReading {
  const identifier = path['identifier'] ?? '';
  const answer = (alert: FoundAlert | null): AlertAnswer => {
    if (alert === null) return unknown(`Alert with id [${identifier}] does not exist.`);
    return { status: 200, body: { data: viewOf(alert), took: 0.001, requestId: randomUUID() } };
  };
  return { kind: 'lookup', lookup: { kind: 'alert', by: addressOf(identifier, query), answer } };
}

export function readRequest({ path }: AlertRequestWithBody): AlertReading {
  const requestId = path['request'] ?? '';
  const answer = (alert: FoundAlert | null): AlertAnswer => {
    if (alert === null) return unknown('Request not found. It might not be processed, yet.', requestId);
    const data = {
      success: true,
      isSuccess: true,
      action: 'Create',
      status: 'Created alert',
      processedAt: toTimestamp(alert.lastSeenAt),
      integrationId: '',
      alertId: alert.id,
      alias: alert.key,
    };
    return { status: 200, body: { data, took: 0.001, requestId } };
  };
  return { kind: 'lookup', lookup: { kind: 'alert', by: { id: alertIdOf(requestId) }, answer } };
}

const PRIORITIES: Readonly<Record<string, string>> = {
  fatal: 'P1',
  error: 'P2',
  warning: 'P3',
  info: 'P4',
  debug: 'P5',
};

function viewOf(alert: FoundAlert) {
  return {
    id: alert.id,
    tinyId: alert.id,
    alias: alert.key,
    message: alert.title,
    status: alert.status === 'resolved' ? 'closed' : 'open',
    acknowledged: alert.status === 'acknowledged',
    isSeen: alert.status !== 'triggered',
    count: alert.occurrences,
    priority: PRIORITIES[alert.severity] ?? 'P3',
    source: alert.tool,
    details: alert.details['details'] ?? {},
    tags: alert.details['tags'] ?? [],
    createdAt: toTimestamp(alert.firstSeenAt),
    updatedAt: toTimestamp(alert.lastSeenAt),
    lastOccurredAt: toTimestamp(alert.lastSeenAt),
  };
}

function unknown(message: string, requestId = randomUUID() as string): AlertAnswer {
  return { status: 404, body: { message, took: 0.001, requestId } };
}
