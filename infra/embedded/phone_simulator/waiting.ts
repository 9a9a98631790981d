import { spokenText, type CallStatus, type PhoneCall } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { Journal } from './journal.ts';
import type { MessageStatus, PhoneMessage } from './message.ts';

const TIMEOUT_MS = 30_000;

/** A point in the order of things: any record, or what `mark()` returns. */
export interface Mark {
  readonly seq: number;
}

interface Query<T, Status> {
  readonly to?: string;
  readonly from?: string;
  /** Text of the message, or all that was said in the call. A string matches as a part. */
  readonly matching?: string | RegExp | ((record: T) => boolean);
  readonly status?: Status;
  /** Only what came after this. */
  readonly after?: Mark;
  /** Real milliseconds, default 30,000. */
  readonly timeoutMs?: number;
}

export type MessageQuery = Query<PhoneMessage, MessageStatus>;
export type CallQuery = Query<PhoneCall, CallStatus>;

/** The oldest message that fits, now or as soon as there is one. Rejects with what was seen when time is up. */
export function waitForMessage(exchange: Exchange, query: MessageQuery): Promise<PhoneMessage> {
  const { events, messages } = exchange;
  const textOf = (message: PhoneMessage) => message.body;
  return waitFor('message', messages, query, textOf, (listener) => {
    events.on('message', listener);
    return () => events.off('message', listener);
  });
}

/** The oldest call that fits; without a status, one that has begun to ring. */
export function waitForCall(exchange: Exchange, query: CallQuery): Promise<PhoneCall> {
  const { events, calls } = exchange;
  const textOf = (call: PhoneCall) =>
    query.status === undefined && call.status === 'queued' ? null : spokenText(call);
  return waitFor('call', calls, query, textOf, (listener) => {
    events.on('call', listener);
    return () => events.off('call', listener);
  });
}

interface Common {
  readonly seq: number;
  readonly from: string;
  readonly to: string;
  readonly status: string;
}

/** Null: not to be found yet. */
type TextOf<T> = (record: T) => string | null;

async function waitFor<T extends Common>(
  what: string,
  records: Journal<T>,
  query: Query<T, string>,
  textOf: TextOf<T>,
  subscribe: (listener: (record: T) => void) => () => void,
): Promise<T> {
  const existing = records.all().find((record) => isMatch(record, query, textOf));
  if (existing !== undefined) return existing;
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const unsubscribe = subscribe((record) => {
    if (isMatch(record, query, textOf)) resolve(record);
  });
  const timer = setTimeout(() => {
    const seen = records
      .all()
      .map((record) => `${record.from} → ${record.to} ${record.status}: ${textOf(record) ?? ''}`);
    const wanted = JSON.stringify(query, (_key, value) => (value instanceof RegExp ? String(value) : value));
    reject(new Error(`no ${what} like ${wanted}; seen:\n${seen.slice(-10).join('\n') || 'none'}`));
  }, query.timeoutMs ?? TIMEOUT_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}

function isMatch<T extends Common>(record: T, query: Query<T, string>, textOf: TextOf<T>): boolean {
  const { from, to, status, after, matching } = query;
  const text = textOf(record);
  if (text === null) return false;
  if (to !== undefined && record.to !== to) return false;
  if (from !== undefined && record.from !== from) return false;
  if (status !== undefined && record.status !== status) return false;
  if (after !== undefined && record.seq <= after.seq) return false;
  if (matching === undefined) return true;
  if (typeof matching === 'function') return matching(record);
  return typeof matching === 'string' ? text.includes(matching) : matching.test(text);
}
