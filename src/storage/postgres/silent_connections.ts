import type { Socket } from 'node:net';

import type { Pool } from 'pg';

/**
 * Ends a connection that says nothing for so long while it is in use. A network that lost packets for a while leaves
 * connections open whose next try TCP puts off ever longer: without this, work would wait for them long after the network
 * is back. What was asked fails as when the connection is lost.
 */
export function endSilentConnections(pool: Pool, silenceMsMax: number): void {
  const watched = new WeakMap<object, Socket>();
  pool.on('connect', (client) => {
    const stream = streamOf(client);
    if (stream === null) return;
    watched.set(client, stream);
    stream.on('timeout', () => stream.destroy());
  });
  pool.on('acquire', (client) => watched.get(client)?.setTimeout(silenceMsMax));
  pool.on('release', (_error, client) => watched.get(client)?.setTimeout(0));
}

/** The driver keeps it in a field that its types do not name. */
function streamOf(client: object): Socket | null {
  const { connection } = client as { readonly connection?: { readonly stream?: Socket } };
  return connection?.stream ?? null;
}
