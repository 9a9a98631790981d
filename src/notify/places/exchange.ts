import { connectionFault } from '#kernel/errors.ts';
import { isHeldBack } from '#kernel/held_request.ts';
import type { PlaceOutcome } from '#modules/places/decide/delivery.ts';
import { fieldsOf, parseFields } from '#notify/places/text.ts';

/** Sends a body to an address; refuses addresses that are not on the public Internet (`ERR_NOT_PUBLIC`). */
export type PlaceHttp = (
  url: string,
  message: {
    readonly method: 'POST' | 'PUT' | 'PATCH';
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly timeoutMs: number;
  },
) => Promise<{ readonly status: number; readonly retryAfter: string | null; readonly text: string }>;

/** Longest time that a place may take for an answer. */
const PLACE_TIMEOUT_MS = 10_000;

/** Characters of an answer that people see in the list of deliveries. */
const ANSWER_LENGTH_MAX = 2_000;

interface PlaceRequest {
  readonly url: string;
  readonly method?: 'POST' | 'PUT' | 'PATCH';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly nowMs: number;
  readonly timeoutMs?: number;
}

/** An answer of a place, or why there is none. */
export type PlaceAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Time to wait before the next request; undefined when the place names none. */
      readonly afterMs: number | undefined;
      readonly text: string;
      readonly exchange: Exchange;
    }
  | { readonly kind: 'failed'; readonly outcome: PlaceOutcome };

/** Part of an outcome that says what went over the wire. */
type Exchange = Pick<PlaceOutcome, 'body' | 'status' | 'answer'>;

/** Sends a request and waits for its answer, for ten seconds at most. */
export async function exchange(http: PlaceHttp, request: PlaceRequest): Promise<PlaceAnswer> {
  const { url, method = 'POST', headers, body, nowMs, timeoutMs = PLACE_TIMEOUT_MS } = request;
  try {
    const { status, retryAfter, text } = await http(url, {
      method,
      headers: { 'user-agent': 'tocsin', 'content-length': String(Buffer.byteLength(body)), ...headers },
      body,
      timeoutMs,
    });
    const afterMs = retryAfterMs(retryAfter, nowMs) ?? (status === 429 ? retryAfterIn(text) : undefined);
    const answer = text.slice(0, ANSWER_LENGTH_MAX).toWellFormed().replaceAll('\0', '');
    return { kind: 'answered', status, afterMs, text, exchange: { body, status, answer } };
  } catch (error) {
    if (isHeldBack(error)) throw error;
    return {
      kind: 'failed',
      outcome: { kind: 'retry', reason: sentenceOf(connectionFault(error)), body, status: null, answer: null },
    };
  }
}

/** Returns the outcome that the status alone tells; null where the answer itself has to be read. */
export function outcomeOfStatus(answer: Extract<PlaceAnswer, { kind: 'answered' }>): PlaceOutcome | null {
  const { status, afterMs, exchange: sent } = answer;
  const wait = afterMs === undefined ? {} : { afterMs };
  if (status === 429) return { kind: 'retry', reason: 'The place asks for fewer messages.', ...wait, ...sent };
  if (status >= 500 || status === 408) {
    return { kind: 'retry', reason: `The place answers with status ${status}.`, ...wait, ...sent };
  }
  return null;
}

/** Seconds or a date, as in RFC 9110; undefined for anything else. */
function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** Seconds in the answer itself: Telegram names them nowhere else. */
function retryAfterIn(text: string): number | undefined {
  const seconds = fieldsOf(parseFields(text)['parameters'])['retry_after'];
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : undefined;
}

function sentenceOf(fault: string): string {
  return `${fault.slice(0, 1).toUpperCase()}${fault.slice(1)}.`;
}
