import { toCallResource } from './call.ts';
import type { Exchange } from './exchange.ts';
import { numberOf, textOf, type Form } from './forms.ts';
import { toMessageResource } from './message.ts';

const PAGE_SIZE = 50;
const DAY_MS = 86_400_000;

/**
 * Twilio's list of messages, newest first. `DateSent>` is sent as `DateSent>=` and includes its own second; a message
 * that has not left yet counts from its creation.
 */
export function listMessages(exchange: Exchange, query: Form, path: string): object {
  const matching = exchange.messages
    .newestFirst()
    .filter((message) => isSame(query, 'To', message.to) && isSame(query, 'From', message.from))
    .filter((message) => isInTime(query, 'DateSent', message.sentAtMs ?? message.createdAtMs));
  return toPage(matching, query, path, 'messages', (message) => toMessageResource(message, exchange.accountSid));
}

/** Twilio's list of calls, newest first. */
export function listCalls(exchange: Exchange, query: Form, path: string): object {
  const matching = exchange.calls
    .newestFirst()
    .filter((call) => isSame(query, 'To', call.to) && isSame(query, 'From', call.from))
    .filter((call) => isSame(query, 'Status', call.status))
    .filter((call) => isInTime(query, 'StartTime', call.startedAtMs ?? call.createdAtMs))
    .filter((call) => isInTime(query, 'EndTime', call.endedAtMs));
  return toPage(matching, query, path, 'calls', (call) => toCallResource(call, exchange.accountSid));
}

function isSame(query: Form, name: string, value: string): boolean {
  const wanted = textOf(query, name);
  return wanted === undefined || wanted === value;
}

/** Twilio compares whole seconds; a date alone stands for that whole day in UTC. */
function isInTime(query: Form, name: string, atMs: number | null): boolean {
  const on = textOf(query, name);
  const from = textOf(query, `${name}>`);
  const until = textOf(query, `${name}<`);
  if (on === undefined && from === undefined && until === undefined) return true;
  if (atMs === null) return false;
  const second = Math.floor(atMs / 1_000) * 1_000;
  if (from !== undefined && second < Date.parse(from)) return false;
  if (until !== undefined && second > Date.parse(until)) return false;
  return (
    on === undefined || (second >= Date.parse(on) && second < Date.parse(on) + (on.includes('T') ? 1_000 : DAY_MS))
  );
}

function toPage<T extends { readonly sid: string }>(
  found: readonly T[],
  query: Form,
  path: string,
  key: 'messages' | 'calls',
  toResource: (record: T) => object,
): object {
  const pageSize = numberOf(query, 'PageSize', PAGE_SIZE);
  const page = numberOf(query, 'Page', 0);
  const token = textOf(query, 'PageToken');
  const start = token === undefined ? page * pageSize : found.findIndex((record) => `PA${record.sid}` === token) + 1;
  const records = found.slice(start, start + pageSize);
  const last = records.at(-1);
  const hasMore = last !== undefined && start + pageSize < found.length;
  return {
    [key]: records.map(toResource),
    page,
    page_size: pageSize,
    start,
    end: start + Math.max(records.length - 1, 0),
    uri: path,
    first_page_uri: withPage(path, { PageSize: pageSize, Page: 0 }),
    next_page_uri: hasMore ? withPage(path, { PageSize: pageSize, Page: page + 1, PageToken: `PA${last.sid}` }) : null,
    previous_page_uri: page > 0 ? withPage(path, { PageSize: pageSize, Page: page - 1 }) : null,
  };
}

function withPage(path: string, page: Record<string, string | number>): string {
  const [resource = '', query = ''] = path.split('?', 2);
  const parameters = new URLSearchParams(query);
  for (const name of ['Page', 'PageToken', 'PageSize']) parameters.delete(name);
  for (const [name, value] of Object.entries(page)) parameters.set(name, String(value));
  return `${resource}?${parameters.toString()}`;
}
