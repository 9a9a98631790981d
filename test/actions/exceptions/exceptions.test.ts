import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import type { ExceptionEvent } from '#core/exceptions/event.ts';
import { groupEvent, GROUPING_VERSION } from '#core/exceptions/grouping.ts';
import { toOccurrence } from '#core/exceptions/occurrence.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { ExceptionWriter } from '#storage/clickhouse/exception_writer.ts';
import type { SeenGroup } from '#storage/postgres/group_occurrences.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { exceptionEvent, FRAME } from '#test/kit/exception_event.ts';
import { type World, world } from '#test/kit/world.ts';

let w: World;
let serviceId: Id<'service'>;
beforeAll(async () => {
  w = await world({ keepOpen: true });
});
afterAll(() => w.close());
beforeEach(async () => {
  w.clock.set('2027-03-10T12:00:00Z');
  ({ serviceId } = await w.given.service());
});

/** Brings events to their groups as the worker does, and answers what they meant. */
async function seen(...events: readonly ExceptionEvent[]): Promise<SeenGroup[]> {
  const groups = await w.house.db.transaction((session) =>
    storesOf(session).exceptionGroups.upsertSeen(
      events.map((event) => ({
        orgId: w.orgId,
        serviceId,
        grouping: groupEvent(event),
        occurrence: toOccurrence(event),
      })),
      w.clock.now(),
      Infinity,
    ),
  );
  const grouped = groups.map((group, index) => ({ serviceId, groupId: group!.groupId, event: events[index]! }));
  await new ExceptionWriter(w.house.clickhouse).insert(grouped, newId('job'));
  return groups.map((group) => group!);
}

/** An event of now, or of some time ago. */
function event(given: Partial<ExceptionEvent> & { ago?: Temporal.DurationLike } = {}): ExceptionEvent {
  const { ago = { seconds: 0 }, ...fields } = given;
  return exceptionEvent(w.clock.now().subtract(ago), fields);
}

function another(message: string): Partial<ExceptionEvent> {
  return { exceptions: [], message };
}

