import { isIPv4, isIPv6 } from 'node:net';

/** Addresses as proxies write them: `203.0.113.7:51423`, `[2001:db8::7]:51423` and `[2001:db8::7]`. */
const WITH_PORT = /^"?(?:\[([^\]]+)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?)"?$/;
const ADDRESS_LENGTH_MAX = 100;

/**
 * Parses an IP address as sockets, proxies and clients write it, and returns it in its one spelling: without a port and
 * a zone, in lower case, IPv4 within IPv6 as IPv4. Null for what is no address.
 */
export function parseIpAddress(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length > ADDRESS_LENGTH_MAX) return null;
  const [, inBrackets, beforePort] = WITH_PORT.exec(trimmed) ?? [];
  const address = (inBrackets ?? beforePort ?? trimmed).replace(/%.*$/s, '');
  if (isIPv4(address)) return address;
  return isIPv6(address) ? shortest(address) : null;
}

function shortest(address: string): string {
  const spelt = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(spelt) ?? [];
  if (high === undefined || low === undefined) return spelt;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 0xff, second >> 8, second & 0xff].join('.');
}

/** Translated IPv4 addresses (RFC 6052), each of which is a client of its own. */
const TRANSLATED = '64:ff9b::';

/** A client with one IPv6 address controls the 2^64 addresses of its /64 network, so the network counts as one address. */
export function networkOf(text: string): string {
  const address = parseIpAddress(text) ?? text;
  if (!address.includes(':') || address.includes('.') || address.startsWith(TRANSLATED)) return address;
  const [head = '', tail] = address.split('::');
  const groups = (text: string | undefined) => (text === undefined || text === '' ? [] : text.split(':'));
  const gap = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const zeros: string[] = Array.from({ length: gap }, () => '0');
  return [...groups(head), ...zeros, ...groups(tail)].slice(0, 4).join(':');
}
