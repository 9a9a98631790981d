import { beforeEach, describe, expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { getExceptionOverview } from '#modules/exceptions/operations/get_exception_overview.ts';
import {
  resolveInRelease,
  setExceptionStatuses,
  undoExceptionStatuses,
} from '#modules/exceptions/operations/statuses.ts';
import { compareReleases, listReleases } from '#modules/releases/operations/releases.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { groupNamed } from '#test/modules/exceptions/given_events.ts';
import { runGroupExceptions } from '#test/kit/ingest_jobs.ts';
import { storesOf } from '#modules/stores.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';
import { workerRuntime } from '#workers/worker_role.ts';

let serviceId: Id<'service'>;
const w = await fileWorld();
const editor = memberCaller(w.orgId, w.owner.userId, 'editor');
beforeEach(async () => {
  w.clock.advance({ minutes: 1 });
  ({ serviceId } = await w.given.service());
});

/** An event of this release is stored. */
async function store(release: string | null, type = 'CardDeclined', userId: string | null = null): Promise<void> {
  const [exception] = exceptionEvent(w.clock.now()).exceptions;
  const user = { id: userId, email: null, username: null, ip: null };
  const event = exceptionEvent(w.clock.now(), { release, user, exceptions: [{ ...exception!, type }] });
  await runGroupExceptions(workerRuntime(w.context), { orgId: w.orgId, serviceId }, [event]);
}

/** The same; returns what its page shows of its status. */
async function arrive(...sent: Parameters<typeof store>) {
  const [, type = 'CardDeclined'] = sent;
  await store(...sent);
  const groupId = await groupNamed(w, serviceId, type);
  w.clock.advance({ minutes: 1 });
  const { exceptionGroups, groupReleases } = storesOf(w.context.db.session());
  const { status, resolvedInRelease, regressedAt } = await exceptionGroups.get(w.orgId, groupId, w.clock.now());
  const fix = status === 'resolved' ? ((await groupReleases.listFixes([groupId])).get(groupId) ?? null) : null;
  const regressedInRelease = regressedAt && (await groupReleases.findRegression(groupId, regressedAt));
  return { groupId, status, resolvedInRelease, regressedAt, fix, regressedInRelease };
}

const overviewOf = (groupId: string) => runOperation(w, getExceptionOverview, editor, { groupId });
const resolve = (groupId: string, release?: string) =>
  runOperation(w, resolveInRelease, editor, { groupIds: [groupId], ...(release !== undefined && { release }) });

test('a release that one client invents silences nothing', async () => {
  const invented = ['999.9.9', 'CardDeclined', 'mallory'] as const;
  const { groupId } = await arrive('2.4.0');
  for (const release of ['2.4.0', '2.4.1', '2.4.1']) await store(release);
  await store(...invented);
  for (const resolveIt of [
    () => w.expectOk('set_exception_status', { groupId, status: 'resolved' }),
    () => runOperation(w, setExceptionStatuses, editor, { changes: [{ groupId, status: 'resolved' }] }),
  ]) {
    await resolveIt();
    w.clock.advance({ minutes: 1 });
    expect(await arrive('2.4.0')).toMatchObject({ status: 'resolved', resolvedInRelease: '2.4.1' });
    expect(await arrive('2.4.1')).toMatchObject({ status: 'unresolved' });
    await store(...invented);
  }
  await resolve(groupId);
  w.clock.advance({ minutes: 1 });
  expect(await arrive(...invented)).toMatchObject({ status: 'resolved', fix: { release: '2.4.1' } });
  expect(await arrive('2.5.0')).toMatchObject({ status: 'unresolved', regressedInRelease: '2.5.0' });
});

test('where clients name their users, events without one confirm no release, however many there are', async () => {
  const { groupId } = await arrive('2.4.0', 'CardDeclined', 'anna');
  await store('2.4.0', 'CardDeclined', 'bram');
  for (const _ of [1, 2]) await store('999.9.9');
  await w.expectOk('set_exception_status', { groupId, status: 'resolved' });
  w.clock.advance({ minutes: 1 });
  // Resolved in 999.9.9 it would stay so for every release to come.
  expect(await arrive('2.4.0', 'CardDeclined', 'anna')).toMatchObject({ status: 'unresolved' });
});

describe('a group resolved in the next release', () => {
  test('stays resolved for releases known then, and comes back with a later one, which is named', async () => {
    const { groupId } = await arrive('1.2.0');
    await store('1.2.9', 'Other');
    await store('1.3.0', 'Other');
    w.clock.advance({ minutes: 1 });
    await resolve(groupId);
    const fix = { kind: 'next_release', release: '1.3.0' };
    expect(await overviewOf(groupId)).toMatchObject({ status: 'resolved', fix, resolvedInRelease: '1.2.0' });
    for (const release of ['1.2.0', '1.2.9', '1.3.0']) {
      expect(await arrive(release)).toMatchObject({ status: 'resolved', fix, regressedAt: null });
    }
    await store('1.3.1');
    w.clock.advance({ minutes: 1 });
    expect(await overviewOf(groupId)).toMatchObject({
      status: 'unresolved',
      fix: null,
      regressedInRelease: '1.3.1',
      eventCount: 5,
    });
    const lines = `select action, after from audit_log where target = $1 order by at, id`;
    expect(await w.context.db.sql.rows(lines, [groupId])).toMatchObject([
      { action: 'resolve_in_release', after: { status: 'resolved', fixed: fix } },
      { action: 'set_exception_status', after: { status: 'unresolved', release: '1.3.1' } },
    ]);
  });

  test('is what it was once it is taken back, also a decision of the same kind', async () => {
    const { groupId } = await arrive('1.2.0');
    await resolve(groupId, '2.0.0');
    w.clock.advance({ minutes: 1 });
    const { changed } = await resolve(groupId);
    expect(changed).toMatchObject([{ before: 'resolved', status: 'resolved' }]);
    const changes = changed.map(({ changedAt }: { changedAt: string }) => ({ groupId, changedAt }));
    w.clock.advance({ minutes: 1 });
    await runOperation(w, undoExceptionStatuses, editor, { changes });
    expect(await overviewOf(groupId)).toMatchObject({ fix: { kind: 'release', release: '2.0.0' } });
    expect(await arrive('1.9.0')).toMatchObject({ status: 'resolved' });
    const reopened = { changes: [{ groupId, status: 'unresolved' }] };
    await runOperation(w, setExceptionStatuses, editor, reopened);
    w.clock.advance({ minutes: 1 });
    await w.expectOk('set_exception_status', { groupId, status: 'resolved' });
    w.clock.advance({ minutes: 1 });
    // What was said before does not count any more.
    expect(await overviewOf(groupId)).toMatchObject({ status: 'resolved', fix: null, resolvedInRelease: '1.9.0' });
    expect(await arrive('1.9.0')).toMatchObject({ status: 'unresolved', regressedInRelease: '1.9.0' });
  });

  test('is refused where no release is known, and to people who may not decide', async () => {
    const { groupId } = await arrive(null);
    await expect(resolve(groupId)).rejects.toMatchObject({ code: 'conflict', message: /no release of/ });
    const viewer = memberCaller(w.orgId, w.owner.userId, 'viewer');
    const asked = runOperation(w, resolveInRelease, viewer, { groupIds: [groupId] });
    await expect(asked).rejects.toMatchObject({ code: 'forbidden' });
    await expect(resolve('group_01kdwm3y8pfqa9b6t2x0c4v7zs')).rejects.toMatchObject({ code: 'not_found' });
    await expect(resolve(groupId, ' ')).rejects.toMatchObject({ code: 'invalid_input', faults: [{ path: 'release' }] });
    expect(await overviewOf(groupId)).toMatchObject({ status: 'unresolved' });
  });
});

test('releases count what began, came back and was resolved in them, also when they are compared', async () => {
  const a = await arrive('1.0.0', 'First');
  const b = await arrive('1.0.0', 'Second');
  await resolve(a.groupId, '1.1.0');
  await resolve(b.groupId, '1.1.0');
  await store('1.0.1', 'Second');
  await store('1.1.0', 'First');
  await store('1.1.0', 'Third');
  const { releases } = await runOperation(w, listReleases, editor, { serviceId });
  const counted = releases.map(({ release, newGroups, regressedGroups, resolvedGroups }: Record<string, unknown>) => {
    return [release, newGroups, regressedGroups, resolvedGroups];
  });
  expect(counted.toSorted()).toEqual([
    ['1.0.0', 2, 0, 0],
    ['1.0.1', 0, 0, 0],
    ['1.1.0', 1, 1, 1],
  ]);
  const releasesCompared = { serviceId, before: '1.0.0', after: '1.1.0' };
  const compared = await runOperation(w, compareReleases, editor, releasesCompared);
  expect(compared.before).toEqual({ newGroups: 2, regressedGroups: 0, resolvedGroups: 0 });
  expect(compared.after).toEqual({ newGroups: 1, regressedGroups: 1, resolvedGroups: 1 });
  const news = compared.groups.map(({ title, news: what }: { title: string; news: string }) => [
    title.split(':')[0],
    what,
  ]);
  expect(news.toSorted()).toEqual([
    ['First', 'regressed'],
    ['Second', 'resolved'],
    ['Third', 'new'],
  ]);
});
