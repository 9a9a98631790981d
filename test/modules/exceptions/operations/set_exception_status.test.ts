import { beforeEach, expect, test } from 'vitest';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import type { Id } from '#kernel/ids.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { fileWorld } from '#test/kit/world.ts';

let serviceId: Id<'service'>;
const w = await fileWorld();
beforeEach(async () => {
  w.clock.set('2027-03-10T12:00:00Z');
  ({ serviceId } = await w.given.service());
});

const seen = (...events: readonly ExceptionEvent[]) => groupAndStore(w, serviceId, events);
const event = (given?: Parameters<typeof eventAt>[1]) => eventAt(w, given);

test('any status can follow any other, and a resolved group keeps the time and the release', async () => {
  const [group] = await seen(event({ release: '1.9.0' }));
  const { groupId } = group!;
  const [u, r, i] = ['unresolved', 'resolved', 'ignored'];
  // From each to each, and to itself, once.
  const statuses = [u, r, r, i, i, u, i, r, u];
  let before = await w.expectOk('get_exception_group', { groupId });
  for (const status of statuses) {
    w.clock.advance({ minutes: 1 });
    const after = await w.expectOk('set_exception_status', { groupId, status });
    expect(after).toMatchObject({
      groupId,
      status,
      eventCount: 1,
      updatedAt: status === before.status ? before.updatedAt : w.clock.now().toString({ fractionalSecondDigits: 3 }),
      resolvedInRelease: status === 'resolved' ? '1.9.0' : null,
      statusChangedAt:
        status === before.status ? before.statusChangedAt : w.clock.now().toString({ fractionalSecondDigits: 3 }),
    });
    before = after;
  }
  for (const wrong of [{ status: 'open' }, { status: null }, {}]) {
    expect((await w.call('set_exception_status', { groupId, ...wrong })).status).toBe(400);
  }
});

test('changing a status adds one row to the audit log, setting the same status adds none', async () => {
  const [group] = await seen(event());
  const { groupId } = group!;
  for (const _again of [1, 2]) await w.expectOk('set_exception_status', { groupId, status: 'resolved' });
  const lines = await w.context.db.sql.rows('select before, after from audit_log where target = $1', [groupId]);
  expect(lines).toMatchObject([{ before: { status: 'unresolved' }, after: { status: 'resolved' } }]);
});

test('a resolved group reopens at the next event, unless that is of an older release', async () => {
  const [group] = await seen(event({ release: '1.9.0' }));
  const { groupId } = group!;
  await w.expectOk('set_exception_status', { groupId, status: 'resolved' });
  w.clock.advance({ minutes: 1 });
  expect((await seen(event({ release: '1.8.9' })))[0]).toMatchObject({ outcome: 'known' });
  expect(await w.expectOk('get_exception_group', { groupId })).toMatchObject({ status: 'resolved', eventCount: 2 });
  expect((await seen(event({ release: '1.9.1' })))[0]).toMatchObject({ outcome: 'regression', groupId });
  const reopened = await w.expectOk('get_exception_group', { groupId });
  expect(reopened).toMatchObject({
    status: 'unresolved',
    resolvedInRelease: null,
    regressedAt: '2027-03-10T12:01:00.000Z',
    triage: { isRegression: true, releases: { last: '1.9.1' } },
  });
  await w.expectOk('set_exception_status', { groupId, status: 'ignored' });
  expect((await seen(event()))[0]).toMatchObject({ outcome: 'ignored' });
  expect(await w.expectOk('get_exception_group', { groupId })).toMatchObject({ status: 'ignored', regressedAt: null });
});

test('groups of another organization and of a deleted service are not found', async () => {
  const [group] = await seen(event());
  const { groupId } = group!;
  const { orgKey: key } = await w.given.organization('Other');
  const ask = (action: string, id: string, options?: { key: string }) =>
    w.call(action, action === 'get_exception_group' ? { groupId: id } : { groupId: id, status: 'resolved' }, options);
  for (const action of ['get_exception_group', 'set_exception_status']) {
    const foreign = await ask(action, groupId, { key });
    const missing = await ask(action, 'group_00000000000000000000000000', { key });
    expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found', errors: [{ path: 'groupId' }] } });
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
  }
  expect(await w.expectOk('list_exception_groups', {}, { key })).toEqual({ groups: [], total: 0 });
  await w.expectOk('delete_service', { serviceId });
  for (const action of ['get_exception_group', 'set_exception_status'])
    expect((await ask(action, groupId)).status).toBe(404);
});
