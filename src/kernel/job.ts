import type { Static, TObject } from 'typebox';

/**
 * The contract of one kind of background work. Payloads carry ids, not copies: a handler re-reads the rows and
 * decides again, so that a lost, doubled or late job is harmless.
 */
export interface JobContract<Payload extends TObject = TObject> {
  readonly name: string;
  readonly payload: Payload;
  /** Jobs with the same key are one job while the first is pending; null lets every job stand for itself. */
  readonly key: ((payload: Static<Payload>) => string) | null;
  readonly attempts: number;
  readonly backoff: { readonly firstDelayMs: number; readonly maxDelayMs: number };
}

export function defineJob<Payload extends TObject>(contract: JobContract<Payload>): JobContract<Payload> {
  return contract;
}
