import { createHash } from 'node:crypto';

/**
 * Names a batch for ClickHouse's deduplication by what it holds. A job's id would not do: the queue's counter begins
 * anew when its store is lost, and a batch under an old name is dropped without a word.
 */
export function tokenOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}
