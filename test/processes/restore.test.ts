import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { restoreBackup } from '#entry/backup/restore_backup.ts';
import { migrate } from '#entry/migrate.ts';
import { findPostgresFault } from '#entry/preflight.ts';
import type { RunningConfig } from '#entry/config.ts';
import { BACKUP_KEY, backUp, emptyTarget, open, sendEvent, sendPoint } from '#test/entry/backup/restored.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { runningClock } from '#test/kit/clock.ts';
import { startRoles } from '#test/kit/roles.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { withDatabase } from '#test/kit/templates.ts';

const KINDS = ['beans', 'milk', 'cups', 'sugar', 'spoons', 'lids', 'water'];

test(
  'everything acknowledged before a backup under load is there after its restore',
  { timeout: 120_000 },
  async () => {
    const w = await staffedWorld({ jobs: 'real queue', clock: runningClock(), settings: { backupKey: undefined } });
    const { dsn, ingestionKey, serviceId } = await w.given.service({ name: 'busy' });
    const roles = startRoles(w.context);
    const over = new AbortController();
    let acknowledged = 0;
    const sender = async (lane: number): Promise<void> => {
      for (let index = lane; !over.signal.aborted; index += 4) {
        await Promise.all([
          // Messages have different lengths: those that differ in a word are one group.
          sendEvent(w, dsn, `no ${KINDS.slice(0, 1 + (index % KINDS.length)).join(' and ')} left`),
          sendPoint(w, ingestionKey, index),
        ]);
        acknowledged += 1;
      }
    };
    const sending = Promise.all([0, 1, 2, 3].map(sender));
    await expect.poll(() => acknowledged).toBeGreaterThan(60);
    const wanted = acknowledged;
    const { file } = await backUp(w.context.config);
    const during = acknowledged;
    over.abort();
    await sending;
    await roles.stop();
    expect(during).toBeGreaterThan(wanted);
    const target = await emptyTarget(w.context.config);
    await restoreBackup(target, { file, replace: false });
    const { context } = await open(target, w.clock, w.orgKey);
    const restored = startRoles(context);
    onTestFinished(() => restored.stop());
    const isDrained = async () =>
      (await context.db.sql.row<{ left: number }>('select count(*)::int as left from durable_jobs'))?.left;
    await expect.poll(isDrained).toBe(0);
    const counted = async (query: string) =>
      Number((await (await context.clickhouse.query({ query, format: 'JSONEachRow' })).json<{ n: string }>())[0]?.n);
    const events = await counted('SELECT count() AS n FROM exception_events FINAL');
    const points = await counted('SELECT count() AS n FROM metric_points FINAL');
    expect(events).toBeGreaterThanOrEqual(wanted);
    expect(points).toBeGreaterThanOrEqual(wanted);
    // Each kind of event is one group, and no event is of a group that is not there.
    const groups = await context.db.sql.rows<{ id: string }>('select id from exception_groups where service_id = $1', [
      serviceId,
    ]);
    expect(groups).toHaveLength(7);
    expect(await counted('SELECT uniqExact(group_id) AS n FROM exception_events')).toBe(7);
    expect(await counted('SELECT count() - uniqExact(event_id) AS n FROM exception_events FINAL')).toBe(0);
  },
);

test('nothing is written for a wrong key, another secret or a damaged archive, and nothing is overwritten', async () => {
  const w = await staffedWorld({ settings: { backupKey: BACKUP_KEY } });
  const { file } = await backUp(w.context.config);
  const target = await emptyTarget(w.context.config);
  const restoring = (options: Partial<RunningConfig> = {}, from = file) =>
    restoreBackup({ ...target, ...options }, { file: from, replace: false });
  const damaged = path.join(makeFolder(), 'damaged');
  const bytes = readFileSync(file);
  writeFileSync(damaged, bytes.subarray(0, bytes.length - 40));
  await expect(restoring({ backupKey: 'another key of a backup' })).rejects.toThrow('is not the key of this backup');
  await expect(restoring({ appSecret: 'a secret of another installation' })).rejects.toThrow(
    'APP_SECRET is not that of',
  );
  await expect(restoring({}, damaged)).rejects.toThrow('the backup is damaged');
  const looking = new pg.Client({ connectionString: target.databaseUrl });
  await looking.connect();
  const { rows } = await looking.query(`select 1 from pg_class where relnamespace = 'public'::regnamespace`);
  await looking.end();
  expect(rows).toEqual([]);

  await expect(restoreBackup(w.context.config, { file, replace: true })).rejects.toThrow(
    'Tocsin runs on this database',
  );
  await restoring();
  await expect(restoring()).rejects.toThrow('the database has an organization already');
  await restoreBackup(target, { file, replace: true });
});

test('no process starts on a restore that broke off, and repeating it ends it', async () => {
  const w = await staffedWorld();
  const { serviceId } = await w.given.service({ name: 'shop' });
  const { file } = await backUp(w.context.config);
  const target = await emptyTarget(w.context.config);
  const wrong = { ...target, clickhouseUrl: withDatabase(target.clickhouseUrl, 'not_there') };
  await expect(restoreBackup(wrong, { file, replace: true })).rejects.toThrow('not_there');
  await expect(migrate(target)).rejects.toThrow('has not ended');
  expect(await findPostgresFault(target.databaseUrl)).toMatchObject({
    sentence: expect.stringContaining('repeat "tocsin restore"'),
    mayPass: false,
  });
  await restoreBackup(target, { file, replace: false });
  expect(await findPostgresFault(target.databaseUrl)).toBeNull();
  const { ask } = await open(target, w.clock, w.orgKey);
  expect((await ask('list_services')).services.map((service: { serviceId: string }) => service.serviceId)).toEqual([
    serviceId,
  ]);
});
