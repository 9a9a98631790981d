import type { IncomingMessage } from 'node:http';

import { addressListOf } from '#entry/http/connections/address_list.ts';
import { networkOf } from '#kernel/ip_address.ts';
import type { Log } from '#kernel/log.ts';

/** Most networks to warn about. Anybody can send the header: a few lines tell an operator enough. */
const NETWORKS_MAX = 5;

/**
 * Warns once about each of the first networks that send `X-Forwarded-For` or `Forwarded` without being trusted: behind an untrusted
 * proxy, all clients share the limits of one address.
 */
export function watchForwardedAddresses(
  log: Log,
  trustedProxies: string | undefined,
): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => void {
  const isTrusted = addressListOf(trustedProxies);
  const seen = new Set<string>();
  return ({ headers, socket }) => {
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
    if (!isForwarded || seen.size >= NETWORKS_MAX) return;
    const address = socket.remoteAddress ?? '';
    const network = networkOf(address);
    if (seen.has(network) || isTrusted(address)) return;
    seen.add(network);
    log.warn(
      { address },
      'X-Forwarded-For or Forwarded comes from an address that is not trusted and counts for nothing; if it is your proxy, name it in TRUSTED_PROXIES: until then all clients behind it share the limits of one address',
    );
  };
}
