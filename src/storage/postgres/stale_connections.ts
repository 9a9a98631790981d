import type { Pool } from 'pg';

/**
 * Lets a pool leave a server that has become a standby: called when one is found to take no changes, connections that are
 * open by then are closed when their work is done, and new ones go where the address leads now.
 */
export function closerOfStaleConnections(pool: Pool): () => void {
  const openedAtMs = new WeakMap<object, number>();
  let staleBeforeMs = Number.NEGATIVE_INFINITY;
  pool.on('connect', (client) => openedAtMs.set(client, performance.now()));
  pool.on('release', (_error, client) => {
    if ((openedAtMs.get(client) ?? 0) >= staleBeforeMs) return;
    if ('end' in client && typeof client.end === 'function') void client.end();
  });
  return () => void (staleBeforeMs = performance.now());
}
