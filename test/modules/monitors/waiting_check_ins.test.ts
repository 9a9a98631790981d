import { expect, onTestFinished, test, vi } from 'vitest';

import { asId, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { MonitorStore } from '#modules/monitors/store/monitor_store.ts';
import { storesOf } from '#modules/stores.ts';
import { rolesRuntime } from '#test/kit/roles.ts';
import { type World, world } from '#test/kit/world.ts';
import { watchMonitors } from '#workers/worker_role.ts';

const HOURLY = JSON.stringify({ type: 'crontab', crontab: '0 * * * *', timezone: 'UTC' });

/** Monitors of a service whose run was missed, by slug. */
async function givenMissed(w: World, serviceId: string, orgId: string, slugs: readonly string[]): Promise<void> {
  await w.context.db.sql.run(
    `insert into monitors (id, org_id, service_id, slug, environment, schedule, margin_minutes, runtime_minutes, failure_threshold, recovery_threshold,
       is_failing, failures, successes, next_due_at, overdue_from, is_muted, key_only, is_kept, created_at, updated_at)
     select id, $1, $2, slug, 'production', $3, 1, 30, 1, 1, false, 0, 0, $4, $4, false, false, true, $4, $4
     from unnest($5::text[], $6::text[]) m(id, slug)`,
    [
      orgId,
      serviceId,
      HOURLY,
      w.clock.now().subtract({ minutes: 5 }).toString(),
      slugs.map(() => newId('monitor')),
      slugs,
    ],
  );
}

/** The slugs of monitors of which a missed run was found. */
async function missedOf({ context }: World): Promise<string[]> {
  const rows = await context.db.sql.rows<{ slug: string }>(
    `select m.slug from monitors m join monitor_runs r on r.monitor_id = m.id where r.status = 'missed' order by m.slug`,
  );
  return rows.map(({ slug }) => slug);
}

/** Looks a minute apart, so that nothing may wait on a disk any more. */
async function watch(w: World, batchesMax?: number): Promise<void> {
  const runtime = rolesRuntime(w.context);
  for (let seconds = 0; seconds <= 70; seconds += 10) {
    await watchMonitors(runtime, batchesMax);
    w.clock.advance({ seconds: 10 });
  }
}

test('a missed run is found though check-ins of others wait without end, and not while one of its own does', async () => {
  const w = await world();
  w.clock.set('2027-06-01T12:30:00Z');
  const { serviceId } = await w.given.service();
  await givenMissed(w, serviceId, w.orgId, ['own', 'quiet']);
  const checkIn = {
    orgId: w.orgId,
    serviceId: asId('service', serviceId),
    environment: 'production',
    isNamed: true,
    byKey: true,
    status: 'ok',
    durationMs: null,
    config: null,
    release: null,
    receivedAt: w.clock.now(),
  } as const;
  await w.context.db.transaction(async (session) => {
    const { checkIns } = storesOf(session);
    await checkIns.add({ ...checkIn, slug: 'own', runId: 'a'.repeat(32) });
    await checkIns.add({ ...checkIn, slug: 'flood', runId: 'b'.repeat(32) });
  });
  // None of them is ever taken: more come than are looked at.
  await watch(w, 0);
  expect(await missedOf(w)).toEqual(['quiet']);
  await watch(w);
  expect(await missedOf(w)).toEqual(['quiet']);
});

test('organizations take turns, so that one with very many monitors delays no missed run of another', async () => {
  const w = await world();
  w.clock.set('2027-06-01T12:30:00Z');
  const { serviceId } = await w.given.service();
  await givenMissed(
    w,
    serviceId,
    w.orgId,
    Array.from({ length: 300 }, (_, index) => `many_${index}`),
  );
  const other = await w.forOrganization();
  const quiet = await other.given.service();
  await givenMissed(other, quiet.serviceId, other.orgId, ['zz']);
  await w.context.db.sql.run(`update monitors set overdue_from = overdue_from + interval '1 minute' where slug = 'zz'`);
  const overdue = await storesOf(w.context.db.session()).monitors.listOverdue(w.clock.now(), 200);
  const slugs = await w.context.db.sql.rows<{ slug: string }>('select slug from monitors where id = any ($1)', [
    overdue,
  ]);
  expect(slugs).toHaveLength(200);
  expect(slugs).toContainEqual({ slug: 'zz' });
});

test('the run after a late one is still missed when the late one began after it was missed', async () => {
  const w = await world();
  w.clock.set('2027-06-01T13:00:00Z');
  const { serviceId } = await w.given.service();
  await givenMissed(w, serviceId, w.orgId, ['backup']);
  await w.context.db.sql.run(`update monitors set schedule = $1`, [HOURLY.replace('0 * * * *', '*/10 * * * *')]);
  await watch(w);
  w.clock.set('2027-06-01T13:06:00Z');
  await w.context.db.transaction(async (session) => {
    const run = { orgId: w.orgId, serviceId, slug: 'backup', environment: 'production', runId: 'a'.repeat(32) };
    const said = { isNamed: true, byKey: true, status: 'ok', durationMs: null, config: null, release: null } as const;
    await storesOf(session).checkIns.add({ ...run, ...said, receivedAt: w.clock.now() });
  });
  await watch(w);
  const [monitor] = await w.context.db.sql.rows<{ nextDueAt: Temporal.Instant }>(
    `select next_due_at as "nextDueAt" from monitors`,
  );
  expect(monitor?.nextDueAt.toString()).toBe('2027-06-01T13:10:00Z');
});

test('a check-in that waits for a lock in vain is looked at again, in its order, and holds up no other service', async () => {
  const w = await world();
  const { serviceId: lockedId } = await w.given.service();
  const { serviceId: freeId } = await w.given.service();
  const checkIn = {
    orgId: w.orgId,
    slug: 'job',
    environment: 'production',
    isNamed: false,
    byKey: true,
    durationMs: null,
    config: null,
    release: null,
    receivedAt: w.clock.now(),
  } as const;
  await w.context.db.transaction(async (session) => {
    const { checkIns } = storesOf(session);
    const ofLocked = { ...checkIn, serviceId: asId('service', lockedId) };
    await checkIns.add({ ...ofLocked, status: 'in_progress', runId: 'a'.repeat(32) });
    await checkIns.add({ ...ofLocked, status: 'ok', runId: 'b'.repeat(32) });
    await checkIns.add({ ...checkIn, serviceId: asId('service', freeId), status: 'ok', runId: 'c'.repeat(32) });
  });
  // Once with all of them together, and once by itself.
  const conflict = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
  const lock = vi.spyOn(MonitorStore.prototype, 'lockOrCreate');
  onTestFinished(() => lock.mockRestore());
  lock.mockRejectedValueOnce(conflict).mockRejectedValueOnce(conflict);
  const runsOf = async () =>
    await w.context.db.sql.rows<{ serviceId: string; status: string }>(
      `select m.service_id as "serviceId", r.status from monitors m join monitor_runs r on r.monitor_id = m.id order by m.created_at`,
      [],
    );
  await watchMonitors(rolesRuntime(w.context));
  expect(await runsOf()).toEqual([{ serviceId: freeId, status: 'ok' }]);
  w.clock.advance({ seconds: 2 });
  await watchMonitors(rolesRuntime(w.context));
  expect(await runsOf()).toEqual([
    { serviceId: freeId, status: 'ok' },
    { serviceId: lockedId, status: 'ok' },
  ]);
});
