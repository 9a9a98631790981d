import type { Static, TObject } from 'typebox';

export const QUEUE_NAMES = ['ingest', 'paging', 'upkeep'] as const;

export type QueueName = (typeof QUEUE_NAMES)[number];

/**
 * The contract of one kind of background work. Payloads carry ids, not copies: a handler re-reads the rows and
 * decides again, so that a lost, doubled or late job is harmless.
 */
export interface JobContract<Payload extends TObject = TObject> {
  readonly name: string;
  /** The line it waits in: pages never wait behind data, nor either behind upkeep. */
  readonly queue: QueueName;
  readonly payload: Payload;
  /** Jobs with the same key are one job while the first is pending; null lets every job stand for itself. */
  readonly key: ((payload: Static<Payload>) => string) | null;
  readonly attempts: number;
  readonly backoff: { readonly firstDelayMs: number; readonly maxDelayMs: number };
  /** Its payload is the only home of what it is about, and is kept in PostgreSQL until it has run. */
  readonly isKept?: true;
}

export function defineJob<Payload extends TObject>(contract: JobContract<Payload>): JobContract<Payload> {
  return contract;
}
