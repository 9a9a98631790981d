import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { inflate } from '#ingest/inflate.ts';
import { RefusedBytes } from '#ingest/refused_bytes.ts';
import { asId } from '#kernel/ids.ts';
import { SharedLimit } from '#kernel/shared_limit.ts';
import { systemClock } from '#kernel/time.ts';

const MEGABYTE = 1024 * 1024;
const [service, other] = [asId('service', 'one'), asId('service', 'other')];

function refusedBytes(): RefusedBytes {
  const buckets = { take: async () => ({ isGranted: true, left: 0 }) };
  return new RefusedBytes({
    megabytesPerMinute: 5,
    openLimit: (name, allowance) =>
      new SharedLimit({ name, ...allowance, buckets, processes: () => 1, now: () => systemClock.now() }),
  });
}

const BOMB = gzipSync(Buffer.alloc(20 * MEGABYTE));

test('what a refused body unpacks to counts, and a service that has had too much of it unpacked is refused before', async () => {
  const refused = refusedBytes();
  let unpacked = 0;
  const send = (serviceId = service) =>
    refused.watch(serviceId, async (count) => {
      const counting = (bytes: number): void => {
        unpacked += bytes;
        count(bytes);
      };
      const limits = { compressedBytesMax: MEGABYTE, inflatedBytesMax: 4 * MEGABYTE, count: counting };
      return await inflate(BOMB, 'gzip', limits);
    });
  const codes: string[] = [];
  for (let sent = 0; sent < 6; sent += 1)
    codes.push(await send().then(String, (error: { code: string }) => error.code));
  expect(codes).toEqual(['payload_too_large', 'payload_too_large', ...Array(4).fill('rate_limited')]);
  expect(unpacked).toBeLessThan(2 * 5 * MEGABYTE);
  await expect(send(other)).rejects.toMatchObject({ code: 'payload_too_large' });
});

test('a body that brings something counts for nothing, and one that brings nothing from its second megabyte on', async () => {
  const refused = refusedBytes();
  const unpack = async (count: (bytes: number) => void) => count(3 * MEGABYTE);
  for (let sent = 0; sent < 9; sent += 1) await refused.watch(service, unpack);
  const nothing = () => false;
  for (let sent = 0; sent < 3; sent += 1) await refused.watch(service, unpack, nothing);
  await expect(refused.watch(service, unpack)).rejects.toMatchObject({
    code: 'rate_limited',
    limit: 'refusedMegabytesPerMinute',
  });
  const small = async (count: (bytes: number) => void) => count(MEGABYTE);
  for (let sent = 0; sent < 9; sent += 1) await refused.watch(other, small, nothing);
});
