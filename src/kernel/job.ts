import { type Static, type TObject, Type } from 'typebox';

export const QUEUE_NAMES = ['ingest', 'paging', 'upkeep'] as const;

export type QueueName = (typeof QUEUE_NAMES)[number];

/**
 * The contract of one kind of background work. Payloads carry ids, not copies: a handler re-reads the rows and
 * decides again, so that a lost, doubled or late job is harmless.
 */
export interface JobContract<Payload extends TObject = TObject> {
  readonly name: string;
  /** The queue it waits in: the pager consumes `paging` and nothing else, the worker the other two. */
  readonly queue: QueueName;
  readonly payload: Payload;
  /** Jobs with the same key are one job while the first is pending; null lets every job stand for itself. */
  readonly key: ((payload: Static<Payload>) => string) | null;
  readonly attempts: number;
  readonly backoff: { readonly firstDelayMs: number; readonly maxDelayMs: number };
}

/** What the queue holds of kept jobs says nothing of what is to be done. */
const WakeUp = Type.Object({ keptId: Type.String() });

/**
 * Work over bytes that are the only home of what they hold: they are kept in PostgreSQL until it has run, and the queue
 * only wakes a worker, which takes whatever is next.
 */
export type KeptJobContract = JobContract<typeof WakeUp>;

export function defineJob<Payload extends TObject>(contract: JobContract<Payload>): JobContract<Payload> {
  return contract;
}

export function defineKeptJob(contract: Omit<KeptJobContract, 'payload' | 'key'>): KeptJobContract {
  return { ...contract, payload: WakeUp, key: null };
}
