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

/**
 * Normalizes every address that proxies report: some add the port of the client, which would make each connection
 * another client. Entries that are not addresses are kept.
 */
export function spellForwardedAddresses({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const sent = headers[FORWARDED_FOR];
  if (typeof sent !== 'string') return;
  const entries = sent.split(',').map((entry) => parseIpAddress(entry) ?? entry.trim());
  headers[FORWARDED_FOR] = entries.join(', ');
}
