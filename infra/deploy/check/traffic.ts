import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Addresses for the senders of one service. */
export interface Target {
  readonly baseUrl: string;
  readonly dsn: string;
  readonly ingestionKey: string;
}

export const EVENTS_PER_SECOND = 100;
export const POINTS_PER_SECOND = 10_000;
const TICK_MS = 100;

/** Senders that keep their rate until they are stopped. */
export interface Traffic {
  /** Resolves once every request has been answered. */
  stop(): Promise<{ readonly events: Sent; readonly points: Sent; readonly refusals: string }>;
}

interface Sent {
  readonly sent: number;
  /** Requests that the API answered with 2xx. */
  readonly accepted: number;
}

export function sendTraffic({ baseUrl, dsn, ingestionKey }: Target): Traffic {
  const { origin, pathname, username } = new URL(dsn);
  const project = pathname.split('/').at(-1) ?? '';
  const envelopeUrl = `${origin}${pathname.slice(0, -project.length)}api/${project}/envelope/`;
  const counts = { events: { sent: 0, accepted: 0 }, points: { sent: 0, accepted: 0 } };
  const refusals = new Map<string, number>();
  const refuse = (why: string): void => void refusals.set(why, (refusals.get(why) ?? 0) + 1);
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();

  const post = (count: { sent: number; accepted: number }, items: number, url: string, request: RequestInit): void => {
    count.sent += items;
    const answered = fetch(url, { method: 'POST', ...request, signal: AbortSignal.timeout(20_000) })
      .then(async (response) => {
        await response.arrayBuffer();
        if (response.ok) count.accepted += items;
        else refuse(`status ${response.status}`);
      })
      .catch((error: unknown) => refuse(causeOf(error)))
      .finally(() => underWay.delete(answered));
    underWay.add(answered);
  };
  const tick = (): void => {
    for (let index = 0; index < (EVENTS_PER_SECOND * TICK_MS) / 1_000; index += 1) {
      const headers = { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${username}` };
      post(counts.events, 1, envelopeUrl, { headers, body: envelope() });
    }
    const points = Array.from({ length: (POINTS_PER_SECOND * TICK_MS) / 1_000 }, (_, index) => {
      return { name: `load_${index % 100}`, value: Math.random() };
    });
    const headers = { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' };
    post(counts.points, points.length, `${baseUrl}/api/ingest/metrics`, { headers, body: JSON.stringify({ points }) });
  };
  const sending = (async () => {
    let due = performance.now();
    while (!stopping.signal.aborted) {
      tick();
      due += TICK_MS;
      await delay(Math.max(0, due - performance.now()));
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await sending;
      await Promise.all(underWay);
      return { ...counts, refusals: [...refusals].map(([why, times]) => `${times} × ${why}`).join(', ') };
    },
  };
}

/** One exception of one group, as Sentry's clients send it. */
function envelope(): string {
  const eventId = randomUUID().replaceAll('-', '');
  const event = {
    event_id: eventId,
    timestamp: Date.now() / 1_000,
    platform: 'node',
    level: 'error',
    exception: {
      values: [
        {
          type: 'TypeError',
          value: 'load of the check',
          stacktrace: { frames: [{ filename: 'app/checkout.js', function: 'pay', lineno: 10, in_app: true }] },
        },
      ],
    },
  };
  const body = JSON.stringify(event);
  return `${JSON.stringify({ event_id: eventId })}\n${JSON.stringify({ type: 'event', length: Buffer.byteLength(body) })}\n${body}\n`;
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  return error.cause instanceof Error ? error.cause.message : error.message;
}
