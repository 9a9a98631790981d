import type { Socket } from 'node:net';

import type { DecodedPoints, PointLimits } from '#ingest/admission/point_admission.ts';
import type { Steps } from '#kernel/steps.ts';
import type { CORE_SETTINGS, ValuesOf } from '#kernel/config.ts';
import type { Log } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';

export type DecodePoints = (now: Temporal.Instant, limits: PointLimits) => Steps<DecodedPoints>;

/** A series by its name and its labels, in pairs and in any order. */
export interface NamedSeries {
  readonly name: string;
  readonly tags: readonly (readonly [name: string, value: string])[];
}

/** The service whose key was shown. */
export interface PortSender {
  readonly serviceId: string;
  /** Takes points as over HTTP, within the same limits; resolves once they are stored durably. Throws an AppError. */
  take(decode: DecodePoints): Promise<DecodedPoints>;
  /** Returns the value of each series that was stored last within a day; null if there is none. Throws `unavailable`. */
  newestValues(series: readonly NamedSeries[]): Promise<readonly (number | null)[]>;
  /** Counts points that cannot even be read, or are of no use, for the page of the service. */
  refuse(points: number, reason?: 'faulty' | 'no_metric'): void;
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
