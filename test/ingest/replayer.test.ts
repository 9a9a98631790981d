import path from 'node:path';

import { expect, test } from 'vitest';

import { Replayer } from '#ingest/replayer.ts';
import { Spool } from '#ingest/spool.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { makeFolder } from '#test/faults/folder.ts';

test('what waits on disk follows at once when the queue comes back while a run still reports that it was away', async () => {
  const spool = new Spool({ folder: path.join(makeFolder(), 'spool'), bytesMax: 1_000 });
  await spool.write(Buffer.from('an event'));
  let isAway = true;
  const began = Promise.withResolvers<void>();
  const follows = Promise.withResolvers<string>();
  const { promise: reported, resolve: report } = Promise.withResolvers<void>();
  const replayer = new Replayer(spool, {
    async add(bytes) {
      if (isAway) throw new AppError('unavailable', 'away');
      follows.resolve(bytes.toString());
    },
    async reportOldest() {
      began.resolve();
      await reported;
    },
    log: silentLog,
  });
  replayer.run();
  await began.promise;
  isAway = false;
  replayer.run();
  report();
  expect(await follows.promise).toBe('an event');
  await replayer.stop();
});