test('alike events are one group, whose numbers count every event and user once', async () => {
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

test('a list comes last seen first, and is filtered by service and status', async () => {
  const [older] = await seen(event({ ...another('older'), ago: { hours: 2 } }));
  const [newer] = await seen(event({ ...another('newer'), ago: { hours: 1 } }));
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

test('a list is cut at a thousand, and the total says how many there are', async () => {
  await seen(...Array.from({ length: 1_001 }, (_, index) => event({ ...another('x'), fingerprint: [`${index}`] })));
  const { groups, total } = await w.expectOk('list_exception_groups', { serviceId });
  expect(groups).toHaveLength(1_000);
  expect(total).toBe(1_001);
  expect(groups.every((group: { eventCount: number }) => group.eventCount === 1)).toBe(true);
});

test('groups whose last event is older than the service keeps are hidden, and older events are not counted', async () => {
  const [old] = await seen(event({ ...another('old'), ago: { hours: 49 } }));
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
  const found = await w.expectOk('get_exception_group', { groupId: both!.groupId });
  expect(found).toMatchObject({ eventCount: 1, triage: { trend: null, eventCount: 1 } });
  expect(found.recentEvents).toHaveLength(1);
});

test('one group tells what a person needs to triage it', async () => {
  await w.expectOk('update_service', { serviceId, scmOwner: 'acme', scmRepo: 'shop' });
  const value = (text: string): Partial<ExceptionEvent> => ({
    exceptions: [{ ...event().exceptions[0]!, value: text }],
  });
  const newest = event({
    ...value('card 99 was declined'),
    release: '1.5.0',
    environment: 'staging',
    level: 'fatal',
    tags: { region: 'us', 'browser.name': 'Firefox' },
    breadcrumbs: [
      {
        timestamp: '2027-03-10T11:59:59.000Z',
        type: 'http',
        category: 'fetch',
        level: 'info',
        message: 'GET /',
        data: { status: 500 },
      },
    ],
    request: { url: 'https://shop.test/checkout', method: 'POST' },
  });
  const [group] = await seen(
    event({ ago: { hours: 24 * 9 }, release: '1.4.0' }),
    event({ ago: { hours: 24 * 2 } }),
    event({ ago: { hours: 24 * 2 }, user: null }),
    newest,
  );
  const { groupId } = group!;
  const found = await w.expectOk('get_exception_group', { groupId });
  expect(found).toMatchObject({
    groupId,
    title: 'CardDeclined: card <*> was declined',
    pattern: 'card <*> was declined',
    severity: 'fatal',
    eventCount: 4,
    userCount: 1,
  });
  expect(found.triage).toEqual({
    severity: 'fatal',
    culprit: {
      label: 'charge (payments.py)',
      function: 'charge',
      module: 'shop.payments',
      file: 'shop/payments.py',
      line: 42,
      inApp: true,
      sourceUrl: 'https://github.com/acme/shop/blob/1.5.0/shop/payments.py#L42',
    },
    firstSeenAt: '2027-03-01T12:00:00.000Z',
    lastSeenAt: '2027-03-10T12:00:00.000Z',
    eventCount: 4,
    userCount: 1,
    environments: [
      { value: 'production', count: 3 },
      { value: 'staging', count: 1 },
    ],
    releases: { first: '1.4.0', last: '1.5.0' },
    isHandled: false,
    isNew: false,
    isRegression: false,
    trend: { direction: 'rising', changePercent: 200, last7Days: 3, previous7Days: 1 },
    topTags: [
      {
        key: 'region',
        values: [
          { value: 'eu', count: 3 },
          { value: 'us', count: 1 },
        ],
      },
      { key: 'browser.name', values: [{ value: 'Firefox', count: 1 }] },
    ],
    openIncidentId: null,
    grouping: {
      version: GROUPING_VERSION,
      parts: [
        {
          strategy: 'exception',
          because: 'the type and the calls inside the application',
          lines: ['type CardDeclined', 'shop.payments in charge: raise CardDeclined(card)'],
        },
      ],
    },
  });
  expect(found.dailyCounts).toEqual([
    { date: '2027-03-04', count: 0 },
    { date: '2027-03-05', count: 0 },
    { date: '2027-03-06', count: 0 },
    { date: '2027-03-07', count: 0 },
    { date: '2027-03-08', count: 2 },
    { date: '2027-03-09', count: 0 },
    { date: '2027-03-10', count: 1 },
  ]);
  expect(found.recentEvents).toHaveLength(4);
  expect(found.recentEvents[0]).toEqual({
    eventId: newest.eventId,
    at: '2027-03-10T12:00:00.000Z',
    receivedAt: '2027-03-10T12:00:00.000Z',
    level: 'fatal',
    platform: 'python',
    message: null,
    environment: 'staging',
    release: '1.5.0',
    transaction: '/checkout',
    logger: null,
    serverName: 'web-1',
    isHandled: false,
    user: { id: '7', email: null, username: null, ip: null },
    tags: { region: 'us', 'browser.name': 'Firefox' },
    exceptions: [
      {
        type: 'CardDeclined',
        value: 'card 99 was declined',
        module: 'shop.errors',
        frames: [
          {
            function: 'charge',
            module: 'shop.payments',
            file: 'shop/payments.py',
            line: 42,
            column: null,
            inApp: true,
            code: {
              before: ['def charge(card):', '    if not card.valid:'],
              line: '    raise CardDeclined(card)',
              after: ['    return receipt'],
            },
            sourceUrl: 'https://github.com/acme/shop/blob/1.5.0/shop/payments.py#L42',
          },
        ],
      },
    ],
    thread: null,
    frames: [],
    breadcrumbs: [
      {
        timestamp: '2027-03-10T11:59:59.000Z',
        type: 'http',
        category: 'fetch',
        level: 'info',
        message: 'GET /',
        data: { status: 500 },
      },
    ],
    request: { url: 'https://shop.test/checkout', method: 'POST' },
    contexts: null,
    extra: null,
    sdk: { name: 'sentry.python', version: '2.0.0' },
  });
});

test('days are counted by UTC, and the newest twenty events are shown, newest first', async () => {
  w.clock.set('2027-03-10T00:00:05Z');
  const events = Array.from({ length: 25 }, (_, second) => event({ ago: { seconds: second } }));
  const [group] = await seen(...events.toReversed());
  const found = await w.expectOk('get_exception_group', { groupId: group!.groupId });
  expect(found.dailyCounts.slice(-2)).toEqual([
    { date: '2027-03-09', count: 19 },
    { date: '2027-03-10', count: 6 },
  ]);
  expect(found.recentEvents.map(({ eventId }: { eventId: string }) => eventId)).toEqual(
    events.slice(0, 20).map(({ eventId }) => eventId),
  );
  expect(found.triage).toMatchObject({ isNew: true, trend: { direction: 'new', changePercent: null } });
});

test('events without stacks, users and tags are shown, too', async () => {
  const bare: Partial<ExceptionEvent> = {
    ...another('disk is full'),
    user: null,
    tags: {},
    environment: null,
    release: null,
    sdk: null,
  };
  const [group] = await seen(event({ ...bare, transaction: null }));
  const found = await w.expectOk('get_exception_group', { groupId: group!.groupId });
  expect(found).toMatchObject({ title: 'disk is full', type: null, culprit: null, userCount: 0 });
  expect(found.triage).toMatchObject({
    culprit: null,
    environments: [],
    topTags: [],
    isHandled: null,
    releases: { first: null, last: null },
  });
  expect(found.recentEvents).toMatchObject([{ message: 'disk is full', user: null, exceptions: [], frames: [] }]);
});

test('the largest of events stays readable', async () => {
  const text = 'x'.repeat(2_000);
  const frames = Array.from({ length: 60 }, (_, index) => ({
    ...FRAME,
    lineno: index,
    contextLine: text,
    preContext: Array.from({ length: 5 }, () => text),
  }));
  const exceptions = Array.from({ length: 6 }, () => ({ ...event().exceptions[0]!, frames }));
  const breadcrumbs = Array.from({ length: 100 }, () => ({
    timestamp: null,
    type: null,
    category: null,
    level: null,
    message: 'm',
    data: { text },
  }));
  const free = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`field ${index}`, index === 0 ? { deep: text } : text]),
  );
  const big = event({ exceptions, breadcrumbs, contexts: free, extra: [text, text, text], request: free });
  const [group] = await seen(big);
  const { recentEvents } = await w.expectOk('get_exception_group', { groupId: group!.groupId });
  expect(JSON.stringify(recentEvents).length).toBeLessThan(500_000);
  const [shown] = recentEvents;
  expect(shown.exceptions).toHaveLength(5);
  expect(shown.exceptions[0].frames).toHaveLength(30);
  expect(shown.exceptions[0].frames.at(-1).line).toBe(59);
  expect(shown.breadcrumbs).toHaveLength(30);
  expect(shown.contexts).toMatchObject({ 'field 0': { deep: text } });
  expect(shown.extra).toMatch(/^\["x+/);
});

test('the incident that is open because of a group is named', async () => {
  const [group] = await seen(event());
  const { groupId } = group!;
  const rule = { serviceId, name: 'any', kind: 'exception', config: { minSeverity: 'error' } };
  const { ruleId } = await w.expectOk('create_alert_rule', rule);
  const incidentId = await w.house.db.transaction((session) =>
    storesOf(session).incidents.open(
      {
        orgId: w.orgId,
        serviceId,
        ruleId,
        exceptionGroupId: groupId,
        escalationPolicyId: null,
        teamId: null,
        kind: 'exception',
        dedupKey: groupId,
        title: 'CardDeclined',
        severity: 'error',
        details: {},
        steps: [],
      },
      [],
      w.clock.now(),
    ),
  );
  const openIncidentId = async () => (await w.expectOk('get_exception_group', { groupId })).triage.openIncidentId;
  expect(await openIncidentId()).toBe(incidentId);
  await w.expectOk('resolve_incident', { incidentId });
  expect(await openIncidentId()).toBeNull();
});

test('any status may follow any, and a resolved group remembers when and in which release', async () => {
  const [group] = await seen(event({ release: '1.9.0' }));
  const { groupId } = group!;
  const statuses = ['unresolved', 'resolved', 'ignored'];
  for (const status of statuses.flatMap((from) => statuses.flatMap((to) => [from, to]))) {
    w.clock.advance({ minutes: 1 });
    const before = await w.expectOk('get_exception_group', { groupId });
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
  }
  for (const wrong of [{ status: 'open' }, { status: null }, {}]) {
    expect((await w.call('set_exception_status', { groupId, ...wrong })).status).toBe(400);
  }
});

test('setting a status leaves one line in the audit log, setting the same leaves none', async () => {
  const [group] = await seen(event());
  const { groupId } = group!;
  for (const _again of [1, 2]) await w.expectOk('set_exception_status', { groupId, status: 'resolved' });
  const lines = await w.house.db.sql.rows('select before, after from audit_log where target = $1', [groupId]);
  expect(lines).toMatchObject([{ before: { status: 'unresolved' }, after: { status: 'resolved' } }]);
});

test('a resolved group reopens with the next event, but for an older release', async () => {
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

test("another organization's groups are not there, and a deleted service takes its own along", async () => {
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
