import { expect, test } from 'vitest';

import { restoreBackup } from '#entry/backup/restore_backup.ts';
import { BACKUP_KEY, backUp, emptyTarget, open } from '#test/entry/backup/restored.ts';
import { alertedServiceIn, sendAlert, sendThree } from '#test/kit/alert_senders.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import type { World } from '#test/kit/world.ts';

const TABLES = ['alert_sources', 'alert_routes', 'alerts'];

async function rowsOf({ context }: Pick<World, 'context'>, tables: readonly string[]): Promise<unknown[]> {
  return await Promise.all(tables.map((table) => context.db.sql.rows(`select * from ${table} order by id`)));
}

test('after a restore the key opens its service, what is open counts and rises, and its tool resolves it', async () => {
  const alerted = await alertedServiceIn(await staffedWorld({ settings: { backupKey: BACKUP_KEY } }));
  const { w, key } = alerted;
  const incidentId = await sendThree(alerted);
  const before = await rowsOf(w, [...TABLES, 'alert_keys', 'alert_bodies']);
  expect(before.map((rows) => (rows as unknown[]).length)).toEqual([1, 2, 3, 1, expect.any(Number)]);
  const { file } = await backUp(w.context.config);
  const target = await emptyTarget(w.context.config);
  await restoreBackup(target, { file, replace: false });
  const restored = await open(target, w.clock, w.orgKey);
  expect(await rowsOf(restored, [...TABLES, 'alert_keys', 'alert_bodies'])).toEqual(before);
  const send = (body: object) => sendAlert(restored, key, '/events', body);
  expect((await send({ dedupKey: 'disk', title: 'disk' })).body).toMatchObject({ incidentId, effect: 'count' });
  expect((await send({ dedupKey: 'queue', title: 'queue' })).body.effect).toBe('count');
  expect((await send({ dedupKey: 'over', title: 'over' })).body.effect).toBe('open');
  expect((await send({ dedupKey: 'disk', action: 'resolve' })).body).toMatchObject({ incidentId, effect: 'resolve' });
  expect(await restored.ask('get_incident', { incidentId })).toMatchObject({
    status: 'resolved',
    kind: 'alert',
    details: { source: { tool: 'Watcher' } },
    resolvedBy: { via: 'alert', tool: 'Watcher' },
  });
});
