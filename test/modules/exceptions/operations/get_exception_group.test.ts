import { beforeEach, expect, test } from 'vitest';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { GROUPING_VERSION } from '#modules/exceptions/decide/grouping.ts';
import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { eventAt, groupAndStore, withMessage } from '#test/modules/exceptions/given_events.ts';
import { FRAME } from '#test/kit/exception_event.ts';
import { fileWorld } from '#test/kit/world.ts';

let serviceId: Id<'service'>;
const w = await fileWorld();
beforeEach(async () => {
  w.clock.set('2027-03-10T12:00:00Z');
  ({ serviceId } = await w.given.service());
});

const seen = (...events: readonly ExceptionEvent[]) => groupAndStore(w, serviceId, events);
const event = (given?: Parameters<typeof eventAt>[1]) => eventAt(w, given);

test('a group has everything that triage needs', async () => {
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
  const exceptionGroup = await w.expectOk('get_exception_group', { groupId });
  expect(exceptionGroup).toMatchObject({
    groupId,
    title: 'CardDeclined: card <*> was declined',
    pattern: 'card <*> was declined',
    severity: 'fatal',
    eventCount: 4,
    userCount: 1,
  });
  expect(exceptionGroup.triage).toEqual({
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
  expect(exceptionGroup.dailyCounts).toEqual([
    { date: '2027-03-04', count: 0 },
    { date: '2027-03-05', count: 0 },
    { date: '2027-03-06', count: 0 },
    { date: '2027-03-07', count: 0 },
    { date: '2027-03-08', count: 2 },
    { date: '2027-03-09', count: 0 },
    { date: '2027-03-10', count: 1 },
  ]);
  expect(exceptionGroup.recentEvents).toHaveLength(4);
  expect(exceptionGroup.recentEvents[0]).toEqual({
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
    user: { id: '7', email: null, username: null, ip: null, data: null },
    tags: { region: 'us', 'browser.name': 'Firefox' },
    exceptions: [
      {
        type: 'CardDeclined',
        value: 'card 99 was declined',
        module: 'shop.errors',
        mechanism: { type: expect.any(String), handled: false, data: null },
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
            variables: null,
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
    dist: null,
    modules: {},
    trimmed: [],
  });
});

test('days are counted by UTC, and the newest twenty events are shown, newest first', async () => {
  w.clock.set('2027-03-10T00:00:05Z');
  const events = Array.from({ length: 25 }, (_, second) => event({ ago: { seconds: second } }));
  const [group] = await seen(...events.toReversed());
  const exceptionGroup = await w.expectOk('get_exception_group', { groupId: group!.groupId });
  expect(exceptionGroup.dailyCounts.slice(-2)).toEqual([
    { date: '2027-03-09', count: 19 },
    { date: '2027-03-10', count: 6 },
  ]);
  expect(exceptionGroup.recentEvents.map(({ eventId }: { eventId: string }) => eventId)).toEqual(
    events.slice(0, 20).map(({ eventId }) => eventId),
  );
  expect(exceptionGroup.triage).toMatchObject({ isNew: true, trend: { direction: 'new', changePercent: null } });
});

test('events without stacks, users and tags are shown', async () => {
  const bare: Partial<ExceptionEvent> = {
    ...withMessage('disk is full'),
    user: null,
    tags: {},
    environment: null,
    release: null,
    sdk: null,
  };
  const [group] = await seen(event({ ...bare, transaction: null }));
  const exceptionGroup = await w.expectOk('get_exception_group', { groupId: group!.groupId });
  expect(exceptionGroup).toMatchObject({ title: 'disk is full', type: null, culprit: null, userCount: 0 });
  expect(exceptionGroup.triage).toMatchObject({
    culprit: null,
    environments: [],
    topTags: [],
    isHandled: null,
    releases: { first: null, last: null },
  });
  expect(exceptionGroup.recentEvents).toMatchObject([
    { message: 'disk is full', user: null, exceptions: [], frames: [] },
  ]);
});

test('the largest possible event is cut to a readable size', async () => {
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
  expect(shown.breadcrumbs).toHaveLength(100);
  expect(shown.contexts).toMatchObject({ 'field 0': { deep: text } });
  expect(shown.extra).toMatch(/^\["x+/);
});

test('a group names its open incident', async () => {
  const [group] = await seen(event());
  const { groupId } = group!;
  const rule = { serviceId, name: 'any', kind: 'exception', config: { minSeverity: 'error' } };
  const { ruleId } = await w.expectOk('create_alert_rule', rule);
  const incidentId = await w.context.db.transaction((session) =>
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
        suppressedUntil: null,
        parentId: null,
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
