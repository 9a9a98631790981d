import { parseIpAddress } from '#kernel/ip_address.ts';

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
