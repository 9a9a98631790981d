import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { inflate } from '#ingest/inflate.ts';
import { RefusedBytes } from '#ingest/refused_bytes.ts';
import { asId } from '#kernel/ids.ts';
import { SharedLimit } from '#kernel/shared_limit.ts';
import { systemClock } from '#kernel/time.ts';

const MEGABYTE = 1024 * 1024;
const [service, other] = [asId('service', 'one'), asId('service', 'other')];
const IP = '192.0.2.1';
const sender = { serviceId: service, ip: IP };

function refusedBytes(): RefusedBytes {
  const buckets = { take: async () => ({ isGranted: true, left: 0 }) };
  return new RefusedBytes({
    megabytesPerMinute: 5,
    openLimit: (name, allowance) =>
      new SharedLimit({ name, ...allowance, buckets, processes: () => 1, now: () => systemClock.now() }),
  });
}

const BOMB = gzipSync(Buffer.alloc(20 * MEGABYTE));

/** Sends bombs, and says how each was answered and what was unpacked of all. */
function bombing(refused: RefusedBytes) {
  let unpacked = 0;
  const send = async (from = sender): Promise<string> =>
    await refused
      .watch(from, async (count) => {
        const counting = (bytes: number): void => {
          unpacked += bytes;
          count(bytes);
        };
        const limits = { compressedBytesMax: MEGABYTE, inflatedBytesMax: 4 * MEGABYTE, count: counting };
        return await inflate(BOMB, 'gzip', limits);
      })
      .then(String, (error: { code: string }) => error.code);
  return { send, unpacked: () => unpacked };
}

test('what a refused body unpacks to counts, and beyond the limit a large body is refused before it is unpacked', async () => {
  const { send, unpacked } = bombing(refusedBytes());
  const codes: string[] = [];
  for (let sent = 0; sent < 6; sent += 1) codes.push(await send());
  expect(codes).toEqual(['payload_too_large', 'payload_too_large', ...Array(4).fill('rate_limited')]);
  expect(unpacked()).toBeLessThan(3 * 5 * MEGABYTE);
  expect(await send({ ...sender, serviceId: other })).toBe('payload_too_large');
});

test('a client that sends bombs leaves other addresses of its service theirs, and usual bodies to everybody', async () => {
  const refused = refusedBytes();
  const { send } = bombing(refused);
  for (let sent = 0; sent < 6; sent += 1) await send();
  const unpack = (megabytes: number) => async (count: (bytes: number) => void) => {
    for (let at = 0; at < megabytes; at += 1) count(MEGABYTE);
  };
  await refused.watch({ ...sender, ip: '192.0.2.2' }, unpack(3));
  await refused.watch(sender, unpack(1));
  await expect(refused.watch(sender, unpack(2))).rejects.toMatchObject({ code: 'rate_limited' });
});

test('many addresses, or those of one IPv6 network, have no more unpacked for nothing than five', async () => {
  const { send, unpacked } = bombing(refusedBytes());
  for (let sent = 0; sent < 4; sent += 1) await send({ ...sender, serviceId: other, ip: `2001:db8::${sent + 1}` });
  expect(unpacked()).toBeLessThan(3 * 5 * MEGABYTE);
  const codes = new Set<string>();
  for (let sent = 0; sent < 15; sent += 1) codes.add(await send({ ...sender, ip: `192.0.2.${sent}` }));
  expect(codes).toContain('rate_limited');
  expect(unpacked()).toBeLessThan(3 * 5 * MEGABYTE + (5 * 5 + 15 + 10) * MEGABYTE + 15 * MEGABYTE);
});

test('a body that brings something counts for nothing, and one that brings nothing from its second megabyte on', async () => {
  const refused = refusedBytes();
  const unpack = async (count: (bytes: number) => void) => count(3 * MEGABYTE);
  for (let sent = 0; sent < 9; sent += 1) await refused.watch(sender, unpack);
  const nothing = () => false;
  for (let sent = 0; sent < 3; sent += 1) await refused.watch(sender, unpack, nothing);
  await expect(refused.watch(sender, unpack)).rejects.toMatchObject({
    code: 'rate_limited',
    limit: 'refusedMegabytesPerMinute',
  });
  const small = async (count: (bytes: number) => void) => count(MEGABYTE);
  for (let sent = 0; sent < 9; sent += 1) await refused.watch({ ...sender, serviceId: other }, small, nothing);
});
