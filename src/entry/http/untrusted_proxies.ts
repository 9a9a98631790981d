import type { IncomingMessage } from 'node:http';

import { addressListOf } from '#entry/http/address_list.ts';
import { networkOf } from '#auth/network.ts';
import type { Log } from '#kernel/log.ts';

/** Anybody can send the header: a few lines say all that an operator needs. */
const NETWORKS_MAX = 5;

/**
 * Warns once of each of the first networks that sends `X-Forwarded-For` without being trusted: behind a proxy that is not,
 * all clients share the limits of one address.
 */
export function watchForwardedAddresses(
  log: Log,
  trustedProxies: string | undefined,
): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => void {
  const isTrusted = addressListOf(trustedProxies);
  const seen = new Set<string>();
  return ({ headers, socket }) => {
    if (headers['x-forwarded-for'] === undefined || seen.size >= NETWORKS_MAX) return;
    const address = socket.remoteAddress ?? '';
    const network = networkOf(address);
    if (seen.has(network) || isTrusted(address)) return;
    seen.add(network);
    log.warn(
      { address },
      'X-Forwarded-For comes from an address that is not trusted and counts for nothing; if it is your proxy, name it in TRUSTED_PROXIES: until then all clients behind it share the limits of one address',
    );
  };
}
