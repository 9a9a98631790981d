import ipaddr from 'ipaddr.js';

import { parseIpAddress } from '#kernel/ip_address.ts';

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number];

/** Lists that were parsed last; a list is parsed once, not at each request. */
const parsedLists = new Map<string, readonly Network[]>();
const PARSED_MAX = 1_000;

/**
 * Parses an address or a network such as `192.0.2.0/24` and returns it in its one spelling; null for what is neither.
 * A network whose host bits are set is spelt without them, so that a list says what it admits.
 */
export function parseNetwork(text: string): string | null {
  const network = networkOf(text.trim());
  if (network === null) return null;
  const [address, prefix] = network;
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(`${address.toString()}/${prefix}`).toString()}/${prefix}`;
}

/** Whether the address lies in one of the networks; null admits every address. */
export function isWithin(address: string | null, networks: readonly string[] | null): boolean {
  if (networks === null) return true;
  const text = parseIpAddress(address ?? '');
  if (text === null) return false;
  const parsed = ipaddr.process(text);
  return parsedOf(networks).some(([network, prefix]) => {
    return network.kind() === parsed.kind() && parsed.match(network, prefix);
  });
}

function parsedOf(networks: readonly string[]): readonly Network[] {
  const key = networks.join(' ');
  const remembered = parsedLists.get(key);
  if (remembered !== undefined) return remembered;
  if (parsedLists.size >= PARSED_MAX) parsedLists.clear();
  const parsed = networks.map(networkOf).filter((network) => network !== null);
  parsedLists.set(key, parsed);
  return parsed;
}

function networkOf(text: string): Network | null {
  const [address = '', prefix, ...rest] = text.split('/');
  const spelt = parseIpAddress(address);
  if (spelt === null || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return null;
  const parsed = ipaddr.parse(spelt);
  const bits = parsed.kind() === 'ipv4' ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  return length > bits ? null : [parsed, length];
}
