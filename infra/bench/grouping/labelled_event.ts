import { readFileSync } from 'node:fs';
import path from 'node:path';

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

/** Errors of two builds of a program in each language, by the compilers of Debian 12; see `record_compiled.ts`. */
export const RECORDED_FILE = path.join(import.meta.dirname, 'recorded.json');

export interface RecordedError {
  readonly platform: string;
  readonly label: string;
  readonly type: string;
  readonly value: string;
  readonly frames: readonly unknown[];
}

export function recordedErrors(): readonly LabelledEvent[] {
  const errors = JSON.parse(readFileSync(RECORDED_FILE, 'utf8')) as readonly RecordedError[];
  return errors.map(({ platform, label, type, value, frames }) => ({
    label,
    event: eventOfClient({ platform, exception: { values: [{ type, value, stacktrace: { frames } }] } }),
  }));
}
