import { createHash } from 'node:crypto';

/**
 * The token by which ClickHouse recognizes a batch that is inserted again. It is made from the content: the id of the
 * job would not do, because the queue counts from 1 again when its store is lost, and ClickHouse silently drops a batch
 * with an old token.
 */
export function deduplicationToken(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}
