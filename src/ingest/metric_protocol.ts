import type { DecodedPoints, PointLimits } from '#ingest/admission/point_admission.ts';
import type { Steps } from '#kernel/steps.ts';
import type { SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import type { AppError } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

/** What a sender is told. */
export interface ProtocolAnswer {
  readonly status: number;
  /** Null where there is no body. */
  readonly contentType: string | null;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A body in the encoding that the sender chose. */
export interface EncodedAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Bodies by their content type, as OpenAPI describes them. */
export type MediaTypes = Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;

/** What the published document says of a protocol. */
export interface ProtocolReference {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Schemas that have a name of their own in the document. */
  readonly schemas?: Readonly<Record<string, object>>;
  /** What is sent. */
  readonly request: MediaTypes;
  /** What answers a request that is accepted. */
  readonly accepted: { readonly status: number; readonly description: string; readonly content?: MediaTypes };
  /** The body of a refusal where the protocol prescribes one; else it is a problem. */
  readonly refused?: { readonly description: string; readonly content: MediaTypes };
}

/** A way to send metrics: its address, how its bodies are read and answered, and how it is published. */
export interface MetricProtocol {
  /** The name of its file in protocols/. */
  readonly name: string;
  readonly path: string;
  /** Of a body, as it arrives and once it is inflated. */
  readonly bodyBytesMax: number;
  /** Content encodings that belong to the protocol, which `decode` undoes; of a request that names none, too. */
  readonly ownEncoding?: string;
  /** `decode` for bodies in other encodings, once these are undone. */
  readonly decodeInflated?: MetricProtocol['decode'];
  /** The longest wait that senders are asked for, as some give up at once when it is longer than their deadline. */
  readonly retrySecondsMax?: number;
  /** Throws an AppError for a body that cannot be read at all; a point that cannot be taken is only counted. */
  readonly decode: (
    body: Buffer,
    contentType: string | undefined,
    now: Temporal.Instant,
    limits: PointLimits,
    /** What requests before this one have brought; one for all that a process takes. */
    memory: SeriesMemory,
  ) => Steps<DecodedPoints>;
  /** May throw `invalid_input` when nothing could be taken. */
  readonly answer: (decoded: DecodedPoints, contentType: string | undefined) => ProtocolAnswer;
  /** The body of a refusal where the protocol prescribes one. Without it, or where it gives null, it is a problem. */
  readonly refusal?: (error: AppError, contentType: string | undefined) => EncodedAnswer | null;
  readonly reference: ProtocolReference;
}
