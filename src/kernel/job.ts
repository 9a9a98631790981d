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

/** What the queue holds of durable jobs does not say which job to run. */
const WakeUp = Type.Object({ keptId: Type.String() });

/**
 * Work over bytes that exist only in the job: PostgreSQL stores them until the job has run. The queue only wakes a
 * worker, which runs the next job.
 */
export type DurableJobContract = JobContract<typeof WakeUp>;

export function defineJob<Payload extends TObject>(contract: JobContract<Payload>): JobContract<Payload> {
  return contract;
}

export function defineDurableJob(contract: Omit<DurableJobContract, 'payload' | 'key'>): DurableJobContract {
  return { ...contract, payload: WakeUp, key: null };
}
