import { constants, zstdCompressSync, zstdDecompressSync, type ZstdOptions } from 'node:zlib';

import type { Cipher } from '#auth/cipher.ts';
import { type EventContext, type NoEvent, readEvent, type SentEvent } from '#ingest/protocols/sentry/event.ts';
import { runZlibSync } from '#ingest/inflate.ts';
import type { Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';

/** An accepted event on its way to the worker. */
export interface AcceptedEvent {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly sent: SentEvent;
}

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
    const sent = (): SentEvent => ({ context: { ...context, receivedAt: fromEpochMilliseconds(receivedAt) }, payload });
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

/** Size below which compressing saves less than it costs. */
const COMPRESSED_FROM_BYTES = 1_024;
const FAST: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Size of the length prefix: the length of the bytes once unpacked, or 0 if they follow uncompressed. */
const LENGTH_BYTES = 4;

/** A worker of an earlier release cannot read it: the job fails here, and is kept and tried again until a newer one does. */
export const NEWER_FORMAT = 'a newer release has packed this job; it waits for a worker of that release';

/**
 * Compressed unless they are few. At most some milliseconds for the megabyte that a job holds; off the event loop it
 * would take several times as long.
 */
export function packBytes(bytes: Buffer): Buffer {
  const isCompressed = bytes.length >= COMPRESSED_FROM_BYTES;
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(isCompressed ? bytes.length : 0);
  return Buffer.concat([length, isCompressed ? runZlibSync(zstdCompressSync, bytes, FAST) : bytes]);
}

/** The inverse of `packBytes`; trusts its input. */
export function unpackBytes(packed: Buffer): Buffer {
  const length = packed.readUInt32BE();
  const bytes = packed.subarray(LENGTH_BYTES);
  // One byte more than needed: zlib takes as much memory again once its output is full.
  return length === 0 ? bytes : runZlibSync(zstdDecompressSync, bytes, { chunkSize: length + 1 });
}

/** Returns the length of the bytes once unpacked. */
export function unpackedLength(packed: Buffer): number {
  return packed.readUInt32BE() || packed.length - LENGTH_BYTES;
}
