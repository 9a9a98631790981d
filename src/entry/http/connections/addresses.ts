import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';

import { networkOf, parseIpAddress } from '#kernel/ip_address.ts';
import type { Log } from '#kernel/log.ts';

/** Normalizes the address of a connection before anything reads it. */
export function spellAddressOf(socket: Socket): void {
  const sent = socket.remoteAddress;
  const address = sent === undefined ? null : parseIpAddress(sent);
  if (address !== null && address !== sent) Object.defineProperty(socket, 'remoteAddress', { value: address });
}

const FORWARDED_FOR = 'x-forwarded-for';

/** Addresses in `Forwarded` (RFC 7239, 4): `for=192.0.2.60;proto=http, for="[2001:db8::17]:4711"`. */
const FORWARDED_ADDRESS = /(?:^|[;,\s])for=("[^"]{1,200}"|[^\s",;]{1,200})/gi;

/** Address of a client that its proxy does not tell, as RFC 7239 spells it. */
const UNKNOWN = 'unknown';

/**
 * Normalizes every address that proxies report: some add the port of the client, which would make each connection
 * another client. Whatever is no address is `unknown`: a name of a proxy's own for each connection would do the same. A
 * proxy that writes only `Forwarded` is understood, too.
 */
export function spellForwardedAddresses({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const sent = headers[FORWARDED_FOR] ?? addressesIn(headers.forwarded);
  if (typeof sent !== 'string') return;
  const entries = sent.split(',').map((entry) => parseIpAddress(entry) ?? UNKNOWN);
  headers[FORWARDED_FOR] = entries.join(', ');
}

function addressesIn(forwarded: string | undefined): string | undefined {
  const entries = [...(forwarded ?? '').matchAll(FORWARDED_ADDRESS)].map(([, address = '']) => address);
  return entries.length === 0 ? undefined : entries.map((entry) => entry.replaceAll('"', '')).join(', ');
}

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

/** Returns a function that tells whether an address is in a list such as `a,b/24`, as settings write it. */
export function addressListOf(list: string | undefined): (address: string) => boolean {
  const blocks = new BlockList();
  for (const entry of (list ?? '').split(',').map((part) => part.trim())) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) continue;
    if (prefix === undefined) blocks.addAddress(address, family);
    else blocks.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const family = isIP(address);
    return family > 0 && blocks.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Client address of a request that is passed on, as trusted proxies report it. */
export const clientAddresses = new WeakMap<IncomingMessage, string>();
