import type { Socket } from 'node:net';

import type { DecodedPoints, PointLimits } from '#ingest/admission/point_admission.ts';
import type { SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import type { CORE_SETTINGS, ValuesOf } from '#kernel/config.ts';
import type { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ItemRefusal } from '#modules/services/decide/ingest_refusal.ts';

export interface ProtocolAnswer {
  readonly status: number;
  /** Content type; null if there is no body. */
  readonly contentType: string | null;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface EncodedAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Bodies by their content type, as OpenAPI describes them. */
type MediaTypes = Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;

/** Description of a protocol in the published API document. */
export interface ProtocolReference {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Schemas that have a name of their own in the document. */
  readonly schemas?: Readonly<Record<string, object>>;
  readonly request: MediaTypes;
  /** Response to an accepted request. */
  readonly accepted: { readonly status: number; readonly description: string; readonly content?: MediaTypes };
  /** The body of a refusal where the protocol prescribes one; else it is a problem. */
  readonly refused?: { readonly description: string; readonly content: MediaTypes };
}

/** A way to send metrics: its address, how its bodies are read and answered, and how it is published. */
export interface MetricProtocol {
  /** The name of its file in protocols/. */
  readonly name: string;
  readonly path: string;
  /** Limit on the size of a body, both as received and once inflated. */
  readonly bodyBytesMax: number;
  /** Content encoding that is part of the protocol: `decode` removes it. Also assumed for a request that names none. */
  readonly ownEncoding?: string;
  /** Decodes bodies in other encodings like `decode`, once these are undone. */
  readonly decodeInflated?: MetricProtocol['decode'];
  /** The longest wait that senders are asked for, as some give up at once when it is longer than their deadline. */
  readonly retrySecondsMax?: number;
  /** Throws an AppError for a body that cannot be read at all; a point that cannot be taken is only counted. */
  readonly decode: (
    body: Buffer,
    contentType: string | undefined,
    now: Temporal.Instant,
    limits: PointLimits,
    /** State carried over from earlier requests; one instance for everything that a process accepts. */
    memory: SeriesMemory,
  ) => Steps<DecodedPoints>;
  /** Returns the response; may throw `invalid_input` if nothing could be accepted. */
  readonly answer: (decoded: DecodedPoints, contentType: string | undefined) => ProtocolAnswer;
  /** The body of a refusal where the protocol prescribes one. Without it, or where it gives null, it is a problem. */
  readonly refusal?: (error: AppError, contentType: string | undefined) => EncodedAnswer | null;
  readonly reference: ProtocolReference;
}

export type DecodePoints = (now: Temporal.Instant, limits: PointLimits) => Steps<DecodedPoints>;

/** A series by its name and its labels, in pairs and in any order. */
export interface NamedSeries {
  readonly name: string;
  readonly tags: readonly (readonly [name: string, value: string])[];
}

/** Reason for which a point that came to a port was not taken. */
export type PortRefusal = Extract<ItemRefusal, 'faulty' | 'not_finite' | 'no_metric' | 'no_room'>;

/** The service whose key was shown. */
export interface PortSender {
  readonly serviceId: string;
  /** Takes points as over HTTP, within the same limits; resolves once they are stored durably. Throws an AppError. */
  take(decode: DecodePoints): Promise<DecodedPoints>;
  /** Returns the value of each series that was stored last within a day; null if there is none. Throws `unavailable`. */
  newestValues(series: readonly NamedSeries[]): Promise<readonly (number | null)[]>;
  /** Counts points that cannot even be read, or are of no use, for the page of the service. */
  refuse(points: number, reason?: PortRefusal): void;
  /** Counts a call that was refused unread, for the page of the service. */
  refuseCall(error: AppError): void;
}

/** The connections of the port. Those without a valid key are few and short. */
export interface PortConnections {
  /** Admits a connection; returns false if there is no room for it, and it was closed. */
  admit(socket: Socket): boolean;
  /** The connection has shown a good key just now; told each time. */
  setKnown(socket: Socket): void;
  /** Closes a connection whose bodies come in pieces that are too small. */
  refusePieces(socket: Socket): void;
}

export interface PortOptions {
  readonly host: string;
  /** Port to listen on; 0 for any free one. */
  readonly port: number;
  readonly settings: ValuesOf<typeof CORE_SETTINGS>;
  /** The sender with this ingestion key; throws as over HTTP, and counts bad keys by the address. */
  open(key: string, address: string): Promise<PortSender>;
  readonly connections: PortConnections;
  /** Minimum average size, in bytes, of the pieces in which a body arrives. */
  readonly pieceBytesMin: number;
  now(): Temporal.Instant;
  readonly log: Log;
}

export interface OpenPort {
  readonly port: number;
  /** Takes nothing more and stores what was taken. */
  close(): Promise<void>;
}

/** A way to send metrics that has a port of its own instead of a path of the HTTP API. */
export interface PortProtocol {
  /** The name of its file in protocols/. */
  readonly name: string;
  /** Returns the configured port; 0 while the protocol is off. */
  portOf(settings: ValuesOf<typeof CORE_SETTINGS>): number;
  listen(options: PortOptions): Promise<OpenPort>;
}
