import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { Temporal } from '#kernel/time.ts';

export interface LabelledEvent {
  readonly label: string;
  readonly event: ExceptionEvent;
}

const AT = Temporal.Instant.from('2027-01-31T12:00:00Z');

/** Decodes an event as a client sends it. */
export function eventOfClient(payload: Readonly<Record<string, unknown>>): ExceptionEvent {
  const context = { eventId: '9f3329ff52304ef080395b9b8bf31b50', receivedAt: AT, clientIp: null, client: null };
  const event = readEvent({ context, payload: Buffer.from(JSON.stringify(payload)) });
  if (typeof event === 'string') throw new Error(`not an event: ${event}`);
  return event;
}

export function messageEvent(message: string): ExceptionEvent {
  return eventOfClient({ platform: 'other', message });
}
