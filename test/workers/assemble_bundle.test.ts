import { expect, onTestFinished, test, vi } from 'vitest';

import { asId, type Id, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { ArtifactStore } from '#modules/releases/store/artifact_store.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';
import { storesOf } from '#modules/stores.ts';
import { type World, world } from '#test/kit/world.ts';
import { onAssembleBundle } from '#workers/assemble_bundle.ts';

/** An upload that waits; it is refused as soon as it is read, because it has no parts. */
async function waiting(w: World, orgId: Id<'org'>, chunks: readonly string[] = []): Promise<Id<'bundle'>> {
  const [id, now] = [newId('bundle'), w.clock.now()];
  await storesOf(w.context.db.session()).artifacts.insertBundle({
    id,
    orgId,
    key: id,
    checksum: 'of other bytes',
    chunks,
    serviceIds: [],
    release: null,
    dist: null,
    state: 'waiting',
    detail: null,
    maps: 0,
    bytes: 0,
    createdAt: now,
    usedAt: now,
  });
  w.clock.advance({ milliseconds: 1 });
  return id;
}

function handlerOf(w: World) {
  const { db, clock } = w.context;
  const uploadLimits = { uploadUnpackedMegabytes: 4_096, uploadSeconds: 120 };
  const runtime = { db, clock, onOutbox: () => {}, log: silentLog, sourceMapBytesMax: 1e9, uploadLimits };
  const handler = onAssembleBundle(runtime);
  return async (orgId: string, bundleId: string, attempt = 1): Promise<void> => {
    await handler.run({ orgId, bundleId }, { jobId: bundleId, attempt, log: silentLog });
  };
}

test('organizations whose uploads wait take turns, whichever job comes first', async () => {
  const w = await world();
  const { orgId: other } = await w.given.organization('Other');
  const many = [await waiting(w, w.orgId), await waiting(w, w.orgId), await waiting(w, w.orgId)];
  const one = await waiting(w, asId('org', other));
  const ended = vi.spyOn(ArtifactStore.prototype, 'endBundle');
  onTestFinished(() => ended.mockRestore());
  const run = handlerOf(w);
  await run(w.orgId, many[2]!);
  const order = ended.mock.calls.map(([id]) => id);
  expect(order.filter((id) => id !== one)).toEqual(many);
  expect(order.indexOf(one)).toBeLessThanOrEqual(1);
  await run(other, one);
  expect(ended).toHaveBeenCalledTimes(4);
  expect(await w.context.db.sql.rows(`select name from leases where name like 'uploads %'`, [])).toEqual([]);
});

test('an organization whose uploads another worker reads waits for it, and no other does', async () => {
  const w = await world();
  const { orgId: other } = await w.given.organization('Other');
  const held = await waiting(w, w.orgId);
  const one = await waiting(w, asId('org', other));
  const leases = new LeaseStore(w.context.db.session());
  const now = w.clock.now();
  await leases.take(`uploads ${w.orgId}`, 'another', { now, notSince: now, heldUntil: now.add({ seconds: 9 }) });
  await handlerOf(w)(other, one);
  const { artifacts } = storesOf(w.context.db.session());
  expect((await artifacts.findBundleById(asId('org', other), one))?.state).toBe('refused');
  expect((await artifacts.findBundleById(w.orgId, held))?.state).toBe('waiting');
});

test('an upload that fails each time is refused with the last attempt, and the others are read', async () => {
  const w = await world();
  const bad = await waiting(w, w.orgId, ['bad']);
  const good = await waiting(w, w.orgId);
  const sizes = vi.spyOn(ArtifactStore.prototype, 'chunkSizes').mockImplementation(async (_orgId, checksums) => {
    if (checksums.includes('bad')) throw new Error('the parts cannot be read');
    return new Map();
  });
  onTestFinished(() => sizes.mockRestore());
  const run = handlerOf(w);
  await expect(run(w.orgId, bad)).rejects.toThrow('cannot be read');
  await run(w.orgId, bad, 5);
  await run(w.orgId, good);
  const { artifacts } = storesOf(w.context.db.session());
  expect(await artifacts.findBundleById(w.orgId, bad)).toMatchObject({
    state: 'refused',
    detail: expect.stringContaining('upload it again'),
  });
  expect((await artifacts.findBundleById(w.orgId, good))?.state).toBe('refused');
});
