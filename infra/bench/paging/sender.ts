import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** One request as its sender saw it; times in milliseconds since 1970. */
export interface Sending {
  readonly startedAtMs: number;
  readonly answeredAtMs: number;
  readonly status: number;
}

/** Reports an exception of its own group, titled by `type`, as a Sentry client does. Resolves also when refused. */
export async function sendException(dsn: string, type: string, eventId = newEventId()): Promise<Sending> {
  const { origin, username, pathname } = new URL(dsn);
  const event = {
    event_id: eventId,
    timestamp: Date.now() / 1_000,
    platform: 'node',
    level: 'error',
    fingerprint: [type],
    exception: { values: [{ type, value: 'it happened' }] },
  };
  const lines = [{ event_id: eventId, sent_at: new Date().toISOString() }, { type: 'event' }, event];
  return await post(`${origin}/api${pathname}/envelope/?sentry_key=${username}`, {
    headers: { 'content-type': 'application/x-sentry-envelope' },
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  });
}

const AGAIN_MS = 250;

/** Retries like a sender with its own queue. Resolves to the id of the event once it is accepted. */
export async function sendUntilTaken(dsn: string, type: string, eventId: string): Promise<string> {
  while ((await sendException(dsn, type, eventId)).status !== 200) await delay(AGAIN_MS);
  return eventId;
}

export const newEventId = (): string => randomBytes(16).toString('hex');

/** Resolves also when refused. */
export async function sendPoint(
  baseUrl: string,
  ingestionKey: string,
  point: { readonly name: string; readonly value: number; readonly labels?: Readonly<Record<string, string>> },
): Promise<Sending> {
  return await post(`${baseUrl}/api/ingest/metrics`, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ingestionKey}` },
    body: JSON.stringify({ points: [point] }),
  });
}

/** Triggers an alert of our own JSON. Resolves also when refused. */
export async function sendAlert(baseUrl: string, alertKey: string, dedupKey: string): Promise<Sending> {
  return await post(`${baseUrl}/api/alerts/events`, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${alertKey}` },
    body: JSON.stringify({ dedupKey, title: dedupKey, severity: 'critical', details: { host: 'db-1' } }),
  });
}

/** Status 0 when nothing answered. */
async function post(url: string, init: { headers: Record<string, string>; body: string }): Promise<Sending> {
  const startedAtMs = Date.now();
  const status = await fetch(url, { method: 'POST', ...init, signal: AbortSignal.timeout(10_000) })
    .then(async (response) => {
      await response.text();
      return response.status;
    })
    .catch(() => 0);
  return { startedAtMs, answeredAtMs: Date.now(), status };
}
