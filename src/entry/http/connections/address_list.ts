import { BlockList, isIP } from 'node:net';

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
