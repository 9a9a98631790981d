import type { Cipher } from '#auth/cipher.ts';
import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { NEWER_FORMAT, packBytes, unpackBytes } from '#ingest/packing/pack_bytes.ts';
import { type EventContext, type NoEvent, readEvent, type SentEvent } from '#ingest/protocols/sentry/event.ts';
import type { Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';

/** An accepted event on its way to the worker. */
export interface AcceptedEvent {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly sent: SentEvent;
}

/** An event as the worker takes it. */
export interface ArrivedEvent {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly event: ExceptionEvent;
  /** The span of the request that brought it, where that was traced. */
  readonly traceparent?: string | undefined;
}

/** An event that has arrived and is still to be read. */
export interface UnreadEvent {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly eventId: string;
  /** Size of the event as sent. */
  readonly bytes: number;
  /** Returns the event as packed. */
  readonly accepted: () => AcceptedEvent;
  readonly read: () => ArrivedEvent | NoEvent;
}

/** Header of each payload: a line of JSON. */
interface Head extends Omit<EventContext, 'receivedAt'> {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  /** Time of receipt in epoch milliseconds. */
  readonly receivedAt: number;
  /** Length of the payload in bytes; a newline follows it. */
  readonly length: number;
}

const NEWLINE = 0x0a;
const NEWLINE_BYTES = Buffer.from([NEWLINE]);
/** First byte of sealed content. */
const SEALED = 1;

/** Packs events of any services for one job: as sent, including secrets, and therefore sealed. */
export function packEvents(events: readonly AcceptedEvent[], cipher: Pick<Cipher, 'seal'>): Buffer {
  const parts = events.flatMap(({ orgId, serviceId, sent: { context, payload } }) => {
    const receivedAt = context.receivedAt.epochMilliseconds;
    const head: Head = { orgId, serviceId, ...context, receivedAt, length: payload.length };
    return [Buffer.from(`${JSON.stringify(head)}\n`), payload, NEWLINE_BYTES];
  });
  return Buffer.concat([Buffer.of(SEALED), cipher.seal(packBytes(Buffer.concat(parts)))]);
}

/** The inverse of `packEvents`. Throws for what was sealed under another APP_SECRET. */
export function unpackEvents(packed: Buffer, cipher: Pick<Cipher, 'open'>): UnreadEvent[] {
  return listEvents(openEvents(packed, cipher));
}

/** Returns the bytes that `listEvents` reads. */
export function openEvents(packed: Buffer, cipher: Pick<Cipher, 'open'>): Buffer {
  if (packed[0] !== SEALED) throw new Error(NEWER_FORMAT);
  return unpackBytes(unsealed(packed.subarray(1), cipher));
}

export function listEvents(bytes: Buffer): UnreadEvent[] {
  const events: UnreadEvent[] = [];
  for (let at = 0; at < bytes.length;) {
    const headEnd = bytes.indexOf(NEWLINE, at);
    const { orgId, serviceId, receivedAt, length, ...context } = JSON.parse(
      bytes.toString('utf8', at, headEnd),
    ) as Head;
    const payload = bytes.subarray(headEnd + 1, headEnd + 1 + length);
    const sent = (): SentEvent => ({
      context: { ...context, receivedAt: fromEpochMilliseconds(receivedAt) },
      payload,
    });
    const read = (): ArrivedEvent | NoEvent => {
      const event = readEvent(sent());
      return typeof event === 'string' ? event : { orgId, serviceId, event, traceparent: context.traceparent };
    };
    const accepted = (): AcceptedEvent => ({ orgId, serviceId, sent: sent() });
    events.push({ orgId, serviceId, eventId: context.eventId, bytes: length, accepted, read });
    at = headEnd + length + 2;
  }
  return events;
}

function unsealed(sealed: Buffer, cipher: Pick<Cipher, 'open'>): Buffer {
  try {
    return cipher.open(sealed);
  } catch (cause) {
    throw new Error('events wait that were accepted under another APP_SECRET; set that one again', { cause });
  }
}
