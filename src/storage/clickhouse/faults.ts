import { AppError, isUnreachable, messageOf } from '#kernel/errors.ts';

/** The client's own errors have no code. */
export function isClickHouseUnreachable(error: unknown): boolean {
  return isUnreachable(error) || /Timeout error|socket hang up|aborted/.test(messageOf(error));
}

/**
 * Faults of a server or a cluster that pass, or that somebody mends, by the name that ClickHouse gives them: what was
 * asked is right, and may be asked again.
 */
const PASSING: Readonly<Record<string, string>> = {
  ABORTED: 'ClickHouse is shutting down',
  ALL_CONNECTION_TRIES_FAILED: 'a shard of ClickHouse does not answer',
  ALL_REPLICAS_ARE_STALE: 'every replica of a shard of ClickHouse is behind',
  ALL_REPLICAS_LOST: 'every replica of a shard of ClickHouse has lost its data',
  KEEPER_EXCEPTION: 'ClickHouse cannot reach its Keeper',
  NETWORK_ERROR: 'a shard of ClickHouse does not answer',
  NO_ACTIVE_REPLICAS: 'no replica of a shard of ClickHouse is active',
  NO_REPLICA_HAS_PART: 'a replica of ClickHouse misses rows that others have',
  NO_ZOOKEEPER: 'ClickHouse cannot reach its Keeper',
  REPLICA_IS_NOT_IN_QUORUM: 'a replica of ClickHouse does not have every row yet',
  SOCKET_TIMEOUT: 'a shard of ClickHouse does not answer',
  TABLE_IS_READ_ONLY: 'a replica of ClickHouse is read-only, because it has lost its Keeper',
  TOO_FEW_LIVE_REPLICAS: 'too few replicas of ClickHouse are there to store anything durably',
  TOO_MANY_PARTS: 'ClickHouse cannot keep up with merging what was stored',
  TOO_MANY_SIMULTANEOUS_QUERIES: 'ClickHouse answers too many queries at the same time',
  UNKNOWN_STATUS_OF_INSERT: 'ClickHouse does not know whether enough replicas have stored it',
  UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE: 'too few replicas of ClickHouse have what was stored before',
};

/** Returns the type of ClickHouse's error, such as `TABLE_IS_READ_ONLY`; empty for other errors. */
export function faultTypeOf(error: unknown): string {
  if (!(error instanceof Error) || !('type' in error)) return '';
  return typeof error.type === 'string' ? error.type : '';
}

/** Whether another node may do what this one could not. */
export function isFaultOfNode(error: unknown): boolean {
  return isClickHouseUnreachable(error) || OF_NODE.has(faultTypeOf(error));
}

const OF_NODE: ReadonlySet<string> = new Set([
  'ABORTED',
  'ALL_CONNECTION_TRIES_FAILED',
  'KEEPER_EXCEPTION',
  'NETWORK_ERROR',
  'NO_ZOOKEEPER',
  'REPLICA_IS_NOT_IN_QUORUM',
  'SOCKET_TIMEOUT',
  'TABLE_IS_READ_ONLY',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
]);

/** Runs a query; throws `unavailable` (503) when ClickHouse does not answer or cannot do its work now, unlike for a wrong query. */
export async function withClickHouseErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toClickHouseFault(error);
  }
}

function toClickHouseFault(error: unknown): unknown {
  if (isClickHouseUnreachable(error)) {
    return unavailable('the metric store does not answer, try again shortly', 5, error);
  }
  if (isFull(error))
    return unavailable('the disk of the metric store is full; nothing is lost, try again later', 30, error);
  const passing = PASSING[faultTypeOf(error)];
  return passing === undefined ? error : unavailable(`${passing}; nothing is lost, try again shortly`, 5, error);
}

function unavailable(message: string, retryAfterSeconds: number, cause: unknown): AppError {
  return new AppError('unavailable', message, { cause, retryAfterSeconds });
}

/** Whether the server, or the operating system through it, says that the disk is full. */
function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return faultTypeOf(error) === 'NOT_ENOUGH_SPACE' || /No space left on device|ENOSPC/.test(error.message);
}
