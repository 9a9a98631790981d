import { beforeEach, expect, test } from 'vitest';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import type { Id } from '#kernel/ids.ts';
import { eventAt, groupAndStore, withMessage } from '#test/modules/exceptions/given_events.ts';
import { fileWorld } from '#test/kit/world.ts';

let serviceId: Id<'service'>;
const w = await fileWorld();
beforeEach(async () => {
  w.clock.set('2027-03-10T12:00:00Z');
  ({ serviceId } = await w.given.service());
});

const seen = (...events: readonly ExceptionEvent[]) => groupAndStore(w, serviceId, events);
const event = (given?: Parameters<typeof eventAt>[1]) => eventAt(w, given);

test('similar events form one group, which counts each event and user once', async () => {
  const twice = event({ user: { id: '8', email: null, username: null, ip: null } });
  const [group] = await seen(event(), twice, event({ user: null }));
  await seen(twice);
  expect(await w.expectOk('list_exception_groups', { serviceId })).toEqual({
    total: 1,
    groups: [
      {
        groupId: group!.groupId,
        serviceId,
        title: 'CardDeclined: card 17 was declined',
        type: 'CardDeclined',
        culprit: 'charge (payments.py)',
        severity: 'error',
        status: 'unresolved',
        statusChangedAt: '2027-03-10T12:00:00.000Z',
        resolvedInRelease: null,
        regressedAt: null,
        assignedUserId: null,
        assignedTeamId: null,
        eventCount: 3,
        userCount: 2,
        firstSeenAt: '2027-03-10T12:00:00.000Z',
        lastSeenAt: '2027-03-10T12:00:00.000Z',
        createdAt: '2027-03-10T12:00:00.000Z',
        updatedAt: '2027-03-10T12:00:00.000Z',
      },
    ],
  });
});

test('the list begins with the group seen last, and can be filtered by service and status', async () => {
  const [older] = await seen(event({ ...withMessage('older'), ago: { hours: 2 } }));
  const [newer] = await seen(event({ ...withMessage('newer'), ago: { hours: 1 } }));
  const ids = async (filter: object) => {
    const { groups, total } = await w.expectOk('list_exception_groups', filter);
    expect(total).toBe(groups.length);
    return groups.map((group: { groupId: string }) => group.groupId);
  };
  expect(await ids({ serviceId })).toEqual([newer!.groupId, older!.groupId]);
  await w.expectOk('set_exception_status', { groupId: older!.groupId, status: 'ignored' });
  expect(await ids({ serviceId, status: 'ignored' })).toEqual([older!.groupId]);
  expect(await ids({ serviceId, status: 'unresolved' })).toEqual([newer!.groupId]);
  expect(await ids({ serviceId, status: 'resolved' })).toEqual([]);
  expect(await ids({})).toEqual(expect.arrayContaining([newer!.groupId, older!.groupId]));
  expect(await w.call('list_exception_groups', { serviceId: 'service_nope' })).toMatchObject({
    status: 404,
    body: { code: 'not_found', errors: [{ path: 'serviceId' }] },
  });
  for (const wrong of [{ status: 'open' }, { status: null }, { serviceId: null }, { limit: 1 }]) {
    expect((await w.call('list_exception_groups', wrong)).status).toBe(400);
  }
});

test('the list has at most a thousand groups, and the total counts all of them', async () => {
  await seen(...Array.from({ length: 1_001 }, (_, index) => event({ ...withMessage('x'), fingerprint: [`${index}`] })));
  const { groups, total } = await w.expectOk('list_exception_groups', { serviceId });
  expect(groups).toHaveLength(1_000);
  expect(total).toBe(1_001);
  expect(groups.every((group: { eventCount: number }) => group.eventCount === 1)).toBe(true);
});

test('groups whose last event is older than the retention are hidden, and older events are not counted', async () => {
  const [old] = await seen(event({ ...withMessage('old'), ago: { hours: 49 } }));
  const [both] = await seen(event({ ago: { hours: 49 } }), event({ ago: { hours: 1 } }));
  expect((await w.expectOk('list_exception_groups', { serviceId })).total).toBe(2);
  await w.expectOk('set_retention', { serviceId, capability: 'exceptions', retentionDays: 2 });
  const { groups, total } = await w.expectOk('list_exception_groups', { serviceId });
  expect(groups).toMatchObject([{ groupId: both!.groupId, eventCount: 1 }]);
  expect(total).toBe(1);
  for (const [action, extra] of [
    ['get_exception_group', {}],
    ['set_exception_status', { status: 'resolved' }],
  ] as const) {
    expect((await w.call(action, { groupId: old!.groupId, ...extra })).status).toBe(404);
  }
  const exceptionGroup = await w.expectOk('get_exception_group', { groupId: both!.groupId });
  expect(exceptionGroup).toMatchObject({ eventCount: 1, triage: { trend: null, eventCount: 1 } });
  expect(exceptionGroup.recentEvents).toHaveLength(1);
});
