import { expect, test } from 'vitest';

import { DiskSpace } from '#ingest/disk_space.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';

const MEGABYTE = 1024 * 1024;

test('data is refused while less is free than there must be, and is taken again once there is clearly more', async () => {
  let free = 200 * MEGABYTE;
  const disk = new DiskSpace({ folder: '/data', bytesMin: 128 * MEGABYTE, log: silentLog, measure: async () => free });
  const isLowAt = async (megabytes: number): Promise<boolean> => {
    free = megabytes * MEGABYTE;
    await disk.measure();
    return disk.fault !== null;
  };
  expect([await isLowAt(200), await isLowAt(128), await isLowAt(127)]).toEqual([false, false, true]);
  expect(() => disk.requireCapacity()).toThrow(AppError);
  expect(disk.fault).toMatch(/has 127 MB left: .* are refused until 160 MB are free/);
  expect([await isLowAt(140), await isLowAt(159), await isLowAt(160)]).toEqual([true, true, false]);
  expect(() => disk.requireCapacity()).not.toThrow();
  disk.close();
});

test('a disk that cannot be measured, or that nobody asked about, refuses nothing', async () => {
  const failing = new DiskSpace({
    folder: '/data',
    bytesMin: MEGABYTE,
    log: silentLog,
    measure: () => Promise.reject(new Error('no')),
  });
  await failing.measure();
  expect([failing.fault, failing.freeBytes]).toEqual([null, null]);
  failing.close();
  const disk = new DiskSpace({ folder: '/data', bytesMin: 0, log: silentLog, measure: async () => 0 });
  await disk.measure();
  expect(disk.fault).toBeNull();
});

test.each([
  Object.assign(new Error('cannot reserve 1 MiB'), { code: '243', type: 'NOT_ENOUGH_SPACE' }),
  new Error('write failed: No space left on device'),
])('rows that a full disk of the metric store refuses are tried again, never given up (%s)', async (refusal) => {
  const outcome = withClickHouseErrors(() => {
    throw refusal;
  });
  await expect(outcome).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('disk of the metric store is full') as string,
  });
});
