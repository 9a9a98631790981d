import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test, vi } from 'vitest';

import { CheckInIntake } from '#ingest/check_in_intake.ts';
import { readCheckInRequest, type SentCheckIn } from '#ingest/protocols/sentry/check_ins.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { Database } from '#storage/postgres/database.ts';
import { world } from '#test/kit/world.ts';

function sent(status: string): SentCheckIn {
  const checkIn = readCheckInRequest('job', { status }, Buffer.alloc(0));
  if (checkIn === null) throw new Error('it is a check-in');
  return checkIn;
}

test('a check-in does not overtake those that wait on the disk', async () => {
  const w = await world();
  const { serviceId } = await w.given.service();
  const spoolFolder = await mkdtemp(path.join(tmpdir(), 'tocsin-check-ins-'));
  onTestFinished(() => rm(spoolFolder, { recursive: true }));
  const { db } = w.context;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let isAway = true;
  let count = 0;
  const bothStored = Promise.withResolvers<void>();
  const transaction: Database['transaction'] = async (work) => {
    if (isAway) throw new AppError('unavailable', 'the database is away');
    const result = await db.transaction(work);
    count += 1;
    if (count === 2) bothStored.resolve();
    return result;
  };
  const intake = new CheckInIntake({
    db: { ...db, transaction },
    clock: w.clock,
    log: silentLog,
    spoolFolder,
    telemetry: { count: () => {} },
  });
  onTestFinished(() => intake.close());
  const owner = { orgId: w.orgId, serviceId: asId('service', serviceId) };
  const stored = async () => {
    const rows = await db.sql.rows<{ status: string }>('select status from check_ins order by number', []);
    return rows.map(({ status }) => status);
  };

  await intake.accept(owner, [sent('in_progress')]);
  isAway = false;
  await intake.accept(owner, [sent('ok')]);
  expect(await stored()).not.toEqual(['ok']);
  vi.advanceTimersByTime(10_000);
  await bothStored.promise;
  expect(await stored()).toEqual(['in_progress', 'ok']);
});
