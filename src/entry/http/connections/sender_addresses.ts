import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { parseIpAddress } from '#kernel/ip_address.ts';

/** Normalizes the address of a connection before anything reads it. */
export function spellAddressOf(socket: Socket): void {
  const sent = socket.remoteAddress;
  const address = sent === undefined ? null : parseIpAddress(sent);
  if (address !== null && address !== sent) Object.defineProperty(socket, 'remoteAddress', { value: address });
}

const FORWARDED_FOR = 'x-forwarded-for';

/** Addresses in `Forwarded` (RFC 7239, 4): `for=192.0.2.60;proto=http, for="[2001:db8::17]:4711"`. */
const FORWARDED_ADDRESS = /(?:^|[;,\s])for=("[^"]{1,200}"|[^\s",;]{1,200})/gi;

/**
 * Normalizes every address that proxies report: some add the port of the client, which would make each connection
 * another client. Entries that are not addresses are kept. A proxy that writes only `Forwarded` is understood, too.
 */
export function spellForwardedAddresses({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const sent = headers[FORWARDED_FOR] ?? addressesIn(headers.forwarded);
  if (typeof sent !== 'string') return;
  const entries = sent.split(',').map((entry) => parseIpAddress(entry) ?? entry.trim());
  headers[FORWARDED_FOR] = entries.join(', ');
}

function addressesIn(forwarded: string | undefined): string | undefined {
  const entries = [...(forwarded ?? '').matchAll(FORWARDED_ADDRESS)].map(([, address = '']) => address);
  return entries.length === 0 ? undefined : entries.map((entry) => entry.replaceAll('"', '')).join(', ');
}
