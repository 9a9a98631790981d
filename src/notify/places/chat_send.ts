import type { PlaceOutcome } from '#modules/places/decide/delivery.ts';
import { exchange, outcomeOfStatus, type PlaceAnswer, type PlaceHttp } from '#notify/places/exchange.ts';

type Answered = Extract<PlaceAnswer, { kind: 'answered' }>;

/** A request to a vendor with JSON over HTTP, and how its answer is read. */
interface ChatRequest {
  readonly http: PlaceHttp;
  readonly url: string;
  readonly method?: 'POST' | 'PUT' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload: object;
  /** Names of fields of the payload that hold secrets: the list of deliveries shows `…` instead of their values. */
  readonly hides?: readonly string[];
  readonly nowMs: number;
  /** Returns the ids of the message; null when the answer has none. */
  readonly referenceOf?: (answer: Answered) => Readonly<Record<string, string>> | null;
  readonly reasons?: Readonly<Record<number, string>>;
}

/** Outcome of a request, and the status by which a message that is gone is recognized. */
export interface ChatSent {
  readonly outcome: PlaceOutcome;
  readonly status: number | null;
  readonly text: string;
}

/**
 * Sends one request. Status 400, 413 and 422 say that the message will never be taken; every other refusal can be mended by
 * a person, so it is tried again.
 */
export async function sendJson(request: ChatRequest): Promise<ChatSent> {
  const { http, url, method = 'POST', headers = {}, payload, hides = [], nowMs, referenceOf = () => null } = request;
  const body = JSON.stringify(payload);
  const sending = { url, method, headers: { 'content-type': 'application/json', ...headers }, body, nowMs };
  const shown = JSON.stringify(payload, (name, value: unknown) => (hides.includes(name) ? '…' : value));
  const answer = await exchange(http, sending);
  if (answer.kind === 'failed') return { outcome: { ...answer.outcome, body: shown }, status: null, text: '' };
  const { status, text } = answer;
  const sent = { ...answer.exchange, body: shown };
  const byStatus = outcomeOfStatus({ ...answer, exchange: sent });
  if (byStatus !== null) return { outcome: byStatus, status, text };
  if (status >= 200 && status < 300) {
    return { outcome: { kind: 'sent', reference: referenceOf(answer), ...sent }, status, text };
  }
  const isOfMessage = status === 400 || status === 413 || status === 422;
  const reason = request.reasons?.[status] ?? `It answers with status ${status}.`;
  return { outcome: { kind: isOfMessage ? 'refused' : 'retry', reason, ...sent }, status, text };
}

/** Leaves out the reference of a message that is not changed later: only that of an incident is. */
export function withoutReference(outcome: PlaceOutcome): PlaceOutcome {
  return outcome.kind === 'sent' ? { ...outcome, reference: null } : outcome;
}
