import { type Static, type TObject, Type } from 'typebox';

export const QUEUE_NAMES = ['ingest', 'paging', 'upkeep', 'uploads'] as const;

export type QueueName = (typeof QUEUE_NAMES)[number];

/**
 * Contract of one kind of background work. Payloads carry ids, not copies: a handler re-reads the rows and decides
 * again, so that a lost, doubled or late job is harmless.
 */
export interface JobContract<Payload extends TObject = TObject> {
  readonly name: string;
  /**
   * Queue of the job: the pager consumes `paging` and nothing else, the worker the others. No job of `upkeep` takes
   * longer than seconds; reading an upload may, so it has a queue of its own.
   */
  readonly queue: QueueName;
  readonly payload: Payload;
  /**
   * Version of the payload, 1 when it is left out. Raised when a handler of the release before would do the wrong thing
   * with a new payload; a new optional field does not raise it. A process that knows a lower one leaves the job to a
   * newer process.
   */
  readonly version?: number;
  /** Deduplication key: jobs with the same key are one job while the first is pending; null: every job is its own. */
  readonly key: ((payload: Static<Payload>) => string) | null;
  readonly attempts: number;
  /** Whether all other jobs of its queue go first, as those of a mailing to thousands should let them. */
  readonly yields?: boolean;
  readonly backoff: { readonly firstDelayMs: number; readonly maxDelayMs: number };
}

/** Queue entry of durable jobs, which does not say which job to run. */
const WakeUp = Type.Object({});

/**
 * Work over bytes that exist only in the job: PostgreSQL stores them until the job has run. The queue only wakes a
 * worker, which runs the next job.
 */
export type DurableJobContract = JobContract<typeof WakeUp>;

/** Field besides those of the payload that holds its version; version 1 has none. */
const VERSION = 'payloadVersion';

export function toStored<Payload>({ version = 1 }: Pick<JobContract, 'version'>, payload: Payload): Payload {
  return version === 1 ? payload : { ...payload, [VERSION]: version };
}

/** Whether a process that knows this contract may run what is stored. Without a contract it knows of no such job. */
export function isKnown(job: JobContract | undefined, stored: unknown): boolean {
  if (job === undefined) return false;
  const version = typeof stored === 'object' && stored !== null && VERSION in stored ? stored[VERSION] : 1;
  return typeof version === 'number' && version <= (job.version ?? 1);
}

export function defineJob<Payload extends TObject>(contract: JobContract<Payload>): JobContract<Payload> {
  return contract;
}

export function defineDurableJob(contract: Omit<DurableJobContract, 'payload' | 'key'>): DurableJobContract {
  return { ...contract, payload: WakeUp, key: null };
}
