import { type ExceptionEvent, parseEvent } from '#core/exceptions/event.ts';
import { packBytes, unpackBytes } from '#ingest/packing/packed_bytes.ts';
import type { Id } from '#kernel/ids.ts';

/** An accepted event on its way to the worker, as `serializeEvent` wrote it. */
export interface AcceptedEvent {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly event: string;
}

/** An event as the worker takes it. */
export interface ArrivedEvent {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly event: ExceptionEvent;
  /** As it came, for storing it. */
  readonly text: string;
}

/** Events of any services for one job. */
export function packEvents(events: readonly AcceptedEvent[]): Buffer {
  const lines = events.map(({ orgId, serviceId, event }) => `${orgId} ${serviceId} ${event}`);
  return packBytes(Buffer.from(lines.join('\n'), 'utf8'));
}

/** The inverse of `packEvents`. */
export function unpackEvents(packed: Buffer): ArrivedEvent[] {
  const text = unpackBytes(packed).toString('utf8');
  return text.split('\n').map((line) => {
    const first = line.indexOf(' ');
    const second = line.indexOf(' ', first + 1);
    const event = line.slice(second + 1);
    return {
      orgId: line.slice(0, first) as Id<'org'>,
      serviceId: line.slice(first + 1, second) as Id<'service'>,
      event: parseEvent(event),
      text: event,
    };
  });
}
